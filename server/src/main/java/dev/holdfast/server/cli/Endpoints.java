package dev.holdfast.server.cli;

import dev.holdfast.server.cli.Table.Cell;
import dev.holdfast.server.cli.Table.Column;
import java.time.Instant;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code holdfast endpoints}. */
@Command(
    name = "endpoints",
    description = "Look at endpoints and their health, and change their state by hand.",
    commandListHeading = "%nCommands (without one: list):%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  ./holdfast endpoints",
      "  ./holdfast endpoints --state disabled",
      "  ./holdfast endpoints show ep_00HN3XW5G0400",
      "  ./holdfast endpoints enable ep_00HN3XW5G0400",
      "",
      ClientOptions.EXIT_CODES
    })
final class Endpoints implements Callable<Integer> {
  private static final String PATH = "/v1/endpoints";

  @Mixin private @Nullable ClientOptions client;
  @Mixin private Filter filter = new Filter();

  /** Which endpoints are listed. */
  static final class Filter {
    @Mixin private ListOptions list = new ListOptions();

    @Option(
        names = "--state",
        paramLabel = "STATE",
        description = "Only those that are ${COMPLETION-CANDIDATES}.")
    private @Nullable State state;
  }

  /** A state as people write it. */
  enum State {
    enabled,
    disabled,
    frozen
  }

  @Override
  public Integer call() {
    return list(Objects.requireNonNull(client), filter);
  }

  @Command(
      name = "list",
      description = "List endpoints, the newest first.",
      footerHeading = "%nExamples:%n",
      footer = {
        "  ./holdfast endpoints list --state frozen",
        "  ./holdfast endpoints list --json | jq -r .url",
        "",
        "UNFINISHED is how many messages are pending, waiting or parked; IN A ROW how many attempts",
        "have failed since the last success. " + ClientOptions.EXIT_CODES
      })
  int list(@Mixin ClientOptions options, @Mixin Filter which) {
    return options.run(
        api -> {
          Table table =
              new Table(
                  Column.text("ID"),
                  Column.text("STATE"),
                  Column.text("SINCE"),
                  Column.text("WHY"),
                  Column.number("DELIVERED"),
                  Column.number("FAILED"),
                  Column.number("IN A ROW"),
                  Column.number("UNFINISHED"),
                  Column.cut("URL"));
          which.list.print(
              options,
              api,
              PATH + (which.state == null ? "" : "?state=" + which.state),
              table,
              endpoint -> row(table, endpoint, options.now()),
              which.state == null
                  ? "There are no endpoints. A subscription makes one: POST /v1/subscriptions."
                  : "No endpoint is " + which.state + ".");
        });
  }

  private static void row(Table table, Item endpoint, Instant now) {
    table.row(
        Cell.of(endpoint.text("id")),
        state(endpoint),
        Cell.of(Ago.text(now, endpoint.time("since"))),
        Cell.of(endpoint.text("reason")),
        Cell.of(endpoint.count("successes")),
        Cell.of(endpoint.count("failures")),
        Cell.of(endpoint.count("consecutiveFailures")),
        Cell.of(String.format(Locale.ROOT, "%,d", unfinished(endpoint))),
        Cell.of(endpoint.text("url")));
  }

  private static Cell state(Item endpoint) {
    String state = endpoint.text("state");
    return switch (state) {
      case "enabled" -> Cell.of(state, Ansi.Style.fg_green);
      case "disabled" -> Cell.of(state, Ansi.Style.fg_yellow);
      default -> Cell.of(state, Ansi.Style.fg_red);
    };
  }

  private static long unfinished(Item endpoint) {
    return endpoint.number("pending") + endpoint.number("waiting") + endpoint.number("parked");
  }

  @Command(
      name = "show",
      description = "Show an endpoint and how its state has changed.",
      footerHeading = "%nExamples:%n",
      footer = {
        "  ./holdfast endpoints show ep_00HN3XW5G0400",
        "",
        "--json prints the endpoint, without its changes. " + ClientOptions.EXIT_CODES
      })
  int show(
      @Mixin ClientOptions options,
      @Parameters(paramLabel = "ID", description = "The endpoint's id.") String id) {
    return options.run(
        api -> {
          Item endpoint = api.get(path(id));
          if (options.isJson()) {
            options.out().println(endpoint.json());
            return;
          }
          print(options, endpoint);
          Table changes = new Table(Column.text("CHANGED"), Column.text("TO"), Column.text("WHY"));
          for (Item change : api.get(path(id) + "/changes?limit=20").list("items")) {
            changes.row(
                Cell.of(Ago.text(options.now(), change.time("at"))),
                state(change),
                Cell.of(change.text("reason")));
          }
          if (!changes.isEmpty()) {
            options.out().println();
            changes.print(options.out(), options.screen());
          }
        });
  }

  private static void printTls(ClientOptions options, Item tls) {
    if (!tls.isNull("certificate")) {
      options.line("certificate", certificate(tls.object("certificate")));
    }
    for (Item root : tls.list("roots")) {
      options.line("trusts", certificate(root));
    }
  }

  private static String certificate(Item shown) {
    return "%s, until %s".formatted(shown.text("subject"), shown.shown("notAfter"));
  }

  private static void print(ClientOptions options, Item endpoint) {
    Instant now = options.now();
    Item sinceEnabled = endpoint.object("sinceEnabled");
    options.line("id", endpoint.text("id"));
    options.line("url", endpoint.text("url"));
    options.line(
        "state",
        "%s since %s (%s)"
            .formatted(endpoint.text("state"), endpoint.shown("since"), endpoint.shown("reason")));
    options.line(
        "attempts",
        "%s delivered, %s failed, %s failed in a row"
            .formatted(
                endpoint.count("successes"),
                endpoint.count("failures"),
                endpoint.count("consecutiveFailures")));
    options.line(
        "since enabled",
        "%s counted, %s of them failed"
            .formatted(sinceEnabled.count("attempts"), sinceEnabled.count("failures")));
    options.line("last success", Ago.text(now, endpoint.time("lastSuccessAt")));
    options.line("next probe", Ago.text(now, endpoint.time("nextProbeAt")));
    options.line(
        "unfinished",
        "%s pending, %s waiting, %s parked"
            .formatted(
                endpoint.count("pending"), endpoint.count("waiting"), endpoint.count("parked")));
    if (!endpoint.isNull("rateLimit")) {
      options.line("rate limit", endpoint.text("rateLimit") + " requests per second");
    }
    if (!endpoint.isNull("tls")) {
      printTls(options, endpoint.object("tls"));
    }
    if (endpoint.time("goneAt") != null) {
      options.line("gone", "answered 410 " + Ago.text(now, endpoint.time("goneAt")));
    }
  }

  @Command(
      name = "enable",
      description = "Enable an endpoint: all that waits for it is sent, slowly at first.",
      footerHeading = "%nExamples:%n",
      footer = {"  ./holdfast endpoints enable ep_00HN3XW5G0400", "", ClientOptions.EXIT_CODES})
  int enable(
      @Mixin ClientOptions options,
      @Parameters(paramLabel = "ID", description = "The endpoint's id.") String id) {
    return operate(options, id, "enable");
  }

  @Command(
      name = "disable",
      description = "Disable an endpoint until it is enabled by hand: its messages are parked.",
      footerHeading = "%nExamples:%n",
      footer = {"  ./holdfast endpoints disable ep_00HN3XW5G0400", "", ClientOptions.EXIT_CODES})
  int disable(
      @Mixin ClientOptions options,
      @Parameters(paramLabel = "ID", description = "The endpoint's id.") String id) {
    return operate(options, id, "disable");
  }

  @Command(
      name = "freeze",
      description = "Freeze an endpoint: nothing is tried until it is enabled by hand.",
      footerHeading = "%nExamples:%n",
      footer = {"  ./holdfast endpoints freeze ep_00HN3XW5G0400", "", ClientOptions.EXIT_CODES})
  int freeze(
      @Mixin ClientOptions options,
      @Parameters(paramLabel = "ID", description = "The endpoint's id.") String id) {
    return operate(options, id, "freeze");
  }

  private static int operate(ClientOptions options, String id, String operation) {
    return options.run(
        api -> {
          Item endpoint = api.post(path(id) + "/" + operation, "");
          options.tell(
              endpoint,
              "%s is %s; %,d messages are unfinished."
                  .formatted(endpoint.text("id"), endpoint.text("state"), unfinished(endpoint)));
        });
  }

  @Command(
      name = "test",
      description = "Send an endpoint one test message, which counts nowhere, and show its answer.",
      footerHeading = "%nExamples:%n",
      footer = {
        "  ./holdfast endpoints test ep_00HN3XW5G0400",
        "",
        "Exit codes: 0 it answered with a 2xx, 1 it did not or failed, 2 wrong usage."
      })
  int test(
      @Mixin ClientOptions options,
      @Parameters(paramLabel = "ID", description = "The endpoint's id.") String id) {
    return options.run(
        api -> {
          Item result = api.post(path(id) + "/test", "");
          if (options.isJson()) {
            options.out().println(result.json());
          }
          String answer =
              "%s after %s ms"
                  .formatted(
                      result.isNull("status")
                          ? "No answer (" + result.shown("error") + ")"
                          : "Answered " + result.text("status"),
                      result.count("durationMillis"));
          if (!result.text("outcome").equals("success")) {
            throw new CommandFailed(Printable.text(answer + excerpt(result), 500));
          }
          if (!options.isJson()) {
            options.out().println(Printable.text(answer + excerpt(result), 500));
          }
        });
  }

  private static String excerpt(Item result) {
    return result.text("response").isBlank() ? "." : ": " + result.text("response").strip();
  }

  private static String path(String id) {
    return PATH + "/" + ApiClient.encoded(id);
  }
}
