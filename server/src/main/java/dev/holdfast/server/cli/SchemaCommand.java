package dev.holdfast.server.cli;

import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.StoreRefused;
import dev.holdfast.engine.store.postgres.Connections;
import dev.holdfast.engine.store.postgres.PostgresOptions;
import dev.holdfast.engine.store.postgres.Schema;
import java.io.PrintWriter;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code holdfast schema}. */
@Command(
    name = "schema",
    description = {
      "Tells of which version the tables of a PostgreSQL database are and what is missing, and makes",
      "or changes them."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  ./holdfast schema --store jdbc:postgresql://db.example/holdfast",
      "  ./holdfast schema --store jdbc:postgresql://db.example/holdfast --show | less",
      "  ./holdfast schema --store jdbc:postgresql://db.example/holdfast --user owner --apply",
      "",
      "A server does this by itself when it starts. With store.migrate=check it does not. It still makes",
      "and drops parts of tables as time goes by, so its user must own them and may make tables.",
      "",
      StoreOptions.PASSWORD,
      "Exit codes: 0 the tables are as this program needs them (with --show: printed), 1 they are not or",
      "it failed, 2 wrong usage or settings."
    })
final class SchemaCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;

  @ArgGroup private Wish wish = new Wish();

  @Mixin private NamedStore store;

  /** What is wanted; without either only to be told. */
  static final class Wish {
    @Option(names = "--apply", description = "Make the tables what this program needs.")
    private boolean apply;

    @Option(
        names = "--show",
        description = "Print the SQL that is missing, for somebody else to read or apply.")
    private boolean show;
  }

  SchemaCommand(Surroundings surroundings) {
    this.store = new NamedStore(surroundings);
  }

  @Override
  public Integer call() {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    try {
      PostgresOptions database = store.database();
      try (Connections connections = new Connections(database)) {
        connections.reach();
        return wish.show ? show(connections, out) : tell(connections, out);
      }
    } catch (InvalidSettings e) {
      err.println(e.report());
      return ExitCode.USAGE;
    } catch (StoreRefused | StoreException e) {
      err.println(e.getMessage());
      return ExitCode.FAILED;
    } finally {
      out.flush();
      err.flush();
    }
  }

  private static int show(Connections connections, PrintWriter out) throws StoreException {
    int version = Schema.version(connections);
    for (String script : Schema.missing(version)) {
      out.println(Schema.text(script));
      version++;
      out.println(Schema.noted(version));
    }
    return ExitCode.DONE;
  }

  private int tell(Connections connections, PrintWriter out) throws StoreException, StoreRefused {
    String place = connections.options().place();
    int before = Schema.version(connections);
    if (wish.apply) {
      Schema.make(connections);
      out.printf(
          before == Schema.newest()
              ? "%s has tables of version %d, as this program needs them. Nothing was done.%n"
              : "%s has tables of version %d now.%n",
          place,
          Schema.newest());
      return ExitCode.DONE;
    }
    List<String> missing = Schema.missing(before);
    if (before == Schema.newest()) {
      out.printf("%s has tables of version %d, as this program needs them.%n", place, before);
      return ExitCode.DONE;
    }
    if (missing.isEmpty()) {
      out.printf(
          "%s has tables of version %d, which a later Holdfast has made; this one knows version %d. Use"
              + " that version, or a later one.%n",
          place, before, Schema.newest());
      return ExitCode.FAILED;
    }
    out.printf(
        "%s has %s; this program needs version %d. Missing: %s. See --show and --apply.%n",
        place,
        before == 0 ? "no tables" : "tables of version " + before,
        Schema.newest(),
        String.join(", ", missing));
    return ExitCode.FAILED;
  }
}
