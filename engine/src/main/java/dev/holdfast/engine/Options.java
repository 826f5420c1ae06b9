package dev.holdfast.engine;

import dev.holdfast.core.path.Limits;
import dev.holdfast.core.path.Overload;
import dev.holdfast.core.rules.EndpointHealth;
import dev.holdfast.core.rules.Recovery;
import dev.holdfast.core.rules.RetrySchedule;
import dev.holdfast.engine.egress.Egress;
import dev.holdfast.engine.store.Retention;
import dev.holdfast.engine.store.postgres.PostgresOptions;
import dev.holdfast.engine.vault.KeyFile;
import dev.holdfast.engine.vault.MasterKeySource;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How an engine is to run.
 *
 * @param data the directory of the embedded store; made when absent
 * @param timeout the time that one attempt may take, from name lookup to the end of the headers
 * @param egress where attempts may go, and how
 * @param userAgent what receivers see as {@code User-Agent}
 * @param retention how long what is finished is kept
 * @param masterKeys where the key comes from that secrets are sealed under
 * @param version of the program, for people
 * @param shared the database that the engine shares with others, instead of the embedded store
 */
public record Options(
    Path data,
    RetrySchedule schedule,
    EndpointHealth health,
    Recovery recovery,
    Limits limits,
    Overload overload,
    Duration timeout,
    Egress egress,
    String userAgent,
    Retention retention,
    MasterKeySource masterKeys,
    String version,
    @Nullable Shared shared) {

  /**
   * A database that several engines share.
   *
   * @param listens whether other nodes can wake this one; without that it looks every second
   */
  public record Shared(PostgresOptions database, boolean listens) {}

  /** Options with the embedded store, of a program that does not say its version. */
  public Options(
      Path data,
      RetrySchedule schedule,
      EndpointHealth health,
      Recovery recovery,
      Limits limits,
      Overload overload,
      Duration timeout,
      Egress egress,
      String userAgent,
      Retention retention,
      MasterKeySource masterKeys) {
    this(
        data,
        schedule,
        health,
        recovery,
        limits,
        overload,
        timeout,
        egress,
        userAgent,
        retention,
        masterKeys,
        "",
        null);
  }

  /** The same with a database that others share. */
  public Options with(Shared database) {
    return new Options(
        data,
        schedule,
        health,
        recovery,
        limits,
        overload,
        timeout,
        egress,
        userAgent,
        retention,
        masterKeys,
        version,
        database);
  }

  /** Options without quotas or a reserve on disk, with the key file in the data directory. */
  public Options(
      Path data,
      RetrySchedule schedule,
      EndpointHealth health,
      Recovery recovery,
      Limits limits,
      Duration timeout,
      Egress egress,
      String userAgent,
      Retention retention) {
    this(
        data,
        schedule,
        health,
        recovery,
        limits,
        Overload.NONE,
        timeout,
        egress,
        userAgent,
        retention,
        KeyFile.in(data));
  }
}
