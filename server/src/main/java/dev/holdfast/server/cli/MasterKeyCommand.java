package dev.holdfast.server.cli;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

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
      "The running server is asked, with an admin key for all tenants in HOLDFAST_KEY. The master key",
      "itself is never shown: it is in the key file. " + ClientOptions.EXIT_CODES
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
  int show(@Mixin ClientOptions client) {
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
        "backups, since those that were made before open with the old key only."
      },
      footerHeading = "%nExamples:%n",
      footer = {
        "  cp -p /var/lib/holdfast/master.key /safe/place/master.key.old",
        "  ./holdfast master-key rotate",
        "  cp -p /var/lib/holdfast/master.key /safe/place/",
        "",
        ClientOptions.EXIT_CODES
      })
  int rotate(@Mixin ClientOptions client) {
    return client.run(
        api -> {
          Item rotated = api.post(PATH + "/rotate", "");
          client.tell(
              rotated,
              "%s is in use instead of %s. Keep a copy of the key file; backups made until now open with the old key only."
                  .formatted(rotated.text("to"), rotated.text("from")));
        });
  }
}
