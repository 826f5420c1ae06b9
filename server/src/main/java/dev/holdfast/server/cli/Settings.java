package dev.holdfast.server.cli;

import dev.holdfast.core.path.Limits;
import dev.holdfast.core.path.Overload;
import dev.holdfast.core.path.Quota;
import dev.holdfast.core.rules.EndpointHealth;
import dev.holdfast.core.rules.Recovery;
import dev.holdfast.core.rules.RetrySchedule;
import dev.holdfast.engine.Options;
import dev.holdfast.engine.egress.Egress;
import dev.holdfast.engine.egress.EgressRules;
import dev.holdfast.engine.egress.Ports;
import dev.holdfast.engine.egress.Proxy;
import dev.holdfast.engine.store.Facts;
import dev.holdfast.engine.store.Retention;
import dev.holdfast.engine.store.postgres.PostgresOptions;
import dev.holdfast.engine.vault.KeyFile;
import dev.holdfast.engine.vault.MasterKey;
import dev.holdfast.engine.vault.MasterKeySource;
import dev.holdfast.server.api.SettingInUse;
import dev.holdfast.server.api.SettingInUse.From;
import dev.holdfast.server.cli.InvalidSettings.Problem;
import dev.holdfast.server.tracing.Tracing;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Everything that can be set, and what it was set to.
 *
 * <p>A value on the command line goes before one in the environment, that before one in the file,
 * and that before the default. Every value given is checked, also one that another goes before.
 */
final class Settings {
  private static final List<Setting<?>> CATALOGUE = new ArrayList<>();

  /** What a name looks like that may be shown: a setting's, and not a key in the wrong place. */
  private static final Pattern NAME = Pattern.compile("[a-z0-9.-]{0,39}|HOLDFAST_[A-Za-z0-9_]*");

  /** From the last moment that an attempt may end to the end of a lease. */
  private static final Duration LEASE_MARGIN = Duration.ofSeconds(1);

  /** What a key must have that others can try to guess. */
  private static final int OPEN_KEY_CHARS = 32;

  static final Setting<String> SERVER_HOST =
      declare(
          "server.host",
          Kind.host(),
          "127.0.0.1",
          "The address to listen on. By default only this machine can connect.");

  static final Setting<Integer> SERVER_PORT =
      declare(
          "server.port",
          Kind.whole(0, 65_535),
          "8080",
          "The port to listen on; 0 takes any that is free. The same as --port.");

  static final Setting<Optional<Path>> SERVER_TLS_CERTIFICATE =
      declare(
          "server.tls.certificate",
          Kind.optionalFile(),
          "",
          "A PEM file with the server's certificate and those that lead to its authority. With"
              + " server.tls.key it makes the server speak HTTPS (TLS 1.3 or 1.2) instead of HTTP. Both"
              + " are read again when they change.");

  static final Setting<Optional<Path>> SERVER_TLS_KEY =
      declare(
          "server.tls.key",
          Kind.optionalFile(),
          "",
          "A PEM file with the private key of server.tls.certificate (BEGIN PRIVATE KEY), which only"
              + " this server's user should be able to read.");

  static final Setting<Path> DATA =
      declare(
          "data",
          Kind.directory(),
          "holdfast-data",
          "The directory of the embedded store. The same as --data.");

  static final Setting<Optional<String>> STORE_URL =
      declare(
          "store.url",
          Kind.optionalDatabase(),
          "",
          "A PostgreSQL database, version 15 or later, that is the store instead of the embedded one. All"
              + " servers with the same database are one system. Parameters of the driver can follow a"
              + " ?, such as sslmode=verify-full&sslrootcert=FILE. The same as --store.");

  static final Setting<Optional<String>> STORE_USER =
      declare(
          "store.user",
          Kind.optionalWord(),
          "",
          "The user of store.url, if that does not name one.");

  static final Setting<Optional<String>> STORE_PASSWORD =
      declare(
          "store.password",
          Kind.optionalPassword(),
          "",
          "The user's password, if store.url does not have it.");

  static final Setting<Integer> STORE_CONNECTIONS =
      declare(
          "store.connections",
          Kind.whole(2, 1_000),
          "10",
          "How many connections to store.url are used at most for reading; a few more are open for"
              + " writing and for the lease.");

  static final Setting<StoreMigration> STORE_MIGRATE =
      declare(
          "store.migrate",
          Kind.choice(StoreMigration.class),
          "auto",
          "What a server does when the tables of store.url are older than it needs: auto changes them,"
              + " check does not start until ./holdfast schema --apply has done so.");

  static final Setting<Duration> CLUSTER_LEASE =
      declare(
          "cluster.lease",
          Kind.duration("2s", "10m"),
          "15s",
          "After how long others take over from a server with the same store.url that is not heard of."
              + " Longer than delivery.timeout: attempts stop that long before.");

  static final Setting<Optional<String>> CLUSTER_NAME =
      declare(
          "cluster.name",
          Kind.optionalWord(),
          "",
          "What people call this server among those with the same store.url. Without it the name of the"
              + " machine.");

  static final Setting<Optional<String>> ADMIN_KEY =
      declare(
          "admin.key",
          Kind.optionalKey(),
          "",
          "A fixed key for automation: an admin of all tenants for as long as it is set, and never"
              + " stored. Without it a key is made at the first start and printed once. It must have 32"
              + " characters or more where server.host lets others connect.");

  static final Setting<Duration> SESSION_LENGTH =
      declare(
          "session.length",
          Kind.duration("1m", "90d"),
          "12h",
          "How long somebody who has signed in with a browser stays signed in. It ends earlier when they"
              + " sign out, or their key is revoked or expires.");

  static final Setting<List<MasterKey>> SECRETS_KEY =
      declare(
          "secrets.key",
          Kind.masterKeys(),
          "",
          "The master key that URLs, tokens and signing secrets are sealed under in the store, instead"
              + " of one in a file. Behind a comma, older ones that can still be opened with.");

  static final Setting<Optional<Path>> SECRETS_KEY_FILE =
      declare(
          "secrets.key-file",
          Kind.optionalFile(),
          "",
          "The file with the master key, one a line, the current one first. Without it "
              + KeyFile.NAME
              + " in the data directory. It is made with a new store; keep a copy elsewhere.");

  static final Setting<Duration> RETRY_UNIT =
      declare(
          "retry.unit",
          Kind.duration("1ms", "24h"),
          "84800ms",
          "The gap before the first retry. Retry n comes (2^n - 1) units after the first attempt"
              + " failed.");

  static final Setting<Integer> RETRY_MAX =
      declare(
          "retry.max",
          Kind.whole(1, RetrySchedule.MOST_RETRIES),
          "11",
          "How many retries follow the first attempt. The last one's slot is the deadline.");

  static final Setting<Duration> DELIVERY_TIMEOUT =
      declare(
          "delivery.timeout",
          Kind.duration("10ms", "10m"),
          "5s",
          "The time that one attempt may take, from name lookup to the end of the answer's"
              + " headers.");

  static final Setting<Integer> DELIVERY_IN_FLIGHT =
      declare(
          "delivery.in-flight",
          Kind.whole(1, 1_024),
          "32",
          "Attempts under way to one endpoint at once.");

  static final Setting<Integer> CIRCUIT_MIN_ATTEMPTS =
      declare(
          "circuit.min-attempts",
          Kind.whole(0, 1_000_000),
          "100",
          "The failure rate counts once more than this many attempts are counted.");

  static final Setting<Integer> CIRCUIT_FAILURE_RATE =
      declare(
          "circuit.failure-rate",
          Kind.rate(),
          "0.70",
          "An endpoint is disabled when more than this share of its attempts fails. 1 turns the"
              + " rule off.");

  static final Setting<Integer> CIRCUIT_WINDOW =
      declare(
          "circuit.window",
          Kind.whole(2, 1_000_000),
          "1000",
          "How many attempts the failure rate looks back at.");

  static final Setting<Integer> CIRCUIT_DISABLE_AFTER =
      declare(
          "circuit.disable-after",
          Kind.whole(1, 1_000_000_000),
          "2000",
          "Consecutive failures that disable an endpoint.");

  static final Setting<Duration> CIRCUIT_FREEZE_SILENCE =
      declare(
          "circuit.freeze-silence",
          Kind.duration("0s", "3650d"),
          "72h",
          "An endpoint with more than circuit.disable-after consecutive failures is frozen when its"
              + " last success is longer ago than this.");

  static final Setting<Integer> CIRCUIT_FREEZE_AT =
      declare(
          "circuit.freeze-at",
          Kind.whole(1, 1_000_000_000),
          "50000",
          "Consecutive failures that freeze an endpoint in any case.");

  static final Setting<Duration> CIRCUIT_PROBE_EVERY =
      declare(
          "circuit.probe-every",
          Kind.duration("10ms", "7d"),
          "10m",
          "The time from the end of one probe of a disabled endpoint to the next.");

  static final Setting<Recovery> RECOVERY =
      declare(
          "recovery",
          Kind.choice(Recovery.class),
          "drain",
          "What happens to waiting messages when their endpoint becomes enabled: drain sends them"
              + " at once, schedule keeps their slots.");

  static final Setting<Duration> WORKFRONT_BOTH_VERSIONS =
      declare(
          "workfront.both-versions",
          Kind.duration("0s", "24h"),
          "5m",
          "How long after a change of its version a subscription in the format workfront gets each"
              + " event twice, once in each version; 0s for only in the new one.");

  static final Setting<Integer> MESSAGE_MAX_BYTES =
      declare(
          "message.max-bytes",
          Kind.bytes("1KB", "8MB"),
          "1048576",
          "How large data and previous of an event may be together.");

  static final Setting<Long> OVERLOAD_MAX_BYTES =
      declare(
          "overload.max-bytes",
          Kind.largeBytes("32MB", "64GB"),
          "0",
          "Bytes of events that are accepted but not on disk yet, and likewise of requests being"
              + " received; 0 for an eighth of the memory each. A tenant may have as much of it as is"
              + " still free: one that floods gets a 429 at half of it and leaves room for others.");

  static final Setting<Integer> QUOTA_EVENTS_PER_SECOND =
      declare(
          "quota.events-per-second",
          Kind.eventsPerSecond(),
          "0",
          "How many events a second each tenant may send; 0 for any number. More gets a 429 with the"
              + " time to wait.");

  static final Setting<Duration> QUOTA_BURST =
      declare(
          "quota.burst",
          Kind.duration("1s", "1h"),
          "10s",
          "How much of quota.events-per-second may be used at once: the events of this long. A larger"
              + " batch gets a 413.");

  static final Setting<Long> QUOTA_STORED_BYTES =
      declare(
          "quota.stored-bytes",
          Kind.storedBytes(),
          "0",
          "How many bytes of each tenant's events are kept, each reckoned as data and previous and 256"
              + " bytes; 0 for any number. More gets a 429 until retention has removed old ones.");

  static final Setting<Map<String, Kind.TenantQuota>> QUOTA_TENANTS =
      declare(
          "quota.tenants",
          Kind.tenantQuotas(),
          "",
          "Other quotas for single tenants, such as"
              + " acme:events-per-second=100,acme:stored-bytes=10GB; 0 for any number.");

  static final Setting<Long> STORE_RESERVE =
      declare(
          "store.reserve",
          Kind.largeBytes("1MB", "1024GB"),
          "256MB",
          "Room on the store's disk that is left for the outcomes of deliveries: when less is free,"
              + " events get a 503 and deliveries go on; when an eighth of it is left, no attempt"
              + " starts. 0 accepts until the disk is full. Has no meaning for a database.");

  static final Setting<Duration> RETENTION =
      declare(
          "retention",
          Kind.duration("1h", "3650d"),
          "30d",
          "How long an event is kept with its messages and attempts after the last message has"
              + " finished. What is unfinished is never removed.");

  static final Setting<Long> RETENTION_MAX_BYTES =
      declare(
          "retention.max-bytes",
          Kind.largeBytes("16MB", "1048576GB"),
          "0",
          "How much room on disk the store may use before finished events go earlier than retention"
              + " says, the oldest first; 0 for as much as they need. A database lets them go by"
              + " whole parts of some hours.");

  static final Setting<List<String>> EGRESS_ALLOW =
      declare(
          "egress.allow",
          Kind.addressRanges(),
          "",
          "Address ranges that may be delivered to though they are private, such as 127.0.0.0/8 to"
              + " try things out on this machine.");

  static final Setting<List<String>> EGRESS_DENY =
      declare(
          "egress.deny",
          Kind.addressRanges(),
          "",
          "Address ranges that are never delivered to, whatever egress.allow says, also when they are"
              + " public.");

  static final Setting<Ports> EGRESS_PORTS =
      declare(
          "egress.ports", Kind.ports(), "80,443,1024-65535", "The ports that may be delivered to.");

  static final Setting<Optional<Proxy>> EGRESS_PROXY =
      declare(
          "egress.proxy",
          Kind.optionalProxy(),
          "",
          "A proxy that deliveries go through, by CONNECT, to addresses that were looked up and"
              + " checked here. No other proxy is used, whatever the system says.");

  static final Setting<Boolean> EGRESS_PROXY_NAMES =
      declare(
          "egress.proxy-names",
          Kind.flag(),
          "false",
          "Whether egress.proxy is given names to look up instead of addresses. Then it is the proxy"
              + " that decides which addresses may be reached.");

  static final Setting<List<X509Certificate>> EGRESS_TRUST =
      declare(
          "egress.trust",
          Kind.certificates(),
          "",
          "A PEM file with the certificates of authorities that are trusted besides the usual ones,"
              + " such as a company's own. It is read at the start.");

  static final Setting<Logging.Format> LOG_FORMAT =
      declare(
          "log.format",
          Kind.choice(Logging.Format.class),
          "human",
          "How the log reads: human has lines for people, json an object a line.");

  static final Setting<Logging.Level> LOG_LEVEL =
      declare(
          "log.level",
          Kind.choice(Logging.Level.class),
          "info",
          "What the log tells. debug adds a line for every delivery: not for a busy server.");

  static final Setting<Optional<URI>> TRACING_ENDPOINT =
      declare(
          "tracing.endpoint",
          Kind.optionalCollector(),
          "",
          "Where traces are sent, by OTLP over HTTP. Empty: there are none.");

  static final Setting<Integer> TRACING_SAMPLE =
      declare(
          "tracing.sample",
          Kind.rate(),
          "1.0",
          "The share of the traces beginning here that is kept. A trace that comes with an event is"
              + " kept when whoever began it keeps it.");

  static final Setting<String> TRACING_SERVICE_NAME =
      declare(
          "tracing.service-name",
          Kind.name(),
          "holdfast",
          "What traces call this service. Give each of several servers the same.");

  /** Variables that begin like settings and are read by the launcher or by other commands. */
  static final SortedMap<String, String> OTHER_VARIABLES =
      Collections.unmodifiableSortedMap(
          new TreeMap<>(
              Map.of(
                  "HOLDFAST_JAVA_OPTS",
                  "options for the Java virtual machine, such as -Xmx2g",
                  Listen.SECRET_VARIABLE,
                  "secrets that listen verifies signatures with, separated by blanks",
                  ClientOptions.SERVER_VARIABLE,
                  "the server that send, messages and other commands ask",
                  ClientOptions.KEY_VARIABLE,
                  "the key that they send; without it HOLDFAST_ADMIN_KEY",
                  ClientOptions.CA_VARIABLE,
                  "a PEM file with authorities that they trust besides the usual ones")));

  /** What a server does with tables that are older than it needs. */
  enum StoreMigration {
    AUTO,
    CHECK
  }

  /**
   * Where settings are given.
   *
   * @param file the settings file, if any
   * @param environment all environment variables of the process
   * @param assignments {@code KEY=VALUE} as on the command line, in order
   * @param flags values given by a flag of their own, by the flag
   */
  record Sources(
      @Nullable Path file,
      Map<String, String> environment,
      List<String> assignments,
      Map<String, Flag> flags) {

    /** A flag that stands for a setting. */
    record Flag(Setting<?> setting, String value) {}
  }

  /** A value as it was given. */
  private record Given(String text, String origin) {}

  private final Map<String, Given> given;

  private Settings(Map<String, Given> given) {
    this.given = given;
  }

  private static <T> Setting<T> declare(
      String key, Kind<T> kind, String defaultText, String description) {
    Setting<T> setting = new Setting<>(key, kind, defaultText, description);
    CATALOGUE.add(setting);
    return setting;
  }

  /** Every setting, in the order that people should meet them. */
  static List<Setting<?>> catalogue() {
    return List.copyOf(CATALOGUE);
  }

  /** Reads and checks all sources. */
  static Settings read(Sources sources) throws InvalidSettings {
    Reader reader = new Reader();
    reader.readFile(sources.file());
    reader.readEnvironment(sources.environment());
    reader.readCommandLine(sources.assignments(), sources.flags());
    Settings settings = new Settings(reader.given);
    if (reader.problems.isEmpty()) {
      settings.checkTogether(reader.problems);
    }
    if (!reader.problems.isEmpty()) {
      throw new InvalidSettings(reader.problems);
    }
    return settings;
  }

  <T> T get(Setting<T> setting) {
    Given value = given.get(setting.key());
    try {
      return setting.kind().read(value == null ? setting.defaultText() : value.text());
    } catch (BadValue e) {
      throw new IllegalStateException(setting.key() + " was checked before", e);
    }
  }

  /** Where the value comes from, to follow "from". */
  String origin(Setting<?> setting) {
    Given value = given.get(setting.key());
    return value == null ? "default" : value.origin();
  }

  RetrySchedule retrySchedule() {
    return new RetrySchedule(get(RETRY_UNIT), get(RETRY_MAX));
  }

  EndpointHealth endpointHealth() {
    return new EndpointHealth(
        get(CIRCUIT_MIN_ATTEMPTS),
        get(CIRCUIT_FAILURE_RATE),
        get(CIRCUIT_WINDOW),
        get(CIRCUIT_DISABLE_AFTER),
        get(CIRCUIT_FREEZE_SILENCE),
        get(CIRCUIT_FREEZE_AT),
        get(CIRCUIT_PROBE_EVERY));
  }

  /**
   * What the engine needs to know.
   *
   * @param heapBytes how much memory the process may use
   * @param connections how many connections to endpoints the process may have
   */
  Options options(long heapBytes, int connections, String version) {
    Options embedded = embedded(heapBytes, connections, version);
    return database()
        .map(database -> embedded.with(new Options.Shared(database.withVersion(version), true)))
        .orElse(embedded);
  }

  /** The database that is the store, if one is. */
  Optional<PostgresOptions> database() {
    return get(STORE_URL)
        .map(
            url ->
                new PostgresOptions(
                    url,
                    get(STORE_USER).orElse(null),
                    get(STORE_PASSWORD).orElse(null),
                    get(STORE_CONNECTIONS),
                    get(CLUSTER_LEASE),
                    get(CLUSTER_NAME).orElseGet(Settings::machine)));
  }

  private static String machine() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "node";
    }
  }

  private Options embedded(long heapBytes, int connections, String version) {
    return new Options(
        get(DATA),
        retrySchedule(),
        endpointHealth(),
        get(RECOVERY),
        limits(heapBytes, connections),
        overload(),
        get(DELIVERY_TIMEOUT),
        egress(),
        "Holdfast/" + version,
        retention(),
        masterKeys(),
        version,
        null);
  }

  Retention retention() {
    return new Retention(get(RETENTION), get(RETENTION_MAX_BYTES));
  }

  /** Where the master key comes from. */
  MasterKeySource masterKeys() {
    List<MasterKey> keys = get(SECRETS_KEY);
    return keys.isEmpty()
        ? new KeyFile(get(SECRETS_KEY_FILE).orElse(get(DATA).resolve(KeyFile.NAME)))
        : new MasterKeySource.Given(keys, SECRETS_KEY.key() + " (" + origin(SECRETS_KEY) + ")");
  }

  private Egress egress() {
    boolean looksUpNames = get(EGRESS_PROXY_NAMES);
    return new Egress(
        EgressRules.of(get(EGRESS_ALLOW), get(EGRESS_DENY), get(EGRESS_PORTS)),
        get(EGRESS_PROXY)
            .map(proxy -> new Proxy(proxy.host(), proxy.port(), proxy.credentials(), looksUpNames))
            .orElse(null),
        get(EGRESS_TRUST));
  }

  private Limits limits(long heapBytes, int connections) {
    Limits limits =
        Limits.forHeap(heapBytes, get(DELIVERY_IN_FLIGHT))
            .withInFlight(connections)
            .withBothVersions(get(WORKFRONT_BOTH_VERSIONS));
    long most = get(OVERLOAD_MAX_BYTES);
    return most == 0 ? limits : limits.withAcceptingBytes(most);
  }

  private Overload overload() {
    Quota every = new Quota(get(QUOTA_EVENTS_PER_SECOND), get(QUOTA_STORED_BYTES));
    Map<String, Quota> tenants = new HashMap<>();
    get(QUOTA_TENANTS).forEach((tenant, own) -> tenants.put(tenant, quota(own, every)));
    return new Overload(every, tenants, get(QUOTA_BURST), get(STORE_RESERVE));
  }

  private static Quota quota(Kind.TenantQuota own, Quota every) {
    Long events = own.eventsPerSecond();
    Long bytes = own.storedBytes();
    return new Quota(
        events == null ? every.eventsPerSecond() : events,
        bytes == null ? every.storedBytes() : bytes);
  }

  /** How traces are to be made, if they are. */
  Optional<Tracing.Options> tracing(String version) {
    return get(TRACING_ENDPOINT)
        .map(
            endpoint ->
                new Tracing.Options(
                    endpoint, get(TRACING_SAMPLE), get(TRACING_SERVICE_NAME), version));
  }

  /** What is otherwise than by default, without secrets. */
  Facts facts() {
    Facts facts = new Facts();
    for (Setting<?> setting : CATALOGUE) {
      Given value = given.get(setting.key());
      if (value != null && !value.text().equals(setting.defaultText())) {
        facts.masked(
            setting.key(), value.text(), setting.kind().isSecret() ? "****" : value.text());
      }
    }
    return facts;
  }

  /** All that the server runs with, without secrets. */
  List<SettingInUse> inUse() {
    return CATALOGUE.stream().map(this::inUse).toList();
  }

  private SettingInUse inUse(Setting<?> setting) {
    Given value = given.get(setting.key());
    String text = value == null ? setting.defaultText() : value.text();
    return new SettingInUse(
        setting.key(),
        setting.kind().isSecret() && !text.isEmpty() ? "****" : text,
        setting.defaultText(),
        value == null ? From.DEFAULT : from(setting, value.origin()),
        setting.description());
  }

  private static From from(Setting<?> setting, String origin) {
    if (origin.startsWith("--")) {
      return From.ARGUMENT;
    }
    return origin.equals(setting.variable()) ? From.ENVIRONMENT : From.FILE;
  }

  /** What was given, without secrets. */
  @Override
  public String toString() {
    return CATALOGUE.stream()
        .flatMap(
            setting ->
                Stream.ofNullable(given.get(setting.key())).map(value -> show(setting, value)))
        .collect(Collectors.joining(", ", "[", "]"));
  }

  private static String show(Setting<?> setting, Given value) {
    String text = setting.kind().isSecret() ? "" : "=" + Printable.text(value.text(), 80);
    return setting.key() + text + " (" + value.origin() + ")";
  }

  boolean isEncrypted() {
    return get(SERVER_TLS_CERTIFICATE).isPresent();
  }

  /** Whether only this machine can connect to the server. */
  boolean isLoopback() {
    return Set.of("127.0.0.1", "localhost", "::1").contains(get(SERVER_HOST));
  }

  private void checkTogether(List<Problem> problems) {
    if (get(CIRCUIT_MIN_ATTEMPTS) >= get(CIRCUIT_WINDOW)) {
      problems.add(
          new Problem(
              CIRCUIT_MIN_ATTEMPTS.key(),
              origin(CIRCUIT_MIN_ATTEMPTS),
              "is %d, but must be less than circuit.window, which is %d (%s): so many attempts are never counted, and the failure rate would never matter"
                  .formatted(
                      get(CIRCUIT_MIN_ATTEMPTS), get(CIRCUIT_WINDOW), origin(CIRCUIT_WINDOW))));
    }
    if (!get(SECRETS_KEY).isEmpty() && get(SECRETS_KEY_FILE).isPresent()) {
      problems.add(
          new Problem(
              SECRETS_KEY_FILE.key(),
              origin(SECRETS_KEY_FILE),
              "is given, and so is secrets.key (%s); leave one of them out"
                  .formatted(origin(SECRETS_KEY))));
    }
    checkShared(problems);
    Optional<String> key = get(ADMIN_KEY);
    if (!isLoopback() && key.isPresent() && key.get().length() < OPEN_KEY_CHARS) {
      problems.add(
          new Problem(
              ADMIN_KEY.key(),
              origin(ADMIN_KEY),
              "has %d characters, but server.host is %s (%s), so that others can connect, who may guess it; give it at least %d random ones, as from: openssl rand -hex 24"
                  .formatted(
                      key.get().length(), get(SERVER_HOST), origin(SERVER_HOST), OPEN_KEY_CHARS)));
    }
    if (get(SERVER_TLS_CERTIFICATE).isPresent() != get(SERVER_TLS_KEY).isPresent()) {
      Setting<?> given = get(SERVER_TLS_KEY).isPresent() ? SERVER_TLS_KEY : SERVER_TLS_CERTIFICATE;
      problems.add(
          new Problem(
              given.key(),
              origin(given),
              "is given alone; server.tls.certificate and server.tls.key are given together, or neither is"));
    }
    if (get(EGRESS_PROXY_NAMES) && get(EGRESS_PROXY).isEmpty()) {
      problems.add(
          new Problem(
              EGRESS_PROXY_NAMES.key(),
              origin(EGRESS_PROXY_NAMES),
              "is true, but there is no egress.proxy that could be given names; set that, or leave this out"));
    }
  }

  private void checkShared(List<Problem> problems) {
    if (get(STORE_URL).isEmpty()) {
      return;
    }
    if (origin(STORE_URL).equals("--store") && origin(DATA).equals("--data")) {
      problems.add(
          new Problem(
              "--data",
              "command line",
              "is given, and so is --store: the store is either the embedded one in a directory or a database; leave one of them out"));
    }
    Duration least = get(DELIVERY_TIMEOUT).plus(LEASE_MARGIN).multipliedBy(5).dividedBy(3);
    if (get(CLUSTER_LEASE).compareTo(least) < 0) {
      problems.add(
          new Problem(
              CLUSTER_LEASE.key(),
              origin(CLUSTER_LEASE),
              "is %d ms, but must be at least %d ms where delivery.timeout is %d ms (%s): attempts have to end before others take over"
                  .formatted(
                      get(CLUSTER_LEASE).toMillis(),
                      least.toMillis(),
                      get(DELIVERY_TIMEOUT).toMillis(),
                      origin(DELIVERY_TIMEOUT))));
    }
  }

  /** Gathers values and problems from one source after the other. */
  private static final class Reader {
    private final Map<String, Setting<?>> settings =
        CATALOGUE.stream().collect(Collectors.toMap(Setting::key, Function.identity()));
    private final Map<String, Setting<?>> variables =
        CATALOGUE.stream().collect(Collectors.toMap(Setting::variable, Function.identity()));
    private final Map<String, Given> given = new HashMap<>();
    private final List<Problem> problems = new ArrayList<>();

    void readFile(@Nullable Path file) {
      if (file == null) {
        return;
      }
      List<ConfigFile.Entry> entries;
      try {
        entries = ConfigFile.read(file);
      } catch (BadValue e) {
        problems.add(new Problem(shown(file.toString()), "--config", "the file " + e.what()));
        return;
      }
      Map<String, Integer> lines = new HashMap<>();
      for (ConfigFile.Entry entry : entries) {
        String origin = shown(file.toString()) + ", line " + entry.line();
        Integer before = lines.putIfAbsent(entry.key(), entry.line());
        if (before != null) {
          problems.add(
              new Problem(
                  named(settings, entry.key()), origin, "stands in line " + before + " too"));
        }
        take(settings, entry.key(), entry.value(), origin);
      }
    }

    void readEnvironment(Map<String, String> environment) {
      new TreeMap<>(environment)
          .forEach(
              (variable, value) -> {
                if (variable.startsWith(Setting.VARIABLE_PREFIX)
                    && !OTHER_VARIABLES.containsKey(variable)) {
                  take(variables, variable, value.strip(), "environment");
                }
              });
    }

    void readCommandLine(List<String> assignments, Map<String, Sources.Flag> flags) {
      Set<String> seen = new HashSet<>();
      new TreeMap<>(flags)
          .forEach(
              (name, flag) -> {
                seen.add(flag.setting().key());
                take(settings, flag.setting().key(), flag.value().strip(), name);
              });
      for (int i = 0; i < assignments.size(); i++) {
        String assignment = assignments.get(i);
        int equals = assignment.indexOf('=');
        if (equals < 0) {
          // It may be a secret with a slip before it, so it is not shown.
          problems.add(
              new Problem(
                  "--set", "number " + (i + 1) + " of them", "has no =; it takes KEY=VALUE"));
          continue;
        }
        String key = assignment.substring(0, equals).strip();
        if (!seen.add(key)) {
          problems.add(
              new Problem(
                  named(settings, key), "--set", "is given more than once on the command line"));
        }
        take(settings, key, assignment.substring(equals + 1).strip(), "--set");
      }
    }

    private void take(Map<String, Setting<?>> known, String name, String text, String origin) {
      Setting<?> setting = known.get(name);
      if (setting == null) {
        problems.add(
            new Problem(
                named(known, name),
                origin,
                "there is no such setting"
                    + meant(known, name).map(one -> "; did you mean " + one + "?").orElse("")));
        return;
      }
      if (text.isEmpty() && setting.key().equals(SECRETS_KEY.key())) {
        // Whoever gives it wants no key file, and would not notice that one was made.
        problems.add(
            new Problem(
                name,
                origin,
                "is empty; give it a master key, or leave it out for one in a key file"));
      }
      try {
        setting.kind().read(text);
      } catch (BadValue e) {
        problems.add(new Problem(name, origin, describe(setting, text, e)));
      }
      given.put(setting.key(), new Given(text, origin.equals("environment") ? name : origin));
    }

    private static Optional<String> meant(Map<String, Setting<?>> known, String name) {
      return NearMiss.among(known.keySet().stream().sorted().toList(), name);
    }

    /** A name to be shown, unless it may be a secret: a file with a key in it is easily named. */
    private static String named(Map<String, Setting<?>> known, String name) {
      return NAME.matcher(name).matches() || meant(known, name).isPresent()
          ? shown(name)
          : "(not shown)";
    }

    private static String describe(Setting<?> setting, String text, BadValue bad) {
      StringBuilder problem = new StringBuilder();
      problem.append(setting.kind().isSecret() ? "its value" : '"' + shown(text) + '"');
      problem.append(' ').append(bad.what());
      problem.append("; allowed is ").append(setting.kind().allowed());
      if (bad.suggestion() != null && !setting.kind().isSecret()) {
        problem.append("; did you mean ").append(shown(bad.suggestion())).append('?');
      }
      return problem.toString();
    }

    private static String shown(String text) {
      return Printable.text(text, 80);
    }
  }
}
