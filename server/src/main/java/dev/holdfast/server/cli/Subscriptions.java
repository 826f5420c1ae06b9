package dev.holdfast.server.cli;

import dev.holdfast.server.cli.Table.Cell;
import dev.holdfast.server.cli.Table.Column;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.ObjectNode;

/** {@code holdfast subscriptions}. */
@Command(
    name = "subscriptions",
    description = "Look at subscriptions, and take them from one server to another.",
    commandListHeading = "%nCommands (without one: list):%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  ./holdfast subscriptions",
      "  ./holdfast subscriptions export --file subscriptions.json",
      "  ./holdfast subscriptions import subscriptions.json --dry-run",
      "",
      ClientOptions.EXIT_CODES
    })
final class Subscriptions implements Callable<Integer> {
  private static final String PATH = "/v1/subscriptions";
  private static final String STANDARD = "-";
  private static final int MOST_EXPORTED = 1_000_000;

  @Mixin private @Nullable ClientOptions client;
  @Mixin private ListOptions list = new ListOptions();

  @Override
  public Integer call() {
    return list(Objects.requireNonNull(client), list);
  }

  @Command(
      name = "list",
      description = "List subscriptions, the newest first.",
      footerHeading = "%nExamples:%n",
      footer = {
        "  ./holdfast subscriptions list",
        "  ./holdfast subscriptions list --json | jq -r .url",
        "",
        "FILTERS is how many filters an event has to pass. " + ClientOptions.EXIT_CODES
      })
  int list(@Mixin ClientOptions options, @Mixin ListOptions which) {
    return options.run(
        api -> {
          Table table =
              new Table(
                  Column.text("ID"),
                  Column.text("PAUSED"),
                  Column.text("FORMAT"),
                  Column.number("FILTERS"),
                  Column.cut("URL"),
                  Column.cut("TYPES"),
                  Column.cut("SUBJECT"));
          which.print(
              options,
              api,
              PATH,
              table,
              subscription -> row(table, subscription),
              "There are no subscriptions. Make one: POST /v1/subscriptions.");
        });
  }

  private static void row(Table table, Item subscription) {
    table.row(
        Cell.of(subscription.text("id")),
        subscription.isTrue("paused") ? Cell.of("paused", Ansi.Style.fg_yellow) : Cell.of("no"),
        Cell.of(subscription.shown("format")),
        Cell.of(String.format(Locale.ROOT, "%,d", subscription.list("filters").size())),
        Cell.of(subscription.text("url")),
        Cell.of(subscription.words("types")),
        Cell.of(subscription.shown("subject")));
  }

  @Command(
      name = "export",
      description = {
        "Write all subscriptions of a tenant into one file, for import.",
        "",
        "Two exports of one server are equal unless something has changed, which a diff shows."
      },
      footerHeading = "%nExamples:%n",
      footer = {
        "  ./holdfast subscriptions export --file subscriptions.json",
        "  ./holdfast subscriptions export --tenant acme | diff acme.json -",
        "",
        "The file has no ids, times and secrets, and not which subscriptions are paused. Tokens and",
        "the values of headers become placeholders such as $${AUTH_TOKEN_sub_00HN3XW5G0402}, since the",
        "server shows them to nobody: the import takes them from environment variables, which are",
        "named when the export is done. --json changes nothing: the file is JSON.",
        ClientOptions.EXIT_CODES
      })
  int export(
      @Mixin ClientOptions options,
      @Option(
              names = "--file",
              paramLabel = "FILE",
              description = "The file to be made (default: standard output).")
          @Nullable String file,
      @Option(names = "--force", description = "Replace the file if it is there already.")
          boolean force) {
    Path target = file == null || file.equals(STANDARD) ? null : Path.of(file);
    if (force && target == null) {
      throw options.usage("--force belongs to --file.");
    }
    return options.run(
        api -> {
          if (target != null) {
            SubscriptionExport.check(target, force);
          }
          List<Item> found = new ArrayList<>();
          if (api.list(PATH, MOST_EXPORTED, found::add)) {
            throw new CommandFailed(
                String.format(
                    Locale.ROOT,
                    "There are more than %,d subscriptions, which is too many for one file.",
                    MOST_EXPORTED));
          }
          SubscriptionExport export = new SubscriptionExport(found);
          if (target == null) {
            options.out().print(export.text());
            options.out().flush();
          } else {
            export.write(target, force);
          }
          tell(options, export);
        });
  }

  private static void tell(ClientOptions options, SubscriptionExport export) {
    options.err().println("Exported " + count(export.size()) + ".");
    if (export.paused() > 0) {
      options
          .err()
          .printf(
              Locale.ROOT,
              "Paused, which the file does not say: %,d. Where they are new, an import makes them active.%n",
              export.paused());
    }
    if (!export.variables().isEmpty()) {
      options
          .err()
          .println(
              "An import needs these environment variables:"
                  + Placeholders.lines(export.variables()));
    }
  }

  private static String count(int subscriptions) {
    return subscriptions == 1
        ? "1 subscription"
        : String.format(Locale.ROOT, "%,d subscriptions", subscriptions);
  }

  @Command(
      name = "import",
      description = {
        "Create and change subscriptions so that they are as in a file.",
        "",
        "A subscription is told by its url, types and subject: where there is one with the same, it is",
        "changed if it differs; else one is created. None is removed. Importing twice changes nothing."
      },
      footerHeading = "%nExamples:%n",
      footer = {
        "  ./holdfast subscriptions import subscriptions.json --dry-run",
        "  ./holdfast subscriptions import subscriptions.json --secrets new-secrets.ndjson",
        "  ./holdfast subscriptions import - < subscriptions.json",
        "",
        "The server is asked first what it would do with all of them, so a file that it does not take",
        "changes nothing. Then they are sent in parts of up to 1,000, each of which is done as a whole",
        "or not at all. A url, token, secret or value of a header that is a placeholder such as",
        "$${PARTNER_TOKEN} is taken from the environment variable of that name.",
        "",
        "--json prints the server's answers, one for each part: to the dry run when nothing else is",
        "done. " + ClientOptions.EXIT_CODES
      })
  int importFile(
      @Mixin ClientOptions options,
      @Parameters(
              paramLabel = "FILE|-",
              description = "A file that export has written; - for standard input.")
          String file,
      @Option(names = "--dry-run", description = "Only say what would be done.") boolean dryRun,
      @Option(
              names = "--secrets",
              paramLabel = "FILE",
              description =
                  "Write the secrets that the server makes for new subscriptions into a new file, one"
                      + " JSON object on each line, instead of printing them.")
          @Nullable Path secrets) {
    return options.run(
        api -> {
          List<ObjectNode> subscriptions = read(options, file);
          if (subscriptions.isEmpty()) {
            options.err().println("There are no subscriptions in it, so there is nothing to do.");
            return;
          }
          new SubscriptionImport(api, options, subscriptions).run(dryRun, secrets);
        });
  }

  private static List<ObjectNode> read(ClientOptions options, String file) throws CommandFailed {
    boolean isFile = !file.equals(STANDARD);
    String origin = isFile ? file : "Standard input";
    byte[] text;
    try (InputStream in =
        isFile ? Files.newInputStream(Path.of(file)) : options.surroundings().in()) {
      text = in.readNBytes(SubscriptionFile.MOST_BYTES + 1);
    } catch (IOException e) {
      throw new CommandFailed("%s cannot be read: %s.".formatted(origin, ClientOptions.reason(e)));
    }
    if (text.length > SubscriptionFile.MOST_BYTES) {
      throw new CommandFailed(
          "%s has more than %d MB. Split it.".formatted(origin, SubscriptionFile.MOST_BYTES >> 20));
    }
    List<ObjectNode> subscriptions = SubscriptionFile.read(text, origin);
    Placeholders placeholders = new Placeholders(options.environment());
    placeholders.fill(subscriptions);
    if (!placeholders.used().isEmpty()) {
      options
          .err()
          .println("Taken from the environment:" + Placeholders.lines(placeholders.used()));
    }
    if (!placeholders.asTheyStand().isEmpty()) {
      options
          .err()
          .println(
              "Only a value that is a placeholder as a whole is taken from the environment. These have one as a part, and are sent as they stand:"
                  + Placeholders.lines(placeholders.asTheyStand()));
    }
    return subscriptions;
  }
}
