package dev.holdfast.server.cli;

import dev.holdfast.server.api.TenantName;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What all commands take that ask a running server: where it is, and with which key. */
final class ClientOptions {
  static final String SERVER_VARIABLE = "HOLDFAST_SERVER";
  static final String KEY_VARIABLE = "HOLDFAST_KEY";
  static final String CA_VARIABLE = "HOLDFAST_CA";

  /** How the help of such a command ends. */
  static final String EXIT_CODES = "Exit codes: 0 done, 1 failed, 2 wrong usage.";

  private static final int MOST_KEY_FILE_BYTES = 4_096;

  private final Surroundings surroundings;

  @Spec(Spec.Target.MIXEE)
  private @Nullable CommandSpec command;

  @Option(
      names = "--server",
      paramLabel = "URL",
      description = "The server to ask (HOLDFAST_SERVER, default http://127.0.0.1:8080).")
  private @Nullable String server;

  @Option(
      names = "--key-file",
      paramLabel = "FILE",
      description =
          "A file with the key and nothing else. Without it the key is taken from HOLDFAST_KEY or"
              + " HOLDFAST_ADMIN_KEY, never from the command line, which others can see.")
  private @Nullable Path keyFile;

  @Option(
      names = "--ca",
      paramLabel = "FILE",
      description =
          "A PEM file with authorities to trust besides the usual ones, for an https server with a"
              + " certificate of one's own (HOLDFAST_CA).")
  private @Nullable String ca;

  @Option(
      names = "--tenant",
      paramLabel = "TENANT",
      description = "The tenant, with a key for all tenants (default: default).")
  private @Nullable String tenant;

  @Option(names = "--json", description = "Print the API's JSON, one object on each line.")
  private boolean json;

  ClientOptions(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  /** What a command does once it knows its server. */
  @FunctionalInterface
  interface Work {
    void run(ApiClient api) throws CommandFailed;
  }

  /** Does it, and tells what goes wrong. */
  int run(Work work) {
    try (ApiClient api = connect()) {
      work.run(api);
      return ExitCode.DONE;
    } catch (CommandFailed e) {
      return failed(e);
    } finally {
      out().flush();
    }
  }

  int failed(CommandFailed problem) {
    out().flush();
    err().println(problem.what());
    return ExitCode.FAILED;
  }

  ApiClient connect() throws CommandFailed {
    checkTenant();
    return new ApiClient(server(), key().orElse(null), tenant, trust());
  }

  /** Refuses what cannot be a tenant, also where no server is asked. */
  void checkTenant() {
    if (tenant != null && !TenantName.isValid(tenant)) {
      throw usage("--tenant: '%s' is no tenant. %s".formatted(tenant, TenantName.RULE));
    }
  }

  /** Absent where the usual authorities will do. */
  private @Nullable SSLContext trust() {
    String file = ca == null ? environment().getOrDefault(CA_VARIABLE, "").strip() : ca;
    if (file.isEmpty()) {
      return null;
    }
    try {
      return Trust.usualAnd(Kind.certificates().read(file));
    } catch (BadValue e) {
      throw usage("%s: '%s' %s.".formatted(ca == null ? CA_VARIABLE : "--ca", file, e.what()));
    }
  }

  URI server() {
    String variable = environment().getOrDefault(SERVER_VARIABLE, "");
    String text = server != null ? server : variable.isBlank() ? usualServer() : variable;
    String origin = server == null ? SERVER_VARIABLE : "--server";
    try {
      URI uri = new URI(text.strip().replaceFirst("/+$", ""));
      if (uri.getHost() != null
          && ("http".equals(uri.getScheme()) || "https".equals(uri.getScheme()))
          && uri.getRawQuery() == null
          && uri.getRawFragment() == null
          && uri.getRawUserInfo() == null) {
        return uri;
      }
    } catch (URISyntaxException e) {
      // Said below.
    }
    throw usage(
        "%s: '%s' is not the address of a server; it looks like http://127.0.0.1:8080."
            .formatted(origin, text));
  }

  /** On this machine, with the port that a server with the same environment would listen on. */
  private String usualServer() {
    String port = environment().getOrDefault(Settings.SERVER_PORT.variable(), "").strip();
    return "http://127.0.0.1:" + (port.isEmpty() ? Settings.SERVER_PORT.defaultText() : port);
  }

  /** Whether somebody said which server to ask. */
  boolean namesServer() {
    return server != null || !environment().getOrDefault(SERVER_VARIABLE, "").isBlank();
  }

  @Nullable String tenant() {
    return tenant;
  }

  boolean isJson() {
    return json;
  }

  private Optional<ApiClient.Key> key() throws CommandFailed {
    if (keyFile != null) {
      return Optional.of(checked(keyIn(keyFile), "the file " + keyFile));
    }
    for (String variable : new String[] {KEY_VARIABLE, Settings.ADMIN_KEY.variable()}) {
      String key = environment().getOrDefault(variable, "").strip();
      if (!key.isEmpty()) {
        return Optional.of(checked(key, variable));
      }
    }
    return Optional.empty();
  }

  private static String keyIn(Path file) throws CommandFailed {
    try {
      if (Files.size(file) > MOST_KEY_FILE_BYTES) {
        throw new CommandFailed(file + " is too large for a file with a key.");
      }
      return Files.readString(file, StandardCharsets.UTF_8).strip();
    } catch (IOException e) {
      throw new CommandFailed(
          "The key cannot be read from %s: %s. Name a text file that this user may read."
              .formatted(file, reason(e)));
    }
  }

  private static ApiClient.Key checked(String key, String origin) throws CommandFailed {
    try {
      Optional<String> valid = Settings.ADMIN_KEY.kind().read(key);
      if (valid.isPresent()) {
        return new ApiClient.Key(valid.get(), origin);
      }
    } catch (BadValue e) {
      // Said below, without the value: it may be a key with a slip.
    }
    throw new CommandFailed(
        "There is no key in %s: a key is one word such as hf_….".formatted(origin));
  }

  /** Why a file cannot be written, in a few words. */
  static String writeReason(IOException problem) {
    return switch (problem) {
      case NoSuchFileException _ -> "there is no such directory";
      case AccessDeniedException _ -> "this user may not write there";
      default -> reason(problem);
    };
  }

  /** Why a file cannot be read, in a few words. */
  static String reason(IOException problem) {
    return switch (problem) {
      case NoSuchFileException _ -> "there is no such file";
      case AccessDeniedException _ -> "this user may not read it";
      default -> Printable.text(String.valueOf(problem.getMessage()), 200);
    };
  }

  /** Wrong usage, which ends the command with its own code. */
  ParameterException usage(String problem) {
    return new ParameterException(spec().commandLine(), Printable.text(problem, 500));
  }

  Surroundings surroundings() {
    return surroundings;
  }

  Map<String, String> environment() {
    return surroundings.environment();
  }

  Screen screen() {
    return surroundings.screen().get();
  }

  Instant now() {
    return surroundings.clock().instant();
  }

  /** Prints what the server answered: its JSON when that is wanted, else a sentence. */
  void tell(Item answer, String sentence) {
    out().println(json ? answer.json() : Printable.text(sentence));
  }

  /** Prints a line about one thing: a name, and below the values of others its value. */
  void line(String name, String value) {
    out().printf("%-14s %s%n", name, Printable.text(value));
  }

  PrintWriter out() {
    return spec().commandLine().getOut();
  }

  PrintWriter err() {
    return spec().commandLine().getErr();
  }

  private CommandSpec spec() {
    return Objects.requireNonNull(command, "picocli sets it");
  }
}
