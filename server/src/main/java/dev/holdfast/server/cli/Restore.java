package dev.holdfast.server.cli;

import dev.holdfast.engine.store.StoreBackup;
import dev.holdfast.engine.store.StoreRefused;
import dev.holdfast.engine.vault.KeyFile;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code holdfast restore}. */
@Command(
    name = "restore",
    description = "Makes a store of a backup, in a directory that is empty or not there yet.",
    footerHeading = "%nExamples:%n",
    footer = {
      "  ./holdfast restore --from /backups/holdfast-monday.db --data /var/lib/holdfast",
      "  ./holdfast serve --data /var/lib/holdfast",
      "",
      "What happened after the backup is not in it. So messages that were unfinished then are sent",
      "again, also those that were delivered since, with the same ids: receivers can tell. Events",
      "that were accepted since are missing, and their senders have to send them again.",
      "",
      "The master key is not in a backup: put the key file of that time into the directory.",
      "",
      "Exit codes: 0 done, 1 failed and the directory is as it was, 2 wrong usage."
    })
final class Restore implements Callable<Integer> {
  private static final String NOT_OF_A_DATABASE =
      """
      A PostgreSQL database is restored with its own programs: pg_restore, or pg_basebackup and archived
      logs. Stop all servers first, and put the master key file of that time back. For an embedded store
      name its directory with --data.""";

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--store",
      paramLabel = "URL",
      hidden = true,
      description = "A database, which this is not for.")
  private @Nullable String store;

  @Option(
      names = "--from",
      paramLabel = "FILE",
      description = "A file that ./holdfast backup has made. It stays as it is.",
      required = true)
  private Path backup = Path.of("");

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "The directory of the new store (default: holdfast-data).")
  private @Nullable Path given;

  private final Surroundings surroundings;

  Restore(Surroundings surroundings) {
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
        copy = StoreBackup.restore(backup, data, bar);
      }
      out.printf("%s has everything up to %s.%n", data, copy.upTo());
      out.printf(
          "  %s, %,d rows, each as it was written%n", CopyProgress.size(copy.bytes()), copy.rows());
      out.printf(
          "  %,d messages were unfinished then. They are sent again when a server starts, also those"
              + " that were%n  delivered since, with the same ids. Events accepted since are"
              + " missing.%n",
          copy.unfinished());
      if (copy.masterKey() != null) {
        out.printf(
            "  Secrets in it are sealed under the master key %s, which is not in a backup. Put the"
                + " file with it at%n  %s before a server starts, or set secrets.key-file or"
                + " secrets.key.%n",
            copy.masterKey(), data.resolve(KeyFile.NAME));
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
