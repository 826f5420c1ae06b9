package dev.holdfast.server.cli;

import dev.holdfast.engine.store.StoreBackup;
import dev.holdfast.engine.store.StoreRefused;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code holdfast backup}. */
@Command(
    name = "backup",
    description = "Copies a store into one file, also while a server uses it.",
    footerHeading = "%nExamples:%n",
    footer = {
      "  ./holdfast backup --data /var/lib/holdfast --to /backups/holdfast-monday.db",
      "  ./holdfast restore --from /backups/holdfast-monday.db --data /var/lib/holdfast",
      "",
      "The copy is the state of one moment. It is read from end to end before it gets its name, so a",
      "file of that name is complete. While it is made the server's log grows by what is written;",
      "beyond 4 GB the backup is given up. It contains everything, also the digests of keys and the",
      "data of events: keep it as safe as the store itself. The master key is not in it: keep a copy",
      "of the key file too, in another place.",
      "",
      "Exit codes: 0 done, 1 failed and there is no such file, 2 wrong usage."
    })
final class Backup implements Callable<Integer> {
  private static final String NOT_OF_A_DATABASE =
      """
      A PostgreSQL database is backed up with its own programs: pg_dump for a copy, or pg_basebackup and
      archived logs for any moment. Keep a copy of the master key file too, in another place: without it
      the backup is of little use. For an embedded store name its directory with --data.""";

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--store",
      paramLabel = "URL",
      hidden = true,
      description = "A database, which this is not for.")
  private @Nullable String store;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "The directory of the store (default: holdfast-data).")
  private @Nullable Path given;

  @Option(
      names = "--to",
      paramLabel = "FILE",
      description = "The file to be made. Its directory has to be there.",
      required = true)
  private Path target = Path.of("");

  @Option(names = "--force", description = "Replace the file if it is there already.")
  private boolean force;

  private final Surroundings surroundings;

  Backup(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    if (store != null || (given == null && surroundings.namesStore())) {
      err.println(NOT_OF_A_DATABASE);
      return ExitCode.USAGE;
    }
    Path data = given == null ? Path.of(Settings.DATA.defaultText()) : given;
    try {
      StoreBackup.Copy copy;
      try (CopyProgress bar = new CopyProgress(err)) {
        copy = StoreBackup.backup(data, target, force, bar);
      }
      out.printf("%s has everything up to %s.%n", target, copy.upTo());
      out.printf(
          "  %s, %,d rows, each as it was written, %,d messages unfinished%n",
          CopyProgress.size(copy.bytes()), copy.rows(), copy.unfinished());
      if (copy.masterKey() != null) {
        out.printf(
            "  Secrets in it are sealed under the master key %s, which is not in it. Keep a copy of"
                + " that key%n  elsewhere: without it the backup is of little use.%n",
            copy.masterKey());
      }
      return ExitCode.DONE;
    } catch (StoreRefused e) {
      err.println(e.getMessage());
      return ExitCode.FAILED;
    } finally {
      out.flush();
      err.flush();
    }
  }
}
