package dev.holdfast.server.cli;

import dev.holdfast.engine.store.postgres.PostgresOptions;
import dev.holdfast.server.cli.Settings.Sources;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What commands take that open a database by themselves. */
class StoreOptions {
  /** How the help of such a command tells where the password comes from. */
  static final String PASSWORD =
      "The password is taken from HOLDFAST_STORE_PASSWORD, or from the URL; it is never shown.";

  private final Surroundings surroundings;

  @Spec(Spec.Target.MIXEE)
  private @Nullable CommandSpec command;

  @Option(
      names = "--user",
      paramLabel = "USER",
      description = "The user of the database (store.user, HOLDFAST_STORE_USER).")
  private @Nullable String user;

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "A file with settings, KEY=VALUE on each line.")
  private @Nullable Path config;

  @Option(names = "--set", paramLabel = "KEY=VALUE", description = "One setting. Can be repeated.")
  private List<String> assignments = List.of();

  StoreOptions(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  /** Whether settings are given on the command line. */
  boolean hasSettings() {
    return config != null || !assignments.isEmpty();
  }

  Surroundings surroundings() {
    return surroundings;
  }

  /**
   * The settings, the URL of the database among them.
   *
   * @param flag the option that the URL was given by
   */
  Settings settings(@Nullable String flag, @Nullable String url) throws InvalidSettings {
    Map<String, Sources.Flag> flags = new HashMap<>();
    if (flag != null && url != null) {
      flags.put(flag, new Sources.Flag(Settings.STORE_URL, url));
    }
    if (user != null) {
      flags.put("--user", new Sources.Flag(Settings.STORE_USER, user));
    }
    return Settings.read(new Sources(config, surroundings.environment(), assignments, flags));
  }

  /**
   * Where the database is.
   *
   * @param flag the option that its URL is given by
   */
  PostgresOptions database(String flag, @Nullable String url) throws InvalidSettings {
    return settings(flag, url)
        .database()
        .orElseThrow(
            () ->
                new ParameterException(
                    Objects.requireNonNull(command).commandLine(),
                    "Which database? Name it with " + flag + " or HOLDFAST_STORE_URL."));
  }
}
