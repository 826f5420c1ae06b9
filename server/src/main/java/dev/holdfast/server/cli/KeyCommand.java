package dev.holdfast.server.cli;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.SqliteStore;
import dev.holdfast.engine.store.StoreCheck;
import dev.holdfast.engine.store.StoreRefused;
import dev.holdfast.server.api.ApiLimits;
import dev.holdfast.server.api.Keyring;
import dev.holdfast.server.api.Principal.Role;
import dev.holdfast.server.cli.Table.Cell;
import dev.holdfast.server.cli.Table.Column;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code holdfast key}.
 *
 * <p>A running server is asked. Where there is none, the store is opened instead: so the first key
 * can be made, and another when all are lost.
 */
@Command(
    name = "key",
    description = "Make, list and revoke the keys of the API.",
    synopsisSubcommandLabel = "create|list|revoke",
    commandListHeading = "%nCommands:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  ./holdfast key create --tenant acme --role publisher --name checkout --expires 90d",
      "  HOLDFAST_KEY=$(./holdfast key create --role admin --all-tenants)",
      "  ./holdfast key list",
      "  ./holdfast key revoke key_00HN3XW5G0400",
      "",
      "The running server is asked, with an admin key in HOLDFAST_KEY. Without a server, or with",
      "--data or --store, the store is opened instead, which needs no key but the right to write into",
      "it. Running servers that share a database learn of it within seconds.",
      ClientOptions.EXIT_CODES
    })
final class KeyCommand implements Runnable {
  private static final String PATH = "/v1/keys";
  private static final int MOST_LISTED = 10_000;

  @Spec private @Nullable CommandSpec spec;

  /** What a key may do, as people write it. */
  enum RoleName {
    admin,
    operator,
    publisher,
    viewer;

    Role role() {
      return Role.valueOf(name().toUpperCase(Locale.ROOT));
    }
  }

  /** The store that is opened when there is no server. */
  static final class StoreOption {
    @Option(
        names = "--data",
        paramLabel = "DIR",
        description =
            "Open the store in this directory instead of asking a server. Without it holdfast-data"
                + " is opened when no server answers and none was named.")
    private @Nullable Path data;
  }

  @Override
  public void run() {
    throw new ParameterException(
        Objects.requireNonNull(spec).commandLine(), "Which: create, list or revoke?");
  }

  @Command(
      name = "create",
      description = {
        "Make a key and print it, this once.",
        "",
        "The key alone goes to standard output, everything else to standard error. It opens the",
        "server at once."
      },
      footerHeading = "%nExamples:%n",
      footer = {
        "  ./holdfast key create --tenant acme --role publisher",
        "  ./holdfast key create --tenant acme --role viewer --expires 90d",
        "  ./holdfast key create --role admin --all-tenants --name ops",
        "  ./holdfast key create --role admin --all-tenants --data /var/lib/holdfast",
        "  ./holdfast key create --role admin --all-tenants --store jdbc:postgresql://db/holdfast",
        "",
        "admin does everything, operator manages subscriptions, endpoints and messages, publisher",
        "sends events, viewer looks. " + ClientOptions.EXIT_CODES
      })
  int create(
      @Mixin ClientOptions client,
      @Mixin StoreOption store,
      @Mixin NamedStore database,
      @Option(
              names = "--role",
              paramLabel = "ROLE",
              required = true,
              description = "What it may do: ${COMPLETION-CANDIDATES}.")
          RoleName role,
      @Option(
              names = "--name",
              paramLabel = "NAME",
              description = "What it is called in lists (default: role and a few digits).")
          @Nullable String name,
      @Option(names = "--all-tenants", description = "A key for all tenants instead of one.")
          boolean allTenants,
      @Option(
              names = "--expires",
              paramLabel = "TIME",
              converter = End.Converter.class,
              description =
                  "When it ends: a time span from now such as 90d, or a time such as"
                      + " 2030-01-31T12:00:00Z (default: never).")
          @Nullable End expires) {
    if (allTenants && client.tenant() != null) {
      throw client.usage("Give --tenant or --all-tenants, not both.");
    }
    if (name != null && (name.isBlank() || name.length() > ApiLimits.KEY_NAME_CHARS)) {
      throw client.usage("--name: it has 1 to " + ApiLimits.KEY_NAME_CHARS + " characters.");
    }
    return ask(
        client,
        store.data,
        database,
        api -> {
          ObjectNode wish = Item.create().put("role", role.name());
          if (name != null) {
            wish.put("name", name);
          }
          if (allTenants) {
            wish.putNull("tenant");
          }
          if (expires != null) {
            wish.put(expires.field(), expires.text());
          }
          Item made = api.post(PATH, wish.toString());
          show(client, made, "The server at " + api.server() + " knows it from now on.");
        },
        (keys, where) -> {
          String tenant = client.tenant() == null ? "default" : client.tenant();
          Instant end = expires == null ? null : expires.from(client.now());
          if (end != null && !end.isAfter(client.now())) {
            throw new CommandFailed("--expires: " + end + " is over. Give a time to come.");
          }
          Keyring.Created created =
              keys.create(name, role.role(), allTenants ? null : tenant, end, whoever());
          show(client, item(created.json()), "It is in the store in " + where + ".");
        });
  }

  private static void show(ClientOptions client, Item made, String where) {
    client
        .err()
        .println(
            Printable.text(
                "%s, a key with the role %s for %s, is called \"%s\"%s. It is shown only this once. %s"
                    .formatted(
                        made.text("id"),
                        made.text("role"),
                        tenantOf(made),
                        made.text("name"),
                        made.isNull("expiresAt") ? "" : " and ends at " + made.text("expiresAt"),
                        where)));
    client.out().println(client.isJson() ? made.json() : made.text("key"));
  }

  private static String tenantOf(Item key) {
    return key.isNull("tenant") ? "all tenants" : "the tenant " + key.text("tenant");
  }

  @Command(
      name = "list",
      description = "List the keys. Their texts are not known any more.",
      footerHeading = "%nExamples:%n",
      footer = {
        "  ./holdfast key list",
        "  ./holdfast key list --tenant acme --json",
        "",
        ClientOptions.EXIT_CODES
      })
  int list(@Mixin ClientOptions client, @Mixin StoreOption store, @Mixin NamedStore database) {
    Table table =
        new Table(
            Column.text("ID"),
            Column.text("ROLE"),
            Column.text("TENANT"),
            Column.text("MADE"),
            Column.text("USED"),
            Column.text("ENDS"),
            Column.cut("NAME"));
    return ask(
        client,
        store.data,
        database,
        api -> {
          api.list(PATH, MOST_LISTED, key -> row(client, table, key));
          print(client, table);
        },
        (keys, _) -> {
          for (Keyring.Key key : keys.all()) {
            if (client.tenant() == null || client.tenant().equals(key.tenant())) {
              row(client, table, item(key.json()));
            }
          }
          print(client, table);
        });
  }

  private static void row(ClientOptions client, Table table, Item key) {
    if (client.isJson()) {
      client.out().println(key.json());
      return;
    }
    table.row(
        Cell.of(key.text("id")),
        Cell.of(key.text("role")),
        Cell.of(key.isNull("tenant") ? "(all)" : key.text("tenant")),
        Cell.of(Ago.text(client.now(), key.time("createdAt"))),
        Cell.of(Ago.text(client.now(), key.time("lastUsedAt"))),
        Cell.of(Ago.text(client.now(), key.time("expiresAt"))),
        Cell.of(key.text("name")));
  }

  private static void print(ClientOptions client, Table table) {
    if (!table.isEmpty()) {
      table.print(client.out(), client.screen());
    } else if (!client.isJson()) {
      client.out().println("There are no keys.");
    }
  }

  @Command(
      name = "revoke",
      description = "Revoke a key: from now on it opens nothing.",
      footerHeading = "%nExamples:%n",
      footer = {
        "  ./holdfast key revoke key_00HN3XW5G0400",
        "",
        "The last admin key for all tenants cannot be revoked. " + ClientOptions.EXIT_CODES
      })
  int revoke(
      @Mixin ClientOptions client,
      @Mixin StoreOption store,
      @Mixin NamedStore database,
      @Parameters(paramLabel = "ID", description = "The key's id, as in ./holdfast key list.")
          String id) {
    long number =
        Id.parse(Keyring.ID_PREFIX, id)
            .orElseThrow(
                () ->
                    client.usage(
                        "'%s' is not the id of a key; it begins with key_. See ./holdfast key list."
                            .formatted(Printable.text(id, 20))));
    return ask(
        client,
        store.data,
        database,
        api -> {
          api.delete(PATH + "/" + id);
          client.err().println("Revoked " + id + ".");
        },
        (keys, where) -> {
          switch (keys.revoke(client.tenant(), number, whoever())) {
            case DONE -> client.err().println("Revoked " + id + ".");
            case NOT_FOUND ->
                throw new CommandFailed(
                    "There is no key %s in the store in %s. See ./holdfast key list with the same options."
                        .formatted(id, where));
            case IS_LAST_ADMIN ->
                throw new CommandFailed(
                    "%s is the last admin key for all tenants. Make another one first, then revoke this one."
                        .formatted(id));
          }
        });
  }

  /** Whoever has a right to the store's files, as the system calls them. */
  private static Actor whoever() {
    return new Actor(Actor.Kind.COMMAND_LINE, null, System.getProperty("user.name", "unknown"));
  }

  private static Item item(String json) {
    return Objects.requireNonNull(Item.read(json));
  }

  /** What is done with the keys of a store that is open. */
  private interface StoreWork {
    void run(Keys keys, String where) throws StoreException, CommandFailed;
  }

  private static int ask(
      ClientOptions client,
      @Nullable Path data,
      NamedStore database,
      ClientOptions.Work atServer,
      StoreWork atStore) {
    if (data != null && database.isOnCommandLine()) {
      throw client.usage("Give --data or --store, not both.");
    }
    if ((data != null || database.isOnCommandLine()) && client.namesServer()) {
      throw client.usage(
          "Give %s or a server (--server, HOLDFAST_SERVER), not both."
              .formatted(data == null ? "--store" : "--data"));
    }
    client.checkTenant();
    try {
      if (database.isOnCommandLine()) {
        open(client, database, atStore);
        return ExitCode.DONE;
      }
      if (data != null) {
        open(client, data, atStore, "Leave --data out, so that the server is asked.");
        return ExitCode.DONE;
      }
      try (ApiClient api = client.connect()) {
        atServer.run(api);
        return ExitCode.DONE;
      } catch (ServerUnreachable e) {
        if (!client.namesServer() && client.surroundings().namesStore()) {
          client.err().println("No server answers, so the database is opened.");
          open(client, database, atStore);
          return ExitCode.DONE;
        }
        Path usual = usualData(client);
        if (client.namesServer() || !StoreCheck.isThere(usual)) {
          throw e;
        }
        client.err().println("No server answers, so the store in " + usual + " is opened.");
        open(
            client,
            usual,
            atStore,
            "None answers at %s: name its address with --server or HOLDFAST_SERVER."
                .formatted(client.server()));
        return ExitCode.DONE;
      }
    } catch (CommandFailed e) {
      return client.failed(e);
    } finally {
      client.out().flush();
    }
  }

  private static void open(ClientOptions client, NamedStore database, StoreWork work)
      throws CommandFailed {
    database.open(
        (store, place) -> work.run(Keys.of(store.apiKeys(), client.surroundings().clock()), place));
  }

  private static Path usualData(ClientOptions client) {
    String set = client.environment().getOrDefault(Settings.DATA.variable(), "");
    return Path.of(set.isBlank() ? Settings.DATA.defaultText() : set);
  }

  private static void open(ClientOptions client, Path data, StoreWork work, String whenInUse)
      throws CommandFailed {
    if (!StoreCheck.isThere(data)) {
      throw new CommandFailed(
          "There is no store in %s. Name its directory with --data, or start the server once: its first start makes a store and prints an admin key."
              .formatted(data));
    }
    try (SqliteStore store = SqliteStore.openSealed(data)) {
      work.run(Keys.of(store.apiKeys(), client.surroundings().clock()), data.toString());
    } catch (StoreRefused e) {
      throw new CommandFailed(
          e.isInUse()
              ? "A running server has the store in %s. %s".formatted(data, whenInUse)
              : String.valueOf(e.getMessage()));
    } catch (StoreException e) {
      throw new CommandFailed("The store in %s: %s".formatted(data, e.getMessage()));
    }
  }
}
