package dev.holdfast.server.cli;

import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Tells what becomes of the endpoints of the demo, a line for each change of state. */
final class DemoStory {
  /** More than an endpoint can have between two looks. */
  private static final int CHANGES = 20;

  private static final int MOST_ENDPOINTS = 1_000;

  /** A backlog of fewer messages is not worth a line. */
  private static final long BACKLOG = 20;

  /** What a healthy endpoint may have at any moment. */
  private static final long NO_BACKLOG = 3;

  private final ApiClient api;
  private final PrintWriter out;
  private final Instant start;
  private final Map<String, Told> endpoints = new HashMap<>();

  /** What is told after a look, when all of it is known. */
  private final List<Line> lines = new ArrayList<>();

  private record Line(Instant at, String text) {}

  /**
   * What was told about an endpoint.
   *
   * @param until the last change that was told
   * @param unfinished how many messages it had at the last look
   * @param draining how many it had when it was enabled; 0 when it has caught up
   */
  private record Told(Instant until, long unfinished, long draining) {}

  /**
   * @param start from when on time is told
   */
  DemoStory(ApiClient api, PrintWriter out, Instant start) {
    this.api = api;
    this.out = out;
    this.start = start;
  }

  /** Looks at the endpoints, and tells what has changed since the last look. */
  void look(Instant now) throws CommandFailed {
    List<Item> found = new ArrayList<>();
    api.list("/v1/endpoints", MOST_ENDPOINTS, found::add);
    for (Item endpoint : found) {
      String id = endpoint.text("id");
      endpoints.put(
          id, look(endpoint, endpoints.getOrDefault(id, new Told(Instant.MIN, 0, 0)), now));
    }
    lines.sort(Comparator.comparing(Line::at));
    lines.forEach(line -> out.println(line.text()));
    out.flush();
    lines.clear();
  }

  private Told look(Item endpoint, Told before, Instant now) throws CommandFailed {
    String name = name(endpoint.text("url"));
    Instant since = endpoint.time("since");
    Told told = before;
    if (since != null && since.isAfter(before.until())) {
      told = tellChanges(endpoint.text("id"), name, before);
    }
    long unfinished =
        endpoint.number("pending") + endpoint.number("waiting") + endpoint.number("parked");
    if (told.draining() > 0 && unfinished <= NO_BACKLOG) {
      tell(
          now,
          name,
          String.format(
              Locale.ROOT, "has caught up: a backlog of %,d is delivered.", told.draining()));
      return new Told(told.until(), unfinished, 0);
    }
    return new Told(told.until(), unfinished, told.draining());
  }

  /** From the store, which may be a moment behind: what is not there yet is told the next time. */
  private Told tellChanges(String endpoint, String name, Told before) throws CommandFailed {
    Told told = before;
    for (Item change :
        api.get("/v1/endpoints/" + endpoint + "/changes?limit=" + CHANGES)
            .list("items")
            .reversed()) {
      Instant at = change.time("at");
      if (at != null && at.isAfter(told.until())) {
        boolean isBack = change.text("state").equals("enabled");
        long draining = isBack && told.unfinished() >= BACKLOG ? told.unfinished() : 0;
        told = new Told(at, told.unfinished(), draining);
        if (!change.text("reason").equals("created")) {
          tell(at, name, words(change, draining));
        }
      }
    }
    return told;
  }

  private void tell(Instant at, String name, String words) {
    lines.add(
        new Line(
            at, "%s  %-25s  %s".formatted(DemoTime.at(Duration.between(start, at)), name, words)));
  }

  private static String words(Item change, long draining) {
    return switch (change.text("state") + " " + change.text("reason")) {
      case "disabled failure-rate" -> "is disabled: over 70 % failed. Probed every 10 minutes.";
      case "disabled consecutive-failures" ->
          "is disabled: %d failures in a row. Probed every 10 minutes."
              .formatted(DemoTime.DISABLE_AFTER);
      case "frozen silence" ->
          "is frozen: no success for %d hours. Only people can enable it."
              .formatted(DemoTime.FREEZE_SILENCE.toHours());
      case "frozen consecutive-failures" ->
          "is frozen: %,d failures in a row. Only people can enable it."
              .formatted(DemoTime.FREEZE_AT);
      case "enabled probe-succeeded" -> "is enabled: a probe was answered." + backlog(draining);
      case "enabled operator" -> "was enabled by hand." + backlog(draining);
      case "disabled operator" -> "was disabled by hand: no probes until it is enabled by hand.";
      case "frozen operator" -> "was frozen by hand.";
      default -> "is " + Printable.text(change.text("state") + ": " + change.text("reason"), 100);
    };
  }

  private static String backlog(long draining) {
    return draining == 0 ? "" : String.format(Locale.ROOT, " A backlog of %,d drains.", draining);
  }

  private static String name(String url) {
    return Printable.text(url.substring(url.lastIndexOf('/') + 1), 60);
  }
}
