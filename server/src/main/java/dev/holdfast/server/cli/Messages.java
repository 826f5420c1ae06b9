package dev.holdfast.server.cli;

import dev.holdfast.server.cli.Table.Cell;
import dev.holdfast.server.cli.Table.Column;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code holdfast messages}. */
@Command(
    name = "messages",
    description = "Look at messages and their attempts, and retry them by hand.",
    commandListHeading = "%nCommands (without one: list):%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  ./holdfast messages --status waiting,parked",
      "  ./holdfast messages --endpoint ep_00HN3XW5G0400 --since 2h",
      "  ./holdfast messages show msg_00HN3XW5G0401",
      "  ./holdfast messages retry msg_00HN3XW5G0401",
      "",
      ClientOptions.EXIT_CODES
    })
final class Messages implements Callable<Integer> {
  private static final String PATH = "/v1/messages";

  @Mixin private @Nullable ClientOptions client;
  @Mixin private Filter filter = new Filter();

  /** Which messages are listed. */
  static final class Filter {
    @Mixin private ListOptions list = new ListOptions();

    @Option(
        names = "--status",
        paramLabel = "STATUS",
        split = ",",
        description = "Only those that are ${COMPLETION-CANDIDATES}; several with commas.")
    private List<Status> statuses = List.of();

    @Option(names = "--endpoint", paramLabel = "ID", description = "Only those of this endpoint.")
    private @Nullable String endpoint;

    @Option(
        names = "--subscription",
        paramLabel = "ID",
        description = "Only those of this subscription.")
    private @Nullable String subscription;

    @Option(names = "--event", paramLabel = "ID", description = "Only those of this event.")
    private @Nullable String event;

    @Option(
        names = "--since",
        paramLabel = "TIME",
        converter = When.Converter.class,
        description = "Only those made since then: 2h (before now), or 2026-03-01T12:00:00Z.")
    private @Nullable When since;

    @Option(
        names = "--until",
        paramLabel = "TIME",
        converter = When.Converter.class,
        description = "Only those made before then.")
    private @Nullable When until;

    String query(Instant now) {
      List<String> query = new ArrayList<>();
      if (!statuses.isEmpty()) {
        query.add("status=" + String.join(",", statuses.stream().map(Enum::name).toList()));
      }
      add(query, "endpoint", endpoint);
      add(query, "subscription", subscription);
      add(query, "event", event);
      add(query, "since", since == null ? null : since.from(now).toString());
      add(query, "until", until == null ? null : until.from(now).toString());
      return query.isEmpty() ? "" : "?" + String.join("&", query);
    }

    private static void add(List<String> query, String name, @Nullable String value) {
      if (value != null) {
        query.add(name + "=" + ApiClient.encoded(value));
      }
    }
  }

  /** A status as people write it. */
  enum Status {
    pending,
    waiting,
    parked,
    delivered,
    dropped
  }

  @Override
  public Integer call() {
    return list(Objects.requireNonNull(client), filter);
  }

  @Command(
      name = "list",
      description = "List messages, the newest first.",
      footerHeading = "%nExamples:%n",
      footer = {
        "  ./holdfast messages list --status dropped --since 7d",
        "  ./holdfast messages list --event order-77-paid --json",
        "",
        ClientOptions.EXIT_CODES
      })
  int list(@Mixin ClientOptions options, @Mixin Filter which) {
    return options.run(
        api -> {
          Table table =
              new Table(
                  Column.text("ID"),
                  Column.text("STATUS"),
                  Column.number("ATTEMPTS"),
                  Column.text("MADE"),
                  Column.text("NEXT"),
                  Column.text("ENDPOINT"),
                  Column.cut("TYPE"),
                  Column.cut("SUBJECT"));
          which.list.print(
              options,
              api,
              PATH + which.query(options.now()),
              table,
              message -> row(table, message, options.now()),
              "No such messages.");
        });
  }

  private static void row(Table table, Item message, Instant now) {
    table.row(
        Cell.of(message.text("id")),
        status(message),
        Cell.of(message.count("attempts")),
        Cell.of(Ago.text(now, message.time("createdAt"))),
        Cell.of(Ago.text(now, message.time("nextAttemptAt"))),
        Cell.of(message.text("endpoint")),
        Cell.of(message.text("type")),
        Cell.of(message.shown("subject")));
  }

  private static Cell status(Item message) {
    String status = message.text("status");
    String reason = message.text("reason");
    String text = reason.isEmpty() ? status : status + " (" + reason + ")";
    return switch (status) {
      case "delivered" -> Cell.of(text, Ansi.Style.fg_green);
      case "dropped" -> Cell.of(text, Ansi.Style.fg_red);
      case "waiting", "parked" -> Cell.of(text, Ansi.Style.fg_yellow);
      default -> Cell.of(text);
    };
  }

  @Command(
      name = "show",
      description = "Show a message and all its attempts.",
      footerHeading = "%nExamples:%n",
      footer = {"  ./holdfast messages show msg_00HN3XW5G0401", "", ClientOptions.EXIT_CODES})
  int show(
      @Mixin ClientOptions options,
      @Parameters(paramLabel = "ID", description = "The message's id.") String id) {
    return options.run(
        api -> {
          Item message = api.get(path(id));
          if (options.isJson()) {
            options.out().println(message.json());
            return;
          }
          print(options, message);
        });
  }

  private static void print(ClientOptions options, Item message) {
    PrintWriter out = options.out();
    Instant now = options.now();
    options.line("id", message.text("id"));
    options.line("status", status(message).text());
    options.line("event", message.text("event"));
    options.line("type", message.text("type"));
    options.line("subject", message.shown("subject"));
    options.line("subscription", message.text("subscription"));
    options.line("endpoint", message.text("endpoint"));
    options.line(
        "made", Ago.text(now, message.time("createdAt")) + ", " + message.shown("createdAt"));
    if (message.time("nextAttemptAt") != null) {
      options.line("next attempt", Ago.text(now, message.time("nextAttemptAt")));
    }
    if (message.time("deadline") != null) {
      options.line("deadline", Ago.text(now, message.time("deadline")));
    }
    if (!message.isNull("replayOf")) {
      options.line("replay of", message.text("replayOf"));
    }
    if (!message.isNull("version")) {
      options.line("version", message.text("version"));
    }
    Table attempts =
        new Table(
            Column.number("ATTEMPT"),
            Column.text("AT"),
            Column.number("TOOK"),
            Column.text("SLOT"),
            Column.text("OUTCOME"),
            Column.cut("ANSWER"));
    for (Item attempt : message.list("attempts")) {
      attempts.row(
          Cell.of(attempt.count("number")),
          Cell.of(attempt.text("at")),
          Cell.of(attempt.count("durationMillis") + " ms"),
          Cell.of(attempt.isTrue("scheduled") ? "yes" : "no"),
          outcome(attempt),
          Cell.of(attempt.text("response").strip()));
    }
    out.println();
    if (attempts.isEmpty()) {
      out.println("It was not tried yet.");
    } else {
      attempts.print(out, options.screen());
    }
  }

  private static Cell outcome(Item attempt) {
    String status = attempt.text("status");
    if (attempt.text("outcome").equals("success")) {
      return Cell.of(status, Ansi.Style.fg_green);
    }
    return Cell.of(status.isEmpty() ? attempt.shown("error") : status, Ansi.Style.fg_red);
  }

  @Command(
      name = "retry",
      description = "Try a waiting or parked message now.",
      footerHeading = "%nExamples:%n",
      footer = {
        "  ./holdfast messages retry msg_00HN3XW5G0401",
        "",
        "What is delivered or dropped is sent again by ./holdfast replay. "
            + ClientOptions.EXIT_CODES
      })
  int retry(
      @Mixin ClientOptions options,
      @Parameters(paramLabel = "ID", description = "The message's id.") String id) {
    return options.run(
        api -> {
          Item started = api.post(path(id) + "/retry", "");
          options.tell(
              started,
              "%s is being tried. See ./holdfast messages show %s"
                  .formatted(started.text("id"), started.text("id")));
        });
  }

  private static String path(String id) {
    return PATH + "/" + ApiClient.encoded(id);
  }
}
