package dev.holdfast.proof.bench;

import dev.holdfast.proof.stage.Child;
import dev.holdfast.proof.stage.Progress;
import dev.holdfast.proof.stage.ProofException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Another build of Holdfast to compare with: one in another checkout, or one that is made from a
 * revision of this repository and removed in the end.
 */
final class BaseBuild implements AutoCloseable {
  private static final Duration LONGEST_BUILD = Duration.ofMinutes(15);
  private static final Duration LONGEST_GIT = Duration.ofMinutes(2);

  private final String name;
  private final Path root;
  private final @Nullable Checkout checkout;

  private BaseBuild(String name, Path root, @Nullable Checkout checkout) {
    this.name = name;
    this.root = root;
    this.checkout = checkout;
  }

  /**
   * Finds or makes it.
   *
   * @param base the root of a checkout that is built or, if there is no such directory, a revision
   */
  static BaseBuild of(String base, Progress progress) throws IOException {
    Path directory = directory(base);
    if (directory != null) {
      BaseBuild found = new BaseBuild(base, directory, null);
      found.checkIsBuilt();
      return found;
    }
    progress.step("building " + base);
    Checkout checkout = Checkout.of(base, repository(base));
    return new BaseBuild(base, checkout.root(), checkout);
  }

  /** What it was asked for by. */
  String name() {
    return name;
  }

  /** The class path of its server. */
  String classPath() {
    return lib(root).resolve("*").toString();
  }

  /** Removes what was made for it. */
  @Override
  public void close() {
    if (checkout != null) {
      checkout.close();
    }
  }

  private void checkIsBuilt() throws IOException {
    if (!Files.isRegularFile(root.resolve("holdfast"))) {
      throw new ProofException(root + " is no checkout of Holdfast: there is no ./holdfast in it");
    }
    if (!hasServer(root)) {
      throw new ProofException(
          "the Holdfast in " + root + " has not been built; run ./holdfast version there");
    }
  }

  private static Path lib(Path root) {
    return root.resolve("proof").resolve("target").resolve("lib");
  }

  private static boolean hasServer(Path root) throws IOException {
    if (!Files.isDirectory(lib(root))) {
      return false;
    }
    try (Stream<Path> jars = Files.list(lib(root))) {
      return jars.anyMatch(jar -> String.valueOf(jar.getFileName()).startsWith("holdfast-server"));
    }
  }

  private static @Nullable Path directory(String base) {
    try {
      Path path = Path.of(base).toAbsolutePath().normalize();
      return Files.isDirectory(path) ? path : null;
    } catch (InvalidPathException e) {
      return null;
    }
  }

  /** The checkout that this program was built in. */
  private static Path repository(String base) {
    URI program =
        URI.create(BaseBuild.class.getProtectionDomain().getCodeSource().getLocation().toString());
    for (Path path = Path.of(program); path != null; path = path.getParent()) {
      if (Files.isRegularFile(path.resolve("holdfast")) && Files.exists(path.resolve(".git"))) {
        return path;
      }
    }
    throw new ProofException(
        "there is no directory "
            + base
            + ", and for a revision this Holdfast would have to be in a git repository");
  }

  /** A revision that was checked out and built in a directory for temporary files. */
  private static final class Checkout {
    private final Path repository;
    private final Path home;
    private volatile @Nullable Child running;
    private boolean removed;
    private final Thread hook = new Thread(this::remove, "base-cleanup");

    private Checkout(Path repository, Path home) {
      this.repository = repository;
      this.home = home;
    }

    static Checkout of(String revision, Path repository) throws IOException {
      Checkout checkout = new Checkout(repository, Files.createTempDirectory("holdfast-base"));
      Runtime.getRuntime().addShutdownHook(checkout.hook);
      try {
        checkout.make(revision);
        return checkout;
      } catch (IOException | ProofException e) {
        checkout.close();
        throw e;
      }
    }

    Path root() {
      return home.resolve("holdfast");
    }

    private void make(String revision) throws IOException {
      if (revision.startsWith("-")
          || !git("rev-parse", "--verify", "--quiet", revision + "^{commit}")) {
        throw new ProofException(
            "%s is neither a directory nor a revision in %s".formatted(revision, repository));
      }
      must(
          "check out " + revision,
          LONGEST_GIT,
          gitCommand("worktree", "add", "--detach", root().toString(), revision));
      Path script = root().resolve("holdfast");
      if (!Files.isExecutable(script)) {
        throw new ProofException(revision + " has no ./holdfast that could build it");
      }
      must("build " + revision, LONGEST_BUILD, List.of(script.toString(), "version"));
      if (!hasServer(root())) {
        throw new ProofException(
            revision + " was built, but not into proof/target/lib: it is too old to compare with");
      }
    }

    void close() {
      Bench.removeHook(hook);
      remove();
    }

    /** Also in the middle of a build, which would go on writing if it were left to itself. */
    private synchronized void remove() {
      if (removed) {
        return;
      }
      removed = true;
      Child unfinished = running;
      if (unfinished != null) {
        unfinished.killAll();
        unfinished.close();
      }
      try {
        if (Files.isDirectory(root())) {
          git("worktree", "remove", "--force", root().toString());
        }
        Files.deleteIfExists(log());
        Files.deleteIfExists(home);
      } catch (IOException | ProofException e) {
        System.err.printf("could not remove %s: %s%n", home, e.getMessage());
      }
    }

    private Path log() {
      return home.resolve("log");
    }

    private List<String> gitCommand(String... arguments) {
      List<String> command = new ArrayList<>(List.of("git", "-C", repository.toString()));
      command.addAll(List.of(arguments));
      return command;
    }

    private boolean git(String... arguments) throws IOException {
      try (Child git = Child.run("git", gitCommand(arguments), log())) {
        return succeeds(git, LONGEST_GIT);
      }
    }

    private void must(String what, Duration patience, List<String> command) throws IOException {
      try (Child child = Child.run(what, command, log())) {
        if (!succeeds(child, patience)) {
          throw new ProofException("could not " + what + ":\n" + child.tail());
        }
      }
    }

    private boolean succeeds(Child child, Duration patience) {
      running = child;
      OptionalInt end = child.awaitEnd(patience);
      if (end.isEmpty()) {
        child.killAll();
      }
      running = null;
      return end.isPresent() && end.getAsInt() == 0;
    }
  }
}
