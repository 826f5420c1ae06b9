package dev.holdfast.server.cli;

import dev.holdfast.engine.store.StoreCheck;
import dev.holdfast.engine.store.StoreRefused;
import dev.holdfast.engine.store.postgres.PostgresCheck;
import dev.holdfast.engine.vault.KeyFile;
import dev.holdfast.engine.vault.MasterKey;
import dev.holdfast.engine.vault.MasterKeySource;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code holdfast check}. */
@Command(
    name = "check",
    description =
        "Looks for damage in a store, and changes nothing. No server may be using an embedded one.",
    footerHeading = "%nExamples:%n",
    footer = {
      "  ./holdfast check --data /var/lib/holdfast",
      "  ./holdfast check --store jdbc:postgresql://db.example/holdfast --key-file /etc/holdfast/master.key",
      "",
      "Everything in the store is read, which may take minutes. What is sealed is opened if the",
      "master key is found. Servers may use a database meanwhile, but no part of its tables is made or",
      "dropped, so what is old stays until the check has ended.",
      "",
      "Exit codes: 0 all is as it was written, 1 something is damaged or the store cannot be opened, 2",
      "wrong usage or settings."
    })
final class Check implements Callable<Integer> {
  private final Surroundings surroundings;

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "The directory of the store (default: holdfast-data).")
  private @Nullable Path given;

  @Mixin private NamedStore database;

  @Option(
      names = "--key-file",
      paramLabel = "FILE",
      description =
          "The file with the master key (default: HOLDFAST_SECRETS_KEY, HOLDFAST_SECRETS_KEY_FILE, or"
              + " master.key in the directory; with --store what the settings say).")
  private @Nullable Path keyFile;

  Check(Surroundings surroundings) {
    this.surroundings = surroundings;
    this.database = new NamedStore(surroundings);
  }

  @Override
  public Integer call() {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    try {
      boolean isShared = database.isNamed() && given == null;
      Path data = given == null ? Path.of(Settings.DATA.defaultText()) : given;
      String place = isShared ? database.database().place() : data.toString();
      StoreCheck.Result result =
          isShared
              ? PostgresCheck.run(database.database(), masterKeys(database.settings()))
              : StoreCheck.run(data, masterKeys(data));
      if (result.unopened() != null) {
        out.printf(
            "What is sealed was not opened: the master key %s was not found. Name its file with"
                + " --key-file.%n",
            result.unopened());
      }
      if (result.problems().isEmpty()) {
        out.printf("%,d rows, and each is as it was written.%n", result.rows());
        return ExitCode.DONE;
      }
      out.printf("The store in %s is damaged. Restore it from a backup.%n", place);
      result.problems().forEach(problem -> out.println("  " + problem));
      return ExitCode.FAILED;
    } catch (InvalidSettings e) {
      out.println(e.report());
      return ExitCode.USAGE;
    } catch (StoreRefused e) {
      out.println(e.getMessage());
      return ExitCode.FAILED;
    } catch (BadValue e) {
      out.println("The master key in the environment " + e.what() + ". Correct it, or unset it.");
      return ExitCode.FAILED;
    } finally {
      out.flush();
    }
  }

  /** Where a server with the same settings would find the master key. */
  private MasterKeySource masterKeys(Settings settings) {
    return keyFile == null ? settings.masterKeys() : new KeyFile(keyFile);
  }

  /** Where a server with the same environment would find the master key. */
  private MasterKeySource masterKeys(Path data) throws BadValue {
    if (keyFile != null) {
      return new KeyFile(keyFile);
    }
    List<MasterKey> keys = Settings.SECRETS_KEY.kind().read(variable(Settings.SECRETS_KEY));
    if (!keys.isEmpty()) {
      return new MasterKeySource.Given(keys, Settings.SECRETS_KEY.variable());
    }
    return Settings.SECRETS_KEY_FILE
        .kind()
        .read(variable(Settings.SECRETS_KEY_FILE))
        .map(KeyFile::new)
        .orElse(KeyFile.in(data));
  }

  private String variable(Setting<?> setting) {
    return surroundings.environment().getOrDefault(setting.variable(), "").strip();
  }
}
