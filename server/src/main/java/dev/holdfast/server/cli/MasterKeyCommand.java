package dev.holdfast.server.cli;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.StoreVault;
import dev.holdfast.engine.vault.KeysRefused;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import tools.jackson.databind.node.ObjectNode;

/** {@code holdfast master-key}. */
@Command(
    name = "master-key",
    description = "Show or change the master key, which secrets in the store are sealed under.",
    synopsisSubcommandLabel = "show|rotate",
    commandListHeading = "%nCommands:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  ./holdfast master-key show",
      "  ./holdfast master-key rotate",
      "",
      "The running server is asked, with an admin key for all tenants in HOLDFAST_KEY. With --store the",
      "database is opened instead. The master key itself is never shown: it is in the key file.",
      ClientOptions.EXIT_CODES
    })
final class MasterKeyCommand implements Runnable {
  private static final String PATH = "/v1/master-key";

  @Spec private @Nullable CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(
        Objects.requireNonNull(spec).commandLine(), "Which: show or rotate?");
  }

  @Command(
      name = "show",
      description = "Show which master key is in use, and since when; never the key itself.",
      footerHeading = "%nExamples:%n",
      footer = {"  ./holdfast master-key show --json", "", ClientOptions.EXIT_CODES})
  int show(@Mixin ClientOptions client, @Mixin NamedStore database) {
    if (database.isOnCommandLine()) {
      return open(
          client,
          database,
          vault -> {
            StoreVault.Shown shown = vault.shown();
            client.tell(
                item(
                    Item.create()
                        .put("id", shown.id())
                        .put("since", shown.since().toString())
                        .put("source", shown.source())),
                "%s, in use since %s, from %s"
                    .formatted(shown.id(), shown.since(), shown.source()));
          });
    }
    return client.run(
        api -> {
          Item key = api.get(PATH);
          client.tell(
              key,
              "%s, in use since %s, from %s"
                  .formatted(key.text("id"), key.text("since"), key.text("source")));
        });
  }

  @Command(
      name = "rotate",
      description = {
        "Put another master key into use, while the server runs.",
        "",
        "The key file is read again. If its first key is not in use yet, that is taken; else a new",
        "one is made. Then the old one is removed from the file: copy the file first if there are",
        "backups, since those that were made before open with the old key only.",
        "",
        "Where several servers share a store, each of them needs the new key before it is used: see",
        "docs/postgresql.md. While others run none is made, and the old one stays in the file."
      },
      footerHeading = "%nExamples:%n",
      footer = {
        "  cp -p /var/lib/holdfast/master.key /safe/place/master.key.old",
        "  ./holdfast master-key rotate",
        "  cp -p /var/lib/holdfast/master.key /safe/place/",
        "",
        ClientOptions.EXIT_CODES
      })
  int rotate(@Mixin ClientOptions client, @Mixin NamedStore database) {
    if (database.isOnCommandLine()) {
      return open(client, database, vault -> rotate(client, vault));
    }
    return client.run(
        api -> {
          Item rotated = api.post(PATH + "/rotate", "");
          client.tell(
              rotated,
              "%s is in use instead of %s. Keep a copy of the key file; backups made until now open with the old key only."
                  .formatted(rotated.text("to"), rotated.text("from")));
        });
  }

  private static Item item(ObjectNode json) {
    return Objects.requireNonNull(Item.read(json.toString()));
  }

  /** What is done with the keys of a store that is open. */
  private interface Work {
    void run(StoreVault vault) throws StoreException, CommandFailed;
  }

  private static int open(ClientOptions client, NamedStore database, Work work) {
    if (client.namesServer()) {
      throw client.usage("Give --store or a server (--server, HOLDFAST_SERVER), not both.");
    }
    try {
      Settings settings = database.settings();
      database.open((store, _) -> work.run(store.vault(settings.masterKeys())));
      return ExitCode.DONE;
    } catch (InvalidSettings e) {
      client.err().println(e.report());
      return ExitCode.USAGE;
    } catch (CommandFailed e) {
      return client.failed(e);
    } finally {
      client.out().flush();
    }
  }

  private static void rotate(ClientOptions client, StoreVault vault)
      throws StoreException, CommandFailed {
    Actor whoever =
        new Actor(Actor.Kind.COMMAND_LINE, null, System.getProperty("user.name", "unknown"));
    try {
      StoreVault.Rotated rotated =
          vault
              .rotate(whoever, client.now())
              .orElseThrow(
                  () ->
                      new CommandFailed(
                          "The master key is set and not in a file, so only a start changes it."));
      client.tell(
          item(Item.create().put("from", rotated.from()).put("to", rotated.to())),
          "%s is in use instead of %s. %s"
              .formatted(
                  rotated.to(),
                  rotated.from(),
                  rotated.isOldKept()
                      ? "The old one is left among the keys; remove it when every server has the"
                          + " new one and no backup needs the old one."
                      : "From now on every server needs it to start; backups made until now open with"
                          + " the old one only."));
    } catch (KeysRefused e) {
      throw new CommandFailed(String.valueOf(e.getMessage()));
    }
  }
}
