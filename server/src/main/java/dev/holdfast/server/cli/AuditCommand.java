package dev.holdfast.server.cli;

import dev.holdfast.engine.store.Audit;
import dev.holdfast.server.cli.AuditTrail.Head;
import dev.holdfast.server.cli.Table.Cell;
import dev.holdfast.server.cli.Table.Column;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code holdfast audit}. */
@Command(
    name = "audit",
    description = "Show who has changed what, and verify that nothing of that was changed.",
    synopsisSubcommandLabel = "list|verify",
    commandListHeading = "%nCommands:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  ./holdfast audit list --since 7d",
      "  ./holdfast audit list --target sub_00HN3XW5G0402 --json",
      "  ./holdfast audit verify",
      "",
      "It needs a key with the role admin: one for all tenants for everything, a tenant's for its",
      "own. " + ClientOptions.EXIT_CODES
    })
final class AuditCommand implements Runnable {
  private static final String PATH = "/v1/audit";

  private static final int PAGE = 500;

  /** What stands for the chain of what concerns all tenants. */
  private static final String ALL = "(all)";

  @Spec private @Nullable CommandSpec spec;

  /** Which entries are wanted. */
  static final class Filter {
    @Option(
        names = "--since",
        paramLabel = "TIME",
        converter = When.Converter.class,
        description = "Only what was done since then: 7d (before now), or 2026-03-01T12:00:00Z.")
    private @Nullable When since;

    @Option(
        names = "--until",
        paramLabel = "TIME",
        converter = When.Converter.class,
        description = "Only what was done before then.")
    private @Nullable When until;

    @Option(
        names = "--action",
        paramLabel = "ACTION",
        description = "Only such, as subscription.created.")
    private @Nullable String action;

    @Option(names = "--target", paramLabel = "ID", description = "Only what was done to this.")
    private @Nullable String target;

    @Option(
        names = "--actor",
        paramLabel = "WHO",
        description = "Only what was done by this key's id, or by this name if it has none.")
    private @Nullable String actor;

    private String query(ClientOptions client) {
      List<String> query = new ArrayList<>();
      add(query, "since", since == null ? null : since.from(client.now()).toString());
      add(query, "until", until == null ? null : until.from(client.now()).toString());
      add(query, "action", action);
      add(query, "target", target);
      add(query, "actor", actor);
      return query.isEmpty() ? "" : "?" + String.join("&", query);
    }

    private static void add(List<String> query, String name, @Nullable String value) {
      if (value != null) {
        query.add(name + "=" + ApiClient.encoded(value));
      }
    }
  }

  @Override
  public void run() {
    throw new ParameterException(
        Objects.requireNonNull(spec).commandLine(), "Which: list or verify?");
  }

  @Command(
      name = "list",
      description = "List what was changed, the newest first.",
      footerHeading = "%nExamples:%n",
      footer = {
        "  ./holdfast audit list --since 7d",
        "  ./holdfast audit list --action key.created --json",
        "  ./holdfast audit list --target ep_00HN3XW5G0400 --tenant acme",
        "",
        "--json also shows what was before and after. " + ClientOptions.EXIT_CODES
      })
  int list(@Mixin ClientOptions client, @Mixin Filter which, @Mixin ListOptions options) {
    return client.run(
        api -> {
          Table table =
              new Table(
                  Column.text("TIME"),
                  Column.text("TENANT"),
                  Column.text("ACTION"),
                  Column.text("TARGET"),
                  Column.cut("BY"));
          options.print(
              client,
              api,
              PATH + which.query(client),
              table,
              item -> row(client, table, item),
              "There is nothing.");
        });
  }

  private static void row(ClientOptions client, Table table, Item item) {
    Item entry = item.object("entry");
    Item actor = entry.object("actor");
    table.row(
        Cell.of(Ago.text(client.now(), entry.time("at"))),
        Cell.of(item.text("chain").isEmpty() ? ALL : item.text("chain")),
        Cell.of(entry.text("action")),
        Cell.of(entry.shown("target")),
        Cell.of(actor.text("name") + (actor.isNull("id") ? "" : " (" + actor.text("id") + ")")));
  }

  @Command(
      name = "verify",
      description = {
        "Read the whole log and compute all of its hashes anew.",
        "",
        "It names the first entry of each chain that was changed, is missing or out of its place,",
        "and prints the last entry of each chain. Keep those elsewhere: given to a later run, they",
        "show when the end of a chain was cut off or all of it was written anew."
      },
      footerHeading = "%nExamples:%n",
      footer = {
        "  ./holdfast audit verify",
        "  ./holdfast audit verify --tenant acme --head acme:12:9f86d081884c7d65…",
        "  ./holdfast audit verify --store jdbc:postgresql://db.example/holdfast",
        "",
        "--json prints an object for each last entry (chain, number, hash) and for each entry that is",
        "wrong (chain, number, problem).",
        "",
        "Exit codes: 0 all is as it was written, 1 it is not or could not be read, 2 wrong usage."
      })
  int verify(
      @Mixin ClientOptions client,
      @Mixin NamedStore database,
      @Option(
              names = "--head",
              paramLabel = "HEAD",
              converter = HeadText.class,
              description =
                  "An entry that must be there, as an earlier run has printed it. Can be repeated.")
          @Nullable List<Head> kept) {
    if (database.isOnCommandLine()) {
      return verifyIn(client, database, kept == null ? List.of() : kept);
    }
    return client.run(
        api -> {
          AuditTrail trail = new AuditTrail(kept == null ? List.of() : kept);
          AuditPages.read(api, PATH, trail::add);
          tell(client, trail);
        });
  }

  /** Without a server, and without a key. */
  private static int verifyIn(ClientOptions client, NamedStore database, List<Head> kept) {
    client.checkTenant();
    try {
      database.open(
          (store, _) -> {
            AuditTrail trail = new AuditTrail(kept);
            Long before = Long.MAX_VALUE;
            while (before != null) {
              Audit.Found found =
                  store
                      .audit()
                      .find(
                          new Audit.Query(
                              client.tenant(), null, null, null, null, null, before, PAGE));
              for (Audit.Entry entry : found.entries()) {
                trail.add(entry.chain(), entry.json(), entry.previous(), entry.hash());
              }
              before = found.next();
            }
            tell(client, trail);
          });
      return ExitCode.DONE;
    } catch (CommandFailed e) {
      return client.failed(e);
    } finally {
      client.out().flush();
    }
  }

  private static void tell(ClientOptions client, AuditTrail trail) throws CommandFailed {
    PrintWriter out = client.out();
    for (Head head : trail.heads()) {
      out.println(client.isJson() ? json(head) : Printable.text(head.toString()));
    }
    List<AuditTrail.Problem> problems = trail.problems();
    if (client.isJson()) {
      problems.forEach(problem -> out.println(json(problem)));
    }
    if (problems.isEmpty()) {
      client
          .err()
          .printf(
              "%,d entries in %,d chains are as they were written. Above is the last of each.%n",
              trail.entries(), trail.heads().size());
      return;
    }
    List<String> found = new ArrayList<>();
    for (AuditTrail.Problem problem : problems) {
      found.add(
          "The audit log was changed: in the chain of %s, entry %d %s."
              .formatted(
                  problem.chain().isEmpty() ? "all tenants" : problem.chain(),
                  problem.number(),
                  problem.what()));
    }
    throw new CommandFailed(
        String.join(System.lineSeparator(), found.stream().map(Printable::text).toList()));
  }

  private static String json(Head head) {
    return Item.create()
        .put("chain", head.chain())
        .put("number", head.number())
        .put("hash", head.hash())
        .toString();
  }

  private static String json(AuditTrail.Problem problem) {
    return Item.create()
        .put("chain", problem.chain())
        .put("number", problem.number())
        .put("problem", problem.what())
        .toString();
  }

  private static final class HeadText implements ITypeConverter<Head> {
    @Override
    public Head convert(String text) {
      return Head.parse(text)
          .orElseThrow(
              () ->
                  new TypeConversionException(
                      "'%s' is not a head as ./holdfast audit verify prints it: CHAIN:NUMBER:HASH"
                          .formatted(Printable.text(text, 100))));
    }
  }
}
