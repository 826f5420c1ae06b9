package dev.holdfast.server.cli;

import dev.holdfast.server.cli.Table.Cell;
import dev.holdfast.server.cli.Table.Column;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code holdfast replay}. */
@Command(
    name = "replay",
    description = {
      "Send finished messages again, as new messages.",
      "",
      "It runs in the server: Ctrl-C leaves it running."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  ./holdfast replay --endpoint ep_00HN3XW5G0400 --since 2d",
      "  ./holdfast replay --subscription sub_00HN3XW5G0402 --status dropped,delivered --again",
      "  ./holdfast replay --show rpl_00HN3XW5G0403",
      "  ./holdfast replay --cancel rpl_00HN3XW5G0403",
      "  ./holdfast replay --list",
      "",
      "--json prints the replay, as it was started and with waiting again at its end. Exit codes:",
      "0 done or started, 1 failed or cancelled, 2 wrong usage."
    })
final class Replay implements Callable<Integer> {
  private static final String PATH = "/v1/replays";
  private static final Duration BETWEEN_LOOKS = Duration.ofMillis(500);
  private static final int MOST_LOOKS_MISSED = 20;

  @Mixin private @Nullable ClientOptions client;

  @Option(names = "--endpoint", paramLabel = "ID", description = "Messages of this endpoint.")
  private @Nullable String endpoint;

  @Option(
      names = "--subscription",
      paramLabel = "ID",
      description = "Messages of this subscription.")
  private @Nullable String subscription;

  @Option(
      names = "--status",
      paramLabel = "STATUS",
      split = ",",
      description =
          "Messages that are ${COMPLETION-CANDIDATES}; both with a comma (default: dropped).")
  private List<Status> statuses = List.of();

  @Option(
      names = "--since",
      paramLabel = "TIME",
      converter = When.Converter.class,
      description = "Messages made since then: 2d (before now), or 2026-03-01T12:00:00Z.")
  private @Nullable When since;

  @Option(
      names = "--until",
      paramLabel = "TIME",
      converter = When.Converter.class,
      description = "Messages made before then.")
  private @Nullable When until;

  @Option(names = "--again", description = "Also those that were replayed before.")
  private boolean again;

  @Option(names = "--no-wait", description = "Start it and end; do not wait until it is done.")
  private boolean noWait;

  @Option(names = "--show", paramLabel = "ID", description = "Show a replay that was started.")
  private @Nullable String show;

  @Option(names = "--cancel", paramLabel = "ID", description = "Cancel a replay that runs.")
  private @Nullable String cancel;

  @Option(names = "--list", description = "List the replays.")
  private boolean list;

  /** A status that can be replayed, as people write it. */
  enum Status {
    dropped,
    delivered
  }

  @Override
  public Integer call() {
    ClientOptions options = Objects.requireNonNull(client);
    check(options);
    return options.run(
        api -> {
          if (show != null) {
            print(options, api.get(path(show)));
          } else if (cancel != null) {
            print(options, api.post(path(cancel) + "/cancel", ""));
          } else if (list) {
            list(options, api);
          } else {
            start(options, api);
          }
        });
  }

  private void check(ClientOptions options) {
    boolean begins = endpoint != null || subscription != null;
    long wishes =
        Stream.of(begins, show != null, cancel != null, list).filter(wish -> wish).count();
    if (wishes == 0) {
      throw options.usage(
          "What is to be replayed? Name an --endpoint or a --subscription; or give --list, --show ID or --cancel ID.");
    }
    if (wishes > 1) {
      throw options.usage(
          "Give one of these only: what is to be replayed, --list, --show, --cancel.");
    }
    boolean filters = !statuses.isEmpty() || since != null || until != null || again || noWait;
    if (!begins && filters) {
      throw options.usage(
          "--status, --since, --until, --again and --no-wait are for a new replay, which needs an --endpoint or a --subscription.");
    }
  }

  private String wish(ClientOptions options) {
    ObjectNode wish = Item.create();
    if (endpoint != null) {
      wish.put("endpoint", endpoint);
    }
    if (subscription != null) {
      wish.put("subscription", subscription);
    }
    ArrayNode names = wish.putArray("status");
    (statuses.isEmpty() ? List.of(Status.dropped) : statuses)
        .forEach(status -> names.add(status.name()));
    if (since != null) {
      wish.put("since", since.from(options.now()).toString());
    }
    if (until != null) {
      wish.put("until", until.from(options.now()).toString());
    }
    if (again) {
      wish.put("again", true);
    }
    return wish.toString();
  }

  private void start(ClientOptions options, ApiClient api) throws CommandFailed {
    Item replay = api.post(PATH, wish(options));
    String id = replay.text("id");
    if (options.isJson()) {
      options.out().println(replay.json());
      options.out().flush();
    } else {
      options.err().println(Printable.text("Started " + id + ". " + howToLook(id)));
    }
    if (noWait) {
      return;
    }
    Item ended = await(options, api, replay);
    if (ended == null) {
      options.err().println(Printable.text("It goes on. " + howToLook(id)));
      return;
    }
    print(options, ended);
    if (ended.text("state").equals("cancelled")) {
      throw new CommandFailed("It was cancelled before it was done.");
    }
  }

  private static String howToLook(String id) {
    return "./holdfast replay --show %s shows how far it is, --cancel %s ends it."
        .formatted(id, id);
  }

  /** The replay when it has ended; absent when the command is asked to end before. */
  private static @Nullable Item await(ClientOptions options, ApiClient api, Item started)
      throws CommandFailed {
    Patience patience = options.surroundings().patience().get();
    ProgressBar progress = new ProgressBar(options.err(), options.screen());
    Item replay = started;
    int missed = 0;
    try {
      while (replay.text("state").equals("running")) {
        long total = replay.number("total");
        long done = replay.number("done") + replay.number("skipped");
        progress.show(
            replay.isNull("total") ? -1 : total == 0 ? 1 : (double) done / total, counts(replay));
        if (patience.askedToEndWithin(BETWEEN_LOOKS)) {
          return null;
        }
        try {
          replay = api.get(path(started.text("id")));
          missed = 0;
        } catch (ServerUnreachable e) {
          // The server may be restarting, and goes on with the replay then.
          if (++missed == MOST_LOOKS_MISSED) {
            throw e;
          }
        }
      }
      return replay;
    } finally {
      progress.end();
    }
  }

  private static String counts(Item replay) {
    return "%s of %s replayed, %s skipped"
        .formatted(
            replay.count("done"),
            replay.isNull("total") ? "?" : replay.count("total"),
            replay.count("skipped"));
  }

  private static void print(ClientOptions options, Item replay) {
    options.tell(
        replay, "%s is %s: %s.".formatted(replay.text("id"), replay.text("state"), counts(replay)));
  }

  private static void list(ClientOptions options, ApiClient api) throws CommandFailed {
    Table table =
        new Table(
            Column.text("ID"),
            Column.text("STATE"),
            Column.text("STARTED"),
            Column.number("REPLAYED"),
            Column.number("SKIPPED"),
            Column.number("TOTAL"),
            Column.cut("OF"));
    api.list(
        PATH,
        100,
        replay -> {
          if (options.isJson()) {
            options.out().println(replay.json());
            return;
          }
          table.row(
              Cell.of(replay.text("id")),
              Cell.of(replay.text("state")),
              Cell.of(Ago.text(options.now(), replay.time("createdAt"))),
              Cell.of(replay.count("done")),
              Cell.of(replay.count("skipped")),
              Cell.of(replay.isNull("total") ? "?" : replay.count("total")),
              Cell.of(
                  String.format(
                          Locale.ROOT,
                          "%s %s",
                          replay.text("endpoint"),
                          replay.text("subscription"))
                      .strip()));
        });
    if (!options.isJson()) {
      if (table.isEmpty()) {
        options.out().println("There are no replays.");
      } else {
        table.print(options.out(), options.screen());
      }
    }
  }

  private static String path(String id) {
    return PATH + "/" + ApiClient.encoded(id);
  }
}
