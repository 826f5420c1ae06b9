package dev.holdfast.engine.store.postgres;

import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.ApiKeys;
import dev.holdfast.engine.store.Audit;
import dev.holdfast.engine.store.StoreLimits;
import dev.holdfast.engine.store.StoreRefused;
import dev.holdfast.engine.store.StoreVault;
import dev.holdfast.engine.vault.MasterKeySource;

/**
 * A database that is opened beside the nodes that share it, for its keys and its audit log. Decides
 * for nothing, and changes no table.
 */
public final class BesideNodes implements AutoCloseable {
  private final Connections connections;

  private BesideNodes(Connections connections) {
    this.connections = connections;
  }

  /** Opens a database whose tables are as this program needs them. */
  public static BesideNodes open(PostgresOptions options) throws StoreRefused {
    Connections connections = new Connections(options);
    try {
      connections.reach();
      Schema.check(connections);
      return new BesideNodes(connections);
    } catch (StoreException e) {
      connections.close();
      throw new StoreRefused(options.place() + " cannot be opened: " + e.getMessage(), e);
    } catch (StoreRefused | RuntimeException e) {
      connections.close();
      throw e;
    }
  }

  /** The keys of the API. */
  public ApiKeys apiKeys() {
    return new ApiKeys(new PostgresTransactions(connections));
  }

  /** What people and keys have changed. */
  public Audit audit() {
    return new Audit(new PostgresTransactions(connections), StoreLimits.DEFAULT.historyRows());
  }

  /** What the secrets are sealed with. Refused where nothing is sealed yet: a node makes that. */
  public StoreVault vault(MasterKeySource keys) throws StoreException, StoreRefused {
    return StoreVault.beside(
        new PostgresTransactions(connections), keys, connections.options().place());
  }

  @Override
  public void close() {
    connections.close();
  }
}
