package dev.holdfast.server.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code holdfast send}. */
@Command(
    name = "send",
    description = {
      "Send an event, or many from a file.",
      "",
      "When it is done, every event is on the server's disk."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  ./holdfast send --type order.paid --subject order-77 --data '{\"amount\":12.50}'",
      "  ./holdfast send --type order.paid --id order-77-paid --data @order.json",
      "  ./holdfast send --file events.ndjson",
      "",
      "A file has one event on each line, as in POST /v1/events. It is sent in batches, each of which",
      "is accepted as a whole or not at all. Give your events ids: then the same file can be sent",
      "again, and what was accepted before is not taken twice.",
      "",
      "--json prints one object for each event, its id and number of messages. Exit codes: 0 all",
      "accepted, 1 not all accepted, 2 wrong usage."
    })
final class Send implements Callable<Integer> {
  private static final int MOST_DATA_BYTES = 16 << 20;

  @Mixin private @Nullable ClientOptions client;

  @Option(names = "--type", paramLabel = "TYPE", description = "The event's type.")
  private @Nullable String type;

  @Option(names = "--subject", paramLabel = "TEXT", description = "What the event is about.")
  private @Nullable String subject;

  @Option(
      names = "--id",
      paramLabel = "ID",
      description = "An id of your own, so that sending again does not repeat the event.")
  private @Nullable String id;

  @Option(
      names = "--data",
      paramLabel = "JSON|@FILE|-",
      description = "Its data: JSON, a file with JSON, or - for standard input (default: {}).")
  private @Nullable String data;

  @Option(
      names = "--file",
      paramLabel = "FILE",
      description = "Send the events in a file, one on each line; - for standard input.")
  private @Nullable String file;

  @Option(
      names = "--from-line",
      paramLabel = "N",
      converter = LineNumber.class,
      description = "With --file: begin at this line, to go on where an earlier run ended.")
  private @Nullable Integer fromLine;

  @Option(
      names = "--batch",
      paramLabel = "N",
      converter = BatchSize.class,
      description = "With --file: events in a batch, 1 to 1000 (default: 500).")
  private @Nullable Integer batch;

  @Option(
      names = "--wait",
      paramLabel = "TIME",
      defaultValue = "60s",
      converter = WaitTime.class,
      description =
          "How long to wait for a server that is overloaded or full before giving up (default:"
              + " ${DEFAULT-VALUE}).")
  private Duration wait = Duration.ofSeconds(60);

  @Override
  public Integer call() {
    ClientOptions options = Objects.requireNonNull(client);
    check(options);
    return options.run(
        api -> {
          Sender sender = new Sender(api, options, options.surroundings().patience(), wait);
          if (file == null) {
            sender.one(event(options));
          } else {
            sender.many(file, fromLine == null ? 1 : fromLine, batch == null ? 500 : batch);
          }
        });
  }

  private void check(ClientOptions options) {
    if (file == null) {
      if (type == null) {
        throw options.usage("Give the event's --type, or a --file with events.");
      }
      if (fromLine != null || batch != null) {
        throw options.usage("--from-line and --batch belong to --file.");
      }
    } else if (type != null || subject != null || id != null || data != null) {
      throw options.usage(
          "--type, --subject, --id and --data are for one event; the events of a --file have their own.");
    }
  }

  private byte[] event(ClientOptions options) throws CommandFailed {
    byte[] value = data(options);
    String problem = JsonText.problem(value);
    if (problem != null) {
      throw options.usage(
          "--data %s. A text needs quotes of its own, as in --data '\"text\"'.".formatted(problem));
    }
    StringBuilder head = new StringBuilder("{\"type\":");
    head.append(JsonText.quoted(Objects.requireNonNull(type)));
    if (subject != null) {
      head.append(",\"subject\":").append(JsonText.quoted(subject));
    }
    if (id != null) {
      head.append(",\"id\":").append(JsonText.quoted(id));
    }
    byte[] start = JsonText.bytes(head.append(",\"data\":").toString());
    byte[] event = new byte[start.length + value.length + 1];
    System.arraycopy(start, 0, event, 0, start.length);
    System.arraycopy(value, 0, event, start.length, value.length);
    event[event.length - 1] = '}';
    return event;
  }

  private byte[] data(ClientOptions options) throws CommandFailed {
    if (data == null) {
      return JsonText.bytes("{}");
    }
    if (data.equals("-")) {
      return read(options.surroundings().in(), "standard input");
    }
    if (!data.startsWith("@")) {
      return JsonText.bytes(data);
    }
    Path path = Path.of(data.substring(1));
    try (InputStream in = Files.newInputStream(path)) {
      return read(in, path.toString());
    } catch (IOException e) {
      throw new CommandFailed(
          "The data cannot be read from %s: %s.".formatted(path, ClientOptions.reason(e)));
    }
  }

  private static byte[] read(InputStream in, String origin) throws CommandFailed {
    try {
      byte[] bytes = in.readNBytes(MOST_DATA_BYTES + 1);
      if (bytes.length > MOST_DATA_BYTES) {
        throw new CommandFailed(origin + " has more than 16 MB, which no event may have.");
      }
      return bytes;
    } catch (IOException e) {
      throw new CommandFailed("%s cannot be read: %s.".formatted(origin, ClientOptions.reason(e)));
    }
  }

  private static final class LineNumber implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      return OptionText.read(Kind.whole(1, Integer.MAX_VALUE), text);
    }
  }

  private static final class BatchSize implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      return OptionText.read(Kind.whole(1, 1_000), text);
    }
  }

  private static final class WaitTime implements ITypeConverter<Duration> {
    @Override
    public Duration convert(String text) {
      return OptionText.read(Kind.duration("0s", "7d"), text);
    }
  }
}
