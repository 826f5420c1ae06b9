package dev.holdfast.server.cli;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.HttpServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.Reader;
import java.nio.charset.Charset;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code holdfast listen}. */
@Command(
    name = "listen",
    description = {
      "A receiver that prints what arrives, one line each, and answers as it is told. Given a",
      "subscription's secret, it says of each message whether it is signed with it.",
      "",
      "While it runs, type a status and Enter to answer with that from now on."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  ./holdfast listen                     answer 200 on http://127.0.0.1:9000",
      "  ./holdfast listen --status 503        watch retries; type 200 to let them through",
      "  ./holdfast listen --fail-first 2      refuse each message twice, then take it",
      "  ./holdfast listen --delay 6s          be too slow for the time-out of 5 s",
      "  HOLDFAST_LISTEN_SECRET=whsec_… ./holdfast listen      verify signatures",
      "",
      "The server delivers to this machine only when it is allowed to:",
      "  ./holdfast serve --set egress.allow=127.0.0.0/8"
    })
final class Listen implements Callable<Integer> {
  static final String SECRET_VARIABLE = "HOLDFAST_LISTEN_SECRET";

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      defaultValue = "9000",
      converter = Port.class,
      description = "The port to listen on, 0 for any that is free (default: ${DEFAULT-VALUE}).")
  private int port;

  @Option(
      names = "--host",
      paramLabel = "ADDRESS",
      defaultValue = "127.0.0.1",
      description = "The address to listen on (default: ${DEFAULT-VALUE}).")
  private String host = "127.0.0.1";

  @Option(
      names = "--status",
      paramLabel = "STATUS",
      defaultValue = "200",
      converter = Status.class,
      description = "What to answer (default: ${DEFAULT-VALUE}).")
  private int status;

  @Option(
      names = "--delay",
      paramLabel = "TIME",
      defaultValue = "0ms",
      converter = Delay.class,
      description = "How long to hold an answer back, such as 500ms or 6s (default: none).")
  private Duration delay = Duration.ZERO;

  @Option(
      names = "--fail-first",
      paramLabel = "N",
      defaultValue = "0",
      converter = Count.class,
      description = "Answer " + Receiver.FAILURE + " to each message's first N arrivals.")
  private int failFirst;

  @Option(
      names = "--body",
      paramLabel = "pretty|raw",
      arity = "0..1",
      fallbackValue = "pretty",
      description = "Print the body too, indented if it is JSON, or as it came.")
  private @Nullable Body body;

  @Option(
      names = "--secret",
      paramLabel = "SECRET",
      converter = SecretText.class,
      description = {
        "Verify signatures with this secret, whsec_…, or public key, whpk_…. Can be given several",
        "times. Others on this machine can see it here; so rather set",
        SECRET_VARIABLE + ", several of them separated by blanks."
      })
  private List<Verifier.Key> secrets = List.of();

  private final Surroundings surroundings;

  Listen(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  /** How bodies are printed. */
  enum Body {
    pretty,
    raw
  }

  @Override
  public Integer call() {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    Verifier verifier;
    try {
      verifier = verifier();
    } catch (BadValue e) {
      throw new ParameterException(
          spec.commandLine(), "What stands in " + SECRET_VARIABLE + " " + e.what() + ".");
    }
    StopSignal stop = StopSignal.install();
    Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
    try {
      Receiver receiver =
          new Receiver(
              vertx,
              surroundings.clock(),
              new Receiver.Manner(status, delay, failFirst),
              verifier,
              arrival -> print(arrival, out));
      out.println("Listening on " + listen(receiver) + ", answering " + status + ".");
      out.println("Type a status and Enter to answer with that; Ctrl-C ends.");
      Thread.ofPlatform()
          .daemon()
          .name("standard input")
          .start(() -> obey(standardInput(), receiver, out));
      stop.await();
      out.println();
      out.println(tell(receiver.summary()));
      return ExitCode.DONE;
    } catch (CannotStart e) {
      spec.commandLine().getErr().println(e.getMessage());
      return ExitCode.FAILED;
    } finally {
      vertx.close();
    }
  }

  /** Knows the secrets from the command line and those from the environment. */
  Verifier verifier() throws BadValue {
    List<Verifier.Key> keys = new ArrayList<>(secrets);
    for (String text :
        surroundings.environment().getOrDefault(SECRET_VARIABLE, "").split("\\s+", -1)) {
      if (!text.isEmpty()) {
        keys.add(Verifier.Key.read(text));
      }
    }
    return new Verifier(keys);
  }

  private String listen(Receiver receiver) throws CannotStart {
    try {
      HttpServer server = receiver.listen(host, port).await(10, TimeUnit.SECONDS);
      return "http://%s:%d".formatted(host, server.actualPort());
    } catch (TimeoutException e) {
      throw CannotStart.listening(host, port, e);
    } catch (Exception e) {
      throw CannotStart.listening(host, port, e);
    }
  }

  private void print(Arrival arrival, PrintWriter out) {
    out.println(arrival.line(Ansi.AUTO));
    if (body != null) {
      out.print(arrival.content().shown(body == Body.pretty));
      out.flush();
    }
  }

  private static Reader standardInput() {
    return new InputStreamReader(System.in, Charset.defaultCharset());
  }

  /** Changes the receiver's mind as it reads. Ends with its input. */
  static void obey(Reader input, Receiver receiver, PrintWriter out) {
    try (BufferedReader lines = new BufferedReader(input)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.isBlank()) {
          continue;
        }
        try {
          int newStatus = Status.KIND.read(line.strip());
          receiver.answer(receiver.manner().withStatus(newStatus));
          out.println("Now answering " + newStatus + ".");
        } catch (BadValue e) {
          out.println("Type a status, " + Status.KIND.allowed() + ", to answer with that.");
        }
      }
    } catch (IOException e) {
      out.println("Cannot read what you type any more: " + e.getMessage());
    }
  }

  static String tell(Receiver.Summary summary) {
    return String.format(
        Locale.ROOT,
        "Received %,d: %,d distinct, %,d repeated.",
        summary.received(),
        summary.distinct(),
        summary.repeated());
  }

  private static final class Port implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      return OptionText.read(Kind.whole(0, 65_535), text);
    }
  }

  private static final class Status implements ITypeConverter<Integer> {
    private static final Kind<Integer> KIND = Kind.whole(200, 599);

    @Override
    public Integer convert(String text) {
      return OptionText.read(KIND, text);
    }
  }

  /** Whatever is wrong with a secret, it is not repeated. */
  private static final class SecretText implements ITypeConverter<Verifier.Key> {
    @Override
    public Verifier.Key convert(String text) {
      try {
        return Verifier.Key.read(text.strip());
      } catch (BadValue e) {
        throw new TypeConversionException("it " + e.what());
      }
    }
  }

  private static final class Count implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      return OptionText.read(Kind.whole(0, 1_000_000), text);
    }
  }

  private static final class Delay implements ITypeConverter<Duration> {
    @Override
    public Duration convert(String text) {
      return OptionText.read(Kind.duration("0ms", "10m"), text);
    }
  }
}
