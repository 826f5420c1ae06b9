package dev.holdfast.server.cli;

import dev.holdfast.server.cli.ApiClient.Answer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Sends events, waits where the server asks for it, and says how far it came. */
final class Sender {
  /** So that a batch stays below what the server takes, whatever its last event is. */
  private static final int BATCH_BYTES = 4 << 20;

  private static final Duration USUAL_PAUSE = Duration.ofSeconds(1);
  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

  private final ApiClient api;
  private final ClientOptions client;
  private final Supplier<Patience> patience;
  private final Duration mostWait;
  private final ProgressBar progress;

  private @Nullable Patience waiting;
  private long accepted;
  private long messages;

  /**
   * @param patience made when there is something to wait for: until then Ctrl-C ends the process
   */
  Sender(ApiClient api, ClientOptions client, Supplier<Patience> patience, Duration mostWait) {
    this.api = api;
    this.client = client;
    this.patience = patience;
    this.mostWait = mostWait;
    this.progress = new ProgressBar(client.err(), client.screen());
  }

  void one(byte[] event) throws CommandFailed {
    Answer answer = patiently("/v1/events", event);
    progress.end();
    Item result = api.granted(answer).item();
    if (client.isJson()) {
      client.out().println(result.json());
    } else {
      client
          .out()
          .println(
              Printable.text(
                  "%s %s, for %s."
                      .formatted(
                          answer.status() == 200 ? "Was accepted before:" : "Accepted",
                          result.text("id"),
                          messages(result.number("messages")))));
    }
  }

  private static String messages(long number) {
    return number == 1 ? "1 message" : String.format(Locale.ROOT, "%,d messages", number);
  }

  /** Sends the events of a file, or of standard input when it is called "-". */
  void many(String file, int firstLine, int batchEvents) throws CommandFailed {
    Instant start = client.now();
    boolean isFile = !file.equals("-");
    long size = isFile ? checked(file, firstLine) : -1;
    Batch batch = new Batch();
    try (Lines lines =
        new Lines(
            isFile ? Files.newInputStream(Path.of(file)) : client.surroundings().in(), firstLine)) {
      for (Lines.Line line = lines.next(); line != null; line = lines.next()) {
        check(line);
        if (batch.lines.size() == batchEvents
            || (!batch.lines.isEmpty() && batch.size() + line.text().length > BATCH_BYTES)) {
          send(batch);
          batch = new Batch();
          show(size < 0 ? -1 : (double) lines.bytes() / size, start);
          if (isAskedToEndWithin(Duration.ZERO)) {
            throw new CommandFailed(
                "Ended as asked.%s Go on with --from-line %d."
                    .formatted(acceptedSoFar(), line.number()));
          }
        }
        batch.add(line);
      }
      if (!batch.lines.isEmpty()) {
        send(batch);
        show(size < 0 ? -1 : 1, start);
      }
    } catch (IOException e) {
      throw new CommandFailed(
          "%s cannot be read: %s."
                  .formatted(isFile ? file : "Standard input", ClientOptions.reason(e))
              + acceptedSoFar());
    } finally {
      progress.end();
    }
    Duration took = Duration.between(start, client.now());
    client
        .err()
        .printf(
            Locale.ROOT,
            "Accepted %,d events, for %s, in %.1f s.%n",
            accepted,
            messages(messages),
            took.toMillis() / 1_000.0);
  }

  /** Nothing is sent of a file that has a line which is not an event. */
  private static long checked(String file, int firstLine) throws CommandFailed {
    Path path = Path.of(file);
    try {
      if (Files.isDirectory(path)) {
        throw new CommandFailed(file + " is a directory. Name a file with an event on each line.");
      }
      try (InputStream in = Files.newInputStream(path);
          Lines lines = new Lines(in, firstLine)) {
        long events = 0;
        for (Lines.Line line = lines.next(); line != null; line = lines.next()) {
          check(line);
          events++;
        }
        if (events == 0) {
          throw new CommandFailed(file + " has no events. Put one on each line, as JSON.");
        }
      }
      return Files.size(path);
    } catch (IOException e) {
      throw new CommandFailed("%s cannot be read: %s.".formatted(file, ClientOptions.reason(e)));
    }
  }

  private static void check(Lines.Line line) throws CommandFailed {
    String problem = JsonText.problemAsObject(line.text());
    if (problem != null) {
      throw new CommandFailed(
          "Line %d %s. Each line is one event, such as {\"type\":\"order.paid\",\"data\":{}}."
              .formatted(line.number(), problem));
    }
  }

  /** Events that are sent together. */
  private static final class Batch {
    private final List<Long> lines = new ArrayList<>();
    private final ByteArrayOutputStream events = new ByteArrayOutputStream();

    void add(Lines.Line line) {
      events.writeBytes(JsonText.bytes(lines.isEmpty() ? "{\"events\":[" : ","));
      events.writeBytes(line.text());
      lines.add(line.number());
    }

    int size() {
      return events.size();
    }

    byte[] json() {
      events.writeBytes(JsonText.bytes("]}"));
      return events.toByteArray();
    }
  }

  private void send(Batch batch) throws CommandFailed {
    Answer answer;
    try {
      answer = patiently("/v1/events/batch", batch.json());
    } catch (ServerUnreachable e) {
      progress.end();
      throw new CommandFailed(
          e.what()
              + acceptedSoFar()
              + " Whether lines %d to %d were accepted is not known: if your events have ids, go on with --from-line %d; what was accepted is not taken twice."
                  .formatted(
                      batch.lines.getFirst(), batch.lines.getLast(), batch.lines.getFirst()));
    }
    if (answer.isRefusal()) {
      progress.end();
      throw new CommandFailed(
          place(answer, batch)
              + api.refused(answer).what()
              + acceptedSoFar()
              + " Go on with --from-line "
              + batch.lines.getFirst()
              + ".");
    }
    for (Item event : answer.item().list("events")) {
      accepted++;
      messages += event.number("messages");
      if (client.isJson()) {
        client.out().println(event.json());
      }
    }
  }

  /** The line that is at fault, if the server names an event. */
  private static String place(Answer answer, Batch batch) {
    Item problem = Item.read(answer.text());
    if (problem == null || problem.isNull("index")) {
      return "";
    }
    int index = (int) problem.number("index");
    return index < 0 || index >= batch.lines.size() ? "" : "Line " + batch.lines.get(index) + ": ";
  }

  private String acceptedSoFar() {
    return String.format(Locale.ROOT, " %,d events were accepted before.", accepted);
  }

  /** Sends again for as long as the server asks for time and there is some. */
  private Answer patiently(String path, byte[] json) throws CommandFailed {
    Duration waited = Duration.ZERO;
    while (true) {
      Answer answer = api.send("POST", path, json);
      if (!answer.isForLater()) {
        return answer;
      }
      Duration pause = answer.retryAfter() == null ? USUAL_PAUSE : answer.retryAfter();
      if (pause.compareTo(LONGEST_PAUSE) > 0) {
        pause = LONGEST_PAUSE;
      }
      waited = waited.plus(pause);
      if (waited.compareTo(mostWait) > 0) {
        return answer;
      }
      progress.show(-1, "The server asks to wait " + pause.toSeconds() + " s …");
      if (isAskedToEndWithin(pause)) {
        progress.end();
        throw new CommandFailed("Ended while waiting for the server." + acceptedSoFar());
      }
    }
  }

  private boolean isAskedToEndWithin(Duration pause) {
    if (waiting == null) {
      waiting = patience.get();
    }
    return waiting.askedToEndWithin(pause);
  }

  private void show(double share, Instant start) {
    long millis = Math.max(1, Duration.between(start, client.now()).toMillis());
    progress.show(
        share,
        String.format(
            Locale.ROOT, "%,d events, %,d per second", accepted, accepted * 1_000 / millis));
  }
}
