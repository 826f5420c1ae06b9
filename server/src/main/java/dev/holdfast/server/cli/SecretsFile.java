package dev.holdfast.server.cli;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;

/**
 * A new file for secrets, which the server shows only once: one JSON object on each line, for the
 * eyes of its owner. It is made before the first secret is, so that none is made in vain.
 */
final class SecretsFile implements AutoCloseable {
  private final Path file;
  private final FileChannel channel;
  private boolean isEmpty = true;

  private SecretsFile(Path file, FileChannel channel) {
    this.file = file;
    this.channel = channel;
  }

  static SecretsFile create(Path file) throws CommandFailed {
    boolean posix = file.getFileSystem().supportedFileAttributeViews().contains("posix");
    FileAttribute<?>[] ownerOnly =
        posix
            ? new FileAttribute<?>[] {
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
            }
            : new FileAttribute<?>[0];
    try {
      return new SecretsFile(
          file,
          FileChannel.open(
              file, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), ownerOnly));
    } catch (FileAlreadyExistsException e) {
      throw new CommandFailed(
          "%s is there already, and may have secrets that are nowhere else. Name another file for --secrets. Nothing was changed."
              .formatted(file));
    } catch (IOException e) {
      throw new CommandFailed(
          "%s cannot be made for --secrets: %s. Nothing was changed."
              .formatted(file, ClientOptions.writeReason(e)));
    }
  }

  /**
   * Adds objects, and says whether they are on disk. If not, they have to be told in another way.
   */
  boolean keep(List<String> objects) {
    if (objects.isEmpty()) {
      return true;
    }
    isEmpty = false;
    try {
      ByteBuffer lines = ByteBuffer.wrap(JsonText.bytes(String.join("\n", objects) + "\n"));
      while (lines.hasRemaining()) {
        channel.write(lines);
      }
      channel.force(true);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** Leaves no file behind that has nothing in it. */
  @Override
  public void close() {
    try {
      channel.close();
      if (isEmpty) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      // What was kept is on disk already, and an empty file does no harm.
      return;
    }
  }
}
