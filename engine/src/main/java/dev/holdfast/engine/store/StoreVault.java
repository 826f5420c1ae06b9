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
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
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

  private final Writer writer;
  private final Seals seals;
  private final MasterKeySource source;
  private MasterKey inUse;

  private StoreVault(Writer writer, Seals seals, MasterKeySource source, MasterKey inUse) {
    this.writer = writer;
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
    String missing =
        masters.isEmpty()
            ? wrapped.getLast().master()
            : Vault.missing(wrapped, masters.get()).orElse(null);
    if (missing != null) {
      throw new StoreRefused(missing(file, missing, masters.orElse(null), source));
    }
    return vault(wrapped, masters.orElseThrow());
  }

  static Vault vault(List<WrappedKey> wrapped, MasterKeys masters) throws Damaged {
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
      Writer writer,
      Seals seals,
      MasterKeySource source,
      Path file,
      Instant now)
      throws SQLException, StoreException, StoreRefused {
    List<WrappedKey> wrapped = DataKeys.read(connection);
    if (wrapped.isEmpty()) {
      StoreVault made = new StoreVault(writer, seals, source, readOrMake(source).current());
      made.keep(Vault.make(now), made.inUse, null);
      LOG.info("secrets.key-first key={} source=\"{}\"", made.inUse.id(), source.where());
      return made;
    }
    Vault vault = unwrap(file, wrapped, source);
    MasterKeys masters = read(source).orElseThrow();
    MasterKey current = masters.current();
    StoreVault opened = new StoreVault(writer, seals, source, current);
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
    writer.transact(
        "keeping the keys of secrets",
        (own, chains) -> {
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
