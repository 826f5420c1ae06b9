package dev.holdfast.engine.vault;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A file with master keys, one a line, the current one first.
 *
 * <p>It is written whole or not at all, and is on disk before anything is wrapped with a key that
 * only it has. Only its owner can read a file that is made here.
 */
public record KeyFile(Path path) implements MasterKeySource {
  /** What the file is called in a data directory. */
  public static final String NAME = "master.key";

  private static final int MOST_BYTES = 16 << 10;
  private static final Set<PosixFilePermission> OWNER_ONLY =
      Set.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);

  /** Whoever has one of these and is not the owner can read it, or put another in its place. */
  private static final Set<PosixFilePermission> OTHERS =
      Set.of(
          PosixFilePermission.GROUP_READ,
          PosixFilePermission.GROUP_WRITE,
          PosixFilePermission.OTHERS_READ,
          PosixFilePermission.OTHERS_WRITE);

  /** The key file of a data directory, where no other is named. */
  public static KeyFile in(Path directory) {
    return new KeyFile(directory.resolve(NAME));
  }

  @Override
  public String where() {
    return path.toString();
  }

  @Override
  public Optional<MasterKeys> read() throws KeysRefused {
    if (!Files.exists(path)) {
      return Optional.empty();
    }
    try {
      if (!Files.isRegularFile(path) || Files.size(path) > MOST_BYTES) {
        throw notKeys();
      }
      List<MasterKey> keys = new ArrayList<>();
      for (String line : Files.readAllLines(path, StandardCharsets.ISO_8859_1)) {
        if (!line.isBlank()) {
          keys.add(MasterKey.parse(line).orElseThrow(this::notKeys));
        }
      }
      if (keys.isEmpty() || keys.size() > MasterKeys.MOST) {
        throw notKeys();
      }
      return Optional.of(new MasterKeys(keys, where()));
    } catch (IOException e) {
      throw new KeysRefused(
          "The key file " + path + " cannot be read: " + e + ". Let this user read it.", e);
    }
  }

  private KeysRefused notKeys() {
    return new KeysRefused(
        "%s is not a key file: it has 1 to %d keys, one a line, each of them %s. Put the right file there, or name another (secrets.key-file)."
            .formatted(path, MasterKeys.MOST, MasterKey.FORM));
  }

  @Override
  public MasterKeys readOrMake() throws KeysRefused {
    Optional<MasterKeys> there = read();
    if (there.isPresent()) {
      return there.get();
    }
    return write(List.of(MasterKey.make(new SecureRandom())));
  }

  /** Whether others than its owner can read it; not where nobody can say. */
  public boolean isReadableByOthers() {
    return isReadableByOthers(path);
  }

  /** The same for another file with a key. */
  public static boolean isReadableByOthers(Path file) {
    try {
      return Files.getPosixFilePermissions(file).stream().anyMatch(OTHERS::contains);
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    }
  }

  /**
   * Makes ready for another current key: the first one of the file if that is not in use yet, and
   * else a new one. The one in use stays in the file, and so do all others.
   */
  public MasterKeys begin(MasterKey inUse) throws KeysRefused {
    List<MasterKey> there = read().map(MasterKeys::all).orElse(List.of());
    LinkedHashSet<MasterKey> keys = new LinkedHashSet<>();
    keys.add(
        there.isEmpty() || there.getFirst().equals(inUse)
            ? MasterKey.make(new SecureRandom())
            : there.getFirst());
    keys.add(inUse);
    keys.addAll(there);
    if (keys.size() > MasterKeys.MOST) {
      throw new KeysRefused(
          "The key file %s has no room for another key: there are %d at most. Remove the lines of keys that neither the store nor a backup needs."
              .formatted(path, MasterKeys.MOST));
    }
    List<MasterKey> wanted = List.copyOf(keys);
    return wanted.equals(there) ? new MasterKeys(there, where()) : write(wanted);
  }

  /**
   * Removes the key that was in use before, once nothing is wrapped with it. Whatever else is in
   * the file by now stays there: nobody but its owner knows what it is for.
   */
  public void finish(MasterKey current, MasterKey before) throws KeysRefused {
    LinkedHashSet<MasterKey> keys = new LinkedHashSet<>();
    keys.add(current);
    read().ifPresent(there -> keys.addAll(there.all()));
    keys.remove(before);
    write(List.copyOf(keys));
  }

  private MasterKeys write(List<MasterKey> keys) throws KeysRefused {
    StringBuilder text = new StringBuilder();
    for (MasterKey key : keys) {
      text.append(key.text()).append('\n');
    }
    try {
      Path target = target();
      Path unfinished = target.resolveSibling(target.getFileName() + ".new");
      Files.deleteIfExists(unfinished);
      try (FileChannel channel =
          FileChannel.open(
              unfinished,
              Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
              ownerOnly())) {
        ByteBuffer bytes = StandardCharsets.US_ASCII.encode(text.toString());
        while (bytes.hasRemaining()) {
          channel.write(bytes);
        }
        channel.force(true);
      }
      move(unfinished, target);
      sync(target.toAbsolutePath().getParent());
      return new MasterKeys(keys, where());
    } catch (IOException e) {
      throw new KeysRefused(
          "The key file "
              + path
              + " cannot be written: "
              + e
              + ". Make its directory and let this user write into it, or name another file"
              + " (secrets.key-file).",
          e);
    }
  }

  /** What the file is behind all links, so that these stay what they are. */
  private Path target() throws IOException {
    return Files.exists(path) ? path.toRealPath() : path;
  }

  private FileAttribute<?>[] ownerOnly() {
    return path.getFileSystem().supportedFileAttributeViews().contains("posix")
        ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(OWNER_ONLY)}
        : new FileAttribute<?>[0];
  }

  private static void move(Path unfinished, Path target) throws IOException {
    try {
      Files.move(unfinished, target, StandardCopyOption.ATOMIC_MOVE);
    } catch (AtomicMoveNotSupportedException e) {
      Files.move(unfinished, target, StandardCopyOption.REPLACE_EXISTING);
    }
  }

  private static void sync(@Nullable Path directory) throws IOException {
    if (directory == null) {
      return;
    }
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }
}
