package dev.holdfast.server.cli;

import dev.holdfast.engine.store.StoreRefused;
import dev.holdfast.engine.store.postgres.Move;
import dev.holdfast.engine.store.postgres.PostgresOptions;
import dev.holdfast.engine.vault.KeyFile;
import dev.holdfast.server.cli.Table.Cell;
import dev.holdfast.server.cli.Table.Column;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code holdfast migrate}. */
@Command(
    name = "migrate",
    description = "Moves a whole embedded store into an empty PostgreSQL database.",
    footerHeading = "%nExamples:%n",
    footer = {
      "  ./holdfast migrate --from /var/lib/holdfast --to jdbc:postgresql://db.example/holdfast",
      "  ./holdfast serve --store jdbc:postgresql://db.example/holdfast \\",
      "      --set secrets.key-file=/var/lib/holdfast/master.key",
      "",
      "Stop the server first. The embedded store is only read, and stays as it is. What is interrupted,",
      "however hard, goes on where it was when the command is repeated; until it has ended no server",
      "starts on the database. In the end everything is read again on both sides and compared. Secrets",
      "move as they are, sealed: servers need the same master key.",
      "",
      StoreOptions.PASSWORD,
      "Exit codes: 0 all of it is there, 1 not moved or not equal, 2 wrong usage or settings."
    })
final class Migrate implements Callable<Integer> {
  private final Surroundings surroundings;

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--from",
      paramLabel = "DIR",
      description = "The directory of the embedded store.",
      required = true)
  private Path from = Path.of("");

  @Option(
      names = "--to",
      paramLabel = "URL",
      description =
          "The database, which has to be there and empty, such as"
              + " jdbc:postgresql://db.example/holdfast (store.url, HOLDFAST_STORE_URL).")
  private @Nullable String to;

  @Mixin private StoreOptions store;

  Migrate(Surroundings surroundings) {
    this.surroundings = surroundings;
    this.store = new StoreOptions(surroundings);
  }

  @Override
  public Integer call() {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    try {
      PostgresOptions database = store.database("--to", to);
      MoveProgress bar = new MoveProgress(new ProgressBar(err, screen()));
      Move.Result result;
      try {
        result = Move.run(from, database, store.settings(null, null).retention(), bar);
      } finally {
        bar.end();
      }
      return tell(result, database, out, err);
    } catch (InvalidSettings e) {
      err.println(e.report());
      return ExitCode.USAGE;
    } catch (StoreRefused e) {
      err.println(e.getMessage());
      return ExitCode.FAILED;
    } finally {
      out.flush();
      err.flush();
    }
  }

  private Screen screen() {
    return surroundings.screen().get();
  }

  private int tell(Move.Result result, PostgresOptions database, PrintWriter out, PrintWriter err) {
    if (result.before() != null) {
      out.printf(
          "The store in %s was moved to %s already, at %s. Nothing was done.%n",
          from, database.place(), result.before());
      return ExitCode.DONE;
    }
    Table table =
        new Table(
            Column.text("TABLE"),
            Column.number("STORE"),
            Column.number("DATABASE"),
            Column.text("STORE'S DIGEST"),
            Column.text("DATABASE'S DIGEST"),
            Column.text(""));
    for (Move.Compared one : result.tables()) {
      table.row(
          Cell.of(one.table()),
          Cell.of(count(one.fromRows())),
          Cell.of(count(one.toRows())),
          Cell.of(one.from()),
          Cell.of(one.to()),
          Cell.of(one.isEqual() ? "equal" : "NOT EQUAL"));
    }
    table.print(out, screen());
    out.println();
    if (!result.isEqual()) {
      out.flush();
      err.printf(
          "%s does not have what the store in %s has; see above. The move is not finished, and no"
              + " server starts%non the database. Somebody else has written into it, or it is damaged:"
              + " make an empty one and move%nthe store into that.%n",
          database.place(), from);
      return ExitCode.FAILED;
    }
    out.printf(
        "%s has everything up to %s. Every value of every row was read again on both sides and is"
            + " equal.%n",
        database.place(), result.upTo());
    out.printf(
        "  %,d messages are unfinished. They are delivered when a server starts with --store.%n",
        result.unfinished());
    out.printf(
        "  The store in %s is as it was. Start no server on it any more: what is unfinished would be"
            + " delivered twice.%n",
        from);
    if (result.masterKey() != null) {
      out.printf(
          "  Secrets are sealed under the master key %s, which is not in the database. Each server"
              + " needs it: copy%n  %s to where secrets.key-file says, or give it as secrets.key.%n",
          result.masterKey(), from.resolve(KeyFile.NAME));
    }
    return ExitCode.DONE;
  }

  private static String count(long rows) {
    return String.format(Locale.ROOT, "%,d", rows);
  }
}
