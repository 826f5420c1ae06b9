package dev.holdfast.engine.store;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.vault.KeyFile;
import dev.holdfast.engine.vault.KeysRefused;
import dev.holdfast.engine.vault.MasterKey;
import dev.holdfast.engine.vault.MasterKeySource;
import dev.holdfast.engine.vault.MasterKeys;
import dev.holdfast.engine.vault.NotAuthentic;
import dev.holdfast.engine.vault.Vault;
import dev.holdfast.engine.vault.WrappedKey;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens what is sealed in a store with a master key, and changes that key for another while the
 * store is in use. May be used by any thread; blocks.
 *
 * <p>The order is such that a store opens after a crash between any two steps: a new key is on disk
 * beside the old one before anything is wrapped with it, and the old one goes when nothing is
 * wrapped with it any more.
 */
public final class StoreVault {
  private static final Logger LOG = LoggerFactory.getLogger(StoreVault.class);

  private final Transactions transactions;
  private final Seals seals;
  private final MasterKeySource source;
  private MasterKey inUse;

  private StoreVault(
      Transactions transactions, Seals seals, MasterKeySource source, MasterKey inUse) {
    this.transactions = transactions;
    this.seals = seals;
    this.source = source;
    this.inUse = inUse;
  }

  /**
   * What is known of the master key in use.
   *
   * @param id by which it is known
   * @param since when the store began to use it
   * @param dataKeys how many keys are wrapped with it
   * @param source where it comes from, in words
   */
  public record Shown(String id, Instant since, int dataKeys, String source) {}

  /**
   * Another master key is in use.
   *
   * @param dataKeys how many keys are wrapped with it
   */
  public record Rotated(String from, String to, int dataKeys) {}

  /** Looks whether a store could be opened, and refuses it if not. Writes nothing. */
  static StoreFile.Look look(Path directory, MasterKeySource source) {
    return connection -> {
      List<WrappedKey> wrapped = DataKeys.read(connection);
      if (!wrapped.isEmpty()) {
        unwrap(StoreFile.path(directory), wrapped, source);
      } else if (DataKeys.areNeeded(connection)) {
        throw new Damaged("the keys that values are sealed with are missing");
      }
    };
  }

  /** Unwraps the keys of a store. */
  private static Vault unwrap(Path file, List<WrappedKey> wrapped, MasterKeySource source)
      throws SQLException, StoreRefused {
    Optional<MasterKeys> masters = read(source);
    String missing = missing(wrapped, masters);
    if (missing != null) {
      throw new StoreRefused(missing(file, missing, masters.orElse(null), source));
    }
    return vault(wrapped, masters.orElseThrow());
  }

  private static @Nullable String missing(List<WrappedKey> wrapped, Optional<MasterKeys> masters) {
    return masters.isEmpty()
        ? wrapped.getLast().master()
        : Vault.missing(wrapped, masters.get()).orElse(null);
  }

  /**
   * Opens what is sealed in a store that several nodes share, at which all of them need the same
   * master key. Of nodes that begin at the same time with an empty store one makes its first key.
   *
   * @param where the store, in words
   */
  public static StoreVault share(
      Transactions transactions, Seals seals, MasterKeySource source, String where, Instant now)
      throws StoreException, StoreRefused {
    check(source);
    Sharing sharing = new Sharing(transactions, seals, source, where, now);
    transactions.transact("opening what is sealed", sharing);
    return sharing.opened();
  }

  /** Opens a shared store's keys in one transaction, which others who do the same wait for. */
  private static final class Sharing implements Transactions.Doing {
    private final Transactions transactions;
    private final Seals seals;
    private final MasterKeySource source;
    private final String where;
    private final Instant now;
    private @Nullable StoreRefused refused;
    private @Nullable StoreVault opened;
    private @Nullable Vault vault;
    private @Nullable String before;

    Sharing(
        Transactions transactions, Seals seals, MasterKeySource source, String where, Instant now) {
      this.transactions = transactions;
      this.seals = seals;
      this.source = source;
      this.where = where;
      this.now = now;
    }

    @Override
    public void run(Connection connection, AuditChains chains) throws SQLException {
      try {
        open(connection, chains);
      } catch (StoreRefused e) {
        refused = e;
      }
    }

    private void open(Connection connection, AuditChains chains) throws SQLException, StoreRefused {
      transactions.lock(connection, Transactions.Lock.DATA_KEYS);
      List<WrappedKey> wrapped = DataKeys.all(connection);
      if (wrapped.isEmpty()) {
        MasterKey current = readOrMake(source).current();
        vault = Vault.make(now);
        DataKeys.put(connection, vault.wrap(current));
        opened = new StoreVault(transactions, seals, source, current);
        before = null;
        return;
      }
      Optional<MasterKeys> masters = read(source);
      String missing = missing(wrapped, masters);
      if (missing != null) {
        throw new StoreRefused(notShared(where, missing, masters.orElse(null), source));
      }
      MasterKey current = masters.orElseThrow().current();
      vault = vault(wrapped, masters.orElseThrow());
      opened = new StoreVault(transactions, seals, source, current);
      before = wrapped.getLast().master();
      if (!wrapped.stream().allMatch(key -> key.master().equals(current.id()))) {
        vault = vault.withNewKey(now);
        DataKeys.put(connection, vault.wrap(current));
        chains.append(rotated(Actor.SERVER, now, before, current.id()));
      }
    }

    StoreVault opened() throws StoreRefused {
      if (refused != null) {
        throw refused;
      }
      StoreVault result = Objects.requireNonNull(opened);
      seals.use(Objects.requireNonNull(vault));
      seals.renewBy(result::renewed);
      if (before == null) {
        LOG.info("secrets.key-first key={} source=\"{}\"", result.inUse.id(), source.where());
      } else if (!before.equals(result.inUse.id())) {
        LOG.info("secrets.key-rotated from={} to={}", before, result.inUse.id());
      }
      return result;
    }
  }

  private static String notShared(
      String where, String wanted, @Nullable MasterKeys found, MasterKeySource source) {
    return "The secrets in "
        + where
        + " are sealed under the master key "
        + wanted
        + ", which was not found: "
        + (found == null ? source.where() + " is not there" : found)
        + ". All nodes of a store need the same master key: copy the key file of a node that runs,"
        + " or name it (secrets.key-file), or give the key (HOLDFAST_SECRETS_KEY). Nothing in the"
        + " store was changed.";
  }

  /** All keys of a shared store, which has one that is not known here yet. */
  private Vault renewed() throws SQLException {
    try {
      List<WrappedKey> wrapped =
          transactions.read("reading the keys of secrets", StoreVault::wrapped);
      Optional<MasterKeys> masters = source.read();
      String missing = wrapped.isEmpty() ? "" : missing(wrapped, masters);
      if (missing != null) {
        throw new SQLException(notShared("the store", missing, masters.orElse(null), source));
      }
      Vault vault = vault(wrapped, masters.orElseThrow());
      synchronized (this) {
        inUse = masters.orElseThrow().find(wrapped.getLast().master()).orElse(inUse);
      }
      LOG.info("secrets.keys-renewed keys={}", vault.size());
      return vault;
    } catch (StoreException | KeysRefused e) {
      throw new SQLException("the keys of secrets cannot be read: " + e.getMessage(), e);
    }
  }

  private static List<WrappedKey> wrapped(Transactions.Statements connection) throws SQLException {
    List<WrappedKey> keys = new ArrayList<>();
    try (ResultSet rows =
        connection
            .prepare("SELECT " + DataKeys.COLUMNS + " FROM data_keys ORDER BY id")
            .executeQuery()) {
      while (rows.next()) {
        keys.add(DataKeys.key(rows));
      }
    }
    return keys;
  }

  /** Unwraps keys with master keys none of which is missing. */
  public static Vault vault(List<WrappedKey> wrapped, MasterKeys masters) throws Damaged {
    try {
      return Vault.open(wrapped, masters);
    } catch (NotAuthentic e) {
      throw new Damaged("a row of data_keys cannot be unwrapped: " + e.getMessage(), e);
    }
  }

  private static Optional<MasterKeys> read(MasterKeySource source) throws StoreRefused {
    try {
      return source.read();
    } catch (KeysRefused e) {
      throw refused(e);
    }
  }

  private static StoreRefused refused(KeysRefused e) {
    return new StoreRefused(e.getMessage() + StoreFile.UNTOUCHED, e);
  }

  private static String missing(
      Path file, String wanted, @Nullable MasterKeys found, MasterKeySource source) {
    return "The secrets in "
        + file
        + " are sealed under the master key "
        + wanted
        + ", which was not found: "
        + (found == null ? source.where() + " is not there" : found)
        + ". Put the file with that key back, or name it (secrets.key-file), or give the key"
        + " (HOLDFAST_SECRETS_KEY). Without that key, URLs, tokens and signing secrets cannot be"
        + " read by anybody."
        + StoreFile.UNTOUCHED;
  }

  /** Refuses keys that are none, before there is a store. */
  static void check(MasterKeySource source) throws StoreRefused {
    read(source);
  }

  /**
   * Sees to it that a store without keys can get its first, before its tables are changed: where no
   * master key can be made, an earlier version can still go on with the store.
   */
  static void prepare(Connection connection, MasterKeySource source)
      throws SQLException, StoreRefused {
    if (DataKeys.read(connection).isEmpty()) {
      readOrMake(source);
    }
  }

  private static MasterKeys readOrMake(MasterKeySource source) throws StoreRefused {
    try {
      return source.readOrMake();
    } catch (KeysRefused e) {
      throw new StoreRefused(String.valueOf(e.getMessage()), e);
    }
  }

  /**
   * Opens what is sealed. A store without keys gets its first; one whose keys are wrapped with an
   * older master key gets them wrapped with the current one.
   *
   * @param connection the writer's own
   */
  static StoreVault open(
      Connection connection,
      Transactions transactions,
      Seals seals,
      MasterKeySource source,
      Path file,
      Instant now)
      throws SQLException, StoreException, StoreRefused {
    List<WrappedKey> wrapped = DataKeys.read(connection);
    if (wrapped.isEmpty()) {
      StoreVault made = new StoreVault(transactions, seals, source, readOrMake(source).current());
      made.keep(Vault.make(now), made.inUse, null);
      LOG.info("secrets.key-first key={} source=\"{}\"", made.inUse.id(), source.where());
      return made;
    }
    Vault vault = unwrap(file, wrapped, source);
    MasterKeys masters = read(source).orElseThrow();
    MasterKey current = masters.current();
    StoreVault opened = new StoreVault(transactions, seals, source, current);
    if (wrapped.stream().allMatch(key -> key.master().equals(current.id()))) {
      seals.use(vault);
    } else {
      String before = wrapped.getLast().master();
      opened.keep(vault.withNewKey(now), current, rotated(Actor.SERVER, now, before, current.id()));
      LOG.info("secrets.key-rotated from={} to={}", before, current.id());
    }
    if (source instanceof KeyFile && masters.all().size() > 1) {
      tellLeft(masters);
    }
    return opened;
  }

  /** Tells of keys that nothing in the store is wrapped with. Whose they are is not known here. */
  private static void tellLeft(MasterKeys masters) {
    LOG.info(
        "secrets.key-left file={} key={} next=\"this store does not need it; remove its line when no"
            + " backup does\"",
        masters.origin(),
        masters.all().stream().skip(1).map(MasterKey::id).collect(Collectors.joining(",")));
  }

  /**
   * Wraps all keys with the master key, in one transaction, and uses them from then on.
   *
   * @param act what is written down of it
   */
  private void keep(Vault vault, MasterKey master, @Nullable Act act) throws StoreException {
    List<WrappedKey> wrapped = vault.wrap(master);
    transactions.transact(
        "keeping the keys of secrets",
        (own, chains) -> {
          if (transactions.isShared()) {
            transactions.lock(own, Transactions.Lock.DATA_KEYS);
            if (DataKeys.all(own).size() >= wrapped.size()) {
              throw new IllegalArgumentException(
                  "another node has just changed the master key; look which one is in use now");
            }
          }
          DataKeys.put(own, wrapped);
          if (act != null) {
            chains.append(act);
          }
        });
    seals.use(vault);
    inUse = master;
  }

  private static Act rotated(Actor by, Instant now, String from, String to) {
    return new Act(
        by,
        now,
        null,
        "master-key.rotated",
        null,
        new Facts().text("id", from),
        new Facts().text("id", to));
  }

  /** What is known of the master key in use. */
  public synchronized Shown shown() {
    Vault vault = seals.vault();
    return new Shown(inUse.id(), vault.since(), vault.size(), source.where());
  }

  /** The key file, if the master key comes from one. */
  public Optional<KeyFile> keyFile() {
    return source instanceof KeyFile file ? Optional.of(file) : Optional.empty();
  }

  /** A key that is made here is not on the other nodes, and they could not open what it seals. */
  private void refuseIfOthersWouldMiss(KeyFile file) throws StoreException, KeysRefused {
    boolean isPrepared = file.read().map(keys -> !keys.current().equals(inUse)).orElse(false);
    if (!isPrepared && transactions.read("looking for other nodes", StoreVault::nodes) > 1) {
      throw new KeysRefused(
          "Other nodes run on this store and would not have the new key. Put it as the first line"
              + " into the key file of every node (here "
              + file.path()
              + "), and then change it again.");
    }
  }

  private static long nodes(Transactions.Statements connection) throws SQLException {
    try (ResultSet row =
        connection
            .prepare("SELECT count(*) FROM nodes WHERE expires_at > clock_timestamp()")
            .executeQuery()) {
      return row.next() ? row.getLong(1) : 0;
    }
  }

  /**
   * Puts another master key into use: the first of the key file if that is not in use yet, and else
   * a new one. What was sealed before opens as before; what is sealed from now on is sealed with a
   * key that was never wrapped with the old one. Empty when the keys were set and are not in a
   * file.
   *
   * @param by who wants it
   */
  public synchronized Optional<Rotated> rotate(Actor by, Instant now)
      throws StoreException, KeysRefused {
    if (!(source instanceof KeyFile file)) {
      return Optional.empty();
    }
    if (transactions.isShared()) {
      refuseIfOthersWouldMiss(file);
      try {
        seals.use(renewed());
      } catch (SQLException e) {
        throw new StoreException(StoreException.Kind.AWAY, String.valueOf(e.getMessage()), e);
      }
    }
    MasterKey before = inUse;
    MasterKey next = file.begin(before).current();
    Vault vault = seals.vault().withNewKey(now);
    keep(vault, next, rotated(by, now, before.id(), next.id()));
    LOG.info("secrets.key-rotated from={} to={}", before.id(), next.id());
    try {
      file.finish(next, before);
    } catch (KeysRefused e) {
      LOG.warn(
          "secrets.key-left file={} key={} next=\"remove the old key's line by hand\"",
          file.path(),
          before.id(),
          e);
    }
    return Optional.of(new Rotated(before.id(), next.id(), vault.size()));
  }
}
