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
import java.sql.Statement;
import java.time.Duration;
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

  /** A state of our own, so that nobody takes it for a connection that was lost. */
  private static final String NO_MASTER_KEY = "HF004";

  private static final Duration TOLD_AGAIN = Duration.ofMinutes(1);

  private final Transactions transactions;
  private final Seals seals;
  private final MasterKeySource source;

  /** How many of the nodes that are heard of are this process. */
  private final int own;

  private MasterKey inUse;
  private @Nullable Long toldMissing;

  private StoreVault(
      Transactions transactions, Seals seals, MasterKeySource source, MasterKey inUse, int own) {
    this.transactions = transactions;
    this.seals = seals;
    this.source = source;
    this.inUse = inUse;
    this.own = own;
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
   * @param isOldKept whether the old one is left among the keys, as other nodes run that may have
   *     been told of the new one only now
   */
  public record Rotated(String from, String to, int dataKeys, boolean isOldKept) {}

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
   * Whichever of a node's keys is in use stays so: that is changed by {@link #rotate} alone, since
   * others may not know another yet.
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

  /**
   * Opens what is sealed in a store that nodes share, by one who is none of them. Changes nothing,
   * and refuses a store in which nothing is sealed yet.
   *
   * @param where the store, in words
   */
  public static StoreVault beside(Transactions transactions, MasterKeySource source, String where)
      throws StoreException, StoreRefused {
    List<WrappedKey> wrapped =
        transactions.read("reading the keys of secrets", StoreVault::wrapped);
    if (wrapped.isEmpty()) {
      throw new StoreRefused(
          "Nothing is sealed in " + where + " yet. The first server that starts on it does that.");
    }
    try {
      Seals seals = Seals.closed();
      StoreVault opened = known(wrapped, transactions, seals, source, where, 0);
      seals.use(vault(wrapped, read(source).orElseThrow()));
      seals.renewBy(opened::renewed);
      return opened;
    } catch (SQLException e) {
      throw new StoreException(StoreException.Kind.BROKEN, String.valueOf(e.getMessage()), e);
    }
  }

  /** The keys of a shared store, whichever of the master keys here they are wrapped with. */
  private static StoreVault known(
      List<WrappedKey> wrapped,
      Transactions transactions,
      Seals seals,
      MasterKeySource source,
      String where,
      int own)
      throws StoreRefused {
    Optional<MasterKeys> masters = read(source);
    String missing = missing(wrapped, masters);
    if (missing != null) {
      throw new StoreRefused(notShared(where, missing, masters.orElse(null), source));
    }
    MasterKey inUse = masters.orElseThrow().find(wrapped.getLast().master()).orElseThrow();
    return new StoreVault(transactions, seals, source, inUse, own);
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
    private boolean isFirst;

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
        open(connection);
      } catch (StoreRefused e) {
        refused = e;
      }
    }

    private void open(Connection connection) throws SQLException, StoreRefused {
      transactions.lock(connection, Transactions.Lock.DATA_KEYS);
      List<WrappedKey> wrapped = DataKeys.all(connection);
      if (wrapped.isEmpty()) {
        String origin = movedFromOrKeptOut(connection);
        if (origin != null) {
          throw new StoreRefused(
              "The store from "
                  + origin
                  + " is being moved into "
                  + where
                  + ". Let the move end, or repeat ./holdfast migrate if it was interrupted.");
        }
        MasterKey current = readOrMake(source).current();
        vault = Vault.make(now);
        DataKeys.put(connection, vault.wrap(current));
        opened = new StoreVault(transactions, seals, source, current, 1);
        isFirst = true;
        return;
      }
      opened = known(wrapped, transactions, seals, source, where, 1);
      vault = vault(wrapped, read(source).orElseThrow());
      isFirst = false;
    }

    StoreVault opened() throws StoreRefused {
      if (refused != null) {
        throw refused;
      }
      StoreVault result = Objects.requireNonNull(opened);
      seals.use(Objects.requireNonNull(vault));
      seals.renewBy(result::renewed);
      if (isFirst) {
        LOG.info("secrets.key-first key={} source=\"{}\"", result.inUse.id(), source.where());
      }
      return result;
    }
  }

  /** Where a shared store is being moved from; none begins until the transaction has ended. */
  private static @Nullable String movedFromOrKeptOut(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("LOCK TABLE data_keys IN ROW EXCLUSIVE MODE");
    }
    return movedFrom(connection);
  }

  /** Where a shared store is being moved from, if it is. */
  public static @Nullable String movedFrom(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery("SELECT origin FROM moves WHERE finished_at IS NULL")) {
      return row.next() ? row.getString(1) : null;
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
        String text = notShared("the store", missing, masters.orElse(null), source);
        tellMissing(missing, text);
        throw new SQLException(text, NO_MASTER_KEY);
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

  /** Others have gone on to a master key that is not here; told once a minute. */
  private synchronized void tellMissing(String missing, String text) {
    long now = System.nanoTime();
    if (toldMissing == null || now - toldMissing >= TOLD_AGAIN.toNanos()) {
      toldMissing = now;
      LOG.warn(
          "secrets.key-missing key={} detail=\"{}\" next=\"what others seal from now on cannot be"
              + " read here until the key is there\"",
          missing,
          text);
    }
  }

  /**
   * Looks whether other nodes have made a key since, and takes it into use: what is sealed here is
   * sealed with the newest. To be called now and then, at a shared store.
   */
  public void renewIfBehind() throws StoreException {
    long newest = transactions.read("looking for newer keys of secrets", StoreVault::newest);
    if (newest > seals.vault().newest()) {
      try {
        seals.use(renewed());
      } catch (SQLException e) {
        throw new StoreException(StoreException.Kind.AWAY, String.valueOf(e.getMessage()), e);
      }
    }
  }

  private static long newest(Transactions.Statements connection) throws SQLException {
    try (ResultSet row = connection.prepare("SELECT max(id) FROM data_keys").executeQuery()) {
      return row.next() ? row.getLong(1) : 0;
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
      StoreVault made =
          new StoreVault(transactions, seals, source, readOrMake(source).current(), 0);
      made.keep(Vault.make(now), made.inUse, null);
      LOG.info("secrets.key-first key={} source=\"{}\"", made.inUse.id(), source.where());
      return made;
    }
    Vault vault = unwrap(file, wrapped, source);
    MasterKeys masters = read(source).orElseThrow();
    MasterKey current = masters.current();
    StoreVault opened = new StoreVault(transactions, seals, source, current, 0);
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

  /** Whether others take part in the store, who know only the keys that they were given. */
  private boolean hasOthers() throws StoreException {
    return transactions.isShared()
        && transactions.read("looking for other nodes", StoreVault::nodes) > own;
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
   * file, where a start changes them.
   *
   * <p>At a store that nodes share, keys that were set will do as well; and while others take part,
   * no key is made that they would not have, and none is removed that they may still need.
   *
   * @param by who wants it
   */
  public synchronized Optional<Rotated> rotate(Actor by, Instant now)
      throws StoreException, KeysRefused {
    if (!transactions.isShared() && !(source instanceof KeyFile)) {
      return Optional.empty();
    }
    boolean hasOthers = hasOthers();
    if (transactions.isShared()) {
      try {
        seals.use(renewed());
      } catch (SQLException e) {
        throw new StoreException(StoreException.Kind.AWAY, String.valueOf(e.getMessage()), e);
      }
    }
    MasterKey before = inUse;
    MasterKey next = next(before, hasOthers);
    Vault vault = seals.vault().withNewKey(now);
    keep(vault, next, rotated(by, now, before.id(), next.id()));
    LOG.info("secrets.key-rotated from={} to={}", before.id(), next.id());
    if (source instanceof KeyFile file) {
      if (hasOthers) {
        LOG.info(
            "secrets.key-left file={} key={} next=\"other servers run; remove the old key's line when"
                + " all of them have the new one and no backup needs it\"",
            file.path(),
            before.id());
      } else {
        finish(file, next, before);
      }
    }
    return Optional.of(new Rotated(before.id(), next.id(), vault.size(), hasOthers));
  }

  /** The key to be used next. A key that is made here would not be on the other nodes. */
  private MasterKey next(MasterKey before, boolean hasOthers) throws KeysRefused {
    MasterKey first = source.read().map(MasterKeys::current).orElse(before);
    if (!(source instanceof KeyFile file)) {
      if (first.equals(before)) {
        throw new KeysRefused(
            "The first of the keys in "
                + source.where()
                + " is in use already. Give all servers the new key behind it first, and then set"
                + " the new one before it and change it again.");
      }
      return first;
    }
    if (hasOthers && first.equals(before)) {
      throw new KeysRefused(
          "Other servers run on this store and would not have the new key. Put it into the key file"
              + " of every server, as the last line, and then move it to the first line here ("
              + file.path()
              + ") and change it again.");
    }
    return file.begin(before).current();
  }

  private static void finish(KeyFile file, MasterKey next, MasterKey before) {
    try {
      file.finish(next, before);
    } catch (KeysRefused e) {
      LOG.warn(
          "secrets.key-left file={} key={} next=\"remove the old key's line by hand\"",
          file.path(),
          before.id(),
          e);
    }
  }
}
