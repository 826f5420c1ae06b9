package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.tuple;

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
import dev.holdfast.engine.store.Retention;
import dev.holdfast.engine.store.postgres.PostgresOptions;
import dev.holdfast.engine.vault.KeyFile;
import dev.holdfast.engine.vault.MasterKey;
import dev.holdfast.engine.vault.MasterKeySource;
import dev.holdfast.server.api.SettingInUse;
import dev.holdfast.server.api.SettingInUse.From;
import dev.holdfast.server.cli.InvalidSettings.Problem;
import dev.holdfast.server.cli.Settings.Sources;
import dev.holdfast.server.tracing.Tracing;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.assertj.core.api.AbstractStringAssert;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SettingsTest {
  private static final long GIGABYTE = 1L << 30;

  private static final String CERTIFICATES =
      """
      # an authority
      -----BEGIN CERTIFICATE-----
      MIIBhDCCASmgAwIBAgIUQ0fnRQWGvngGEJBsSTYzsdqHAqQwCgYIKoZIzj0EAwIw
      FjEUMBIGA1UEAwwLb25lLmV4YW1wbGUwIBcNMjYxMTE2MDUwNjUzWhgPMjEyNjEw
      MjMwNTA2NTNaMBYxFDASBgNVBAMMC29uZS5leGFtcGxlMFkwEwYHKoZIzj0CAQYI
      KoZIzj0DAQcDQgAEubjdKbqA8+eEDU47FJ+ARxX7wQ+JRl1M2VaoKc/PYv07LktH
      I//IF1dT+zObUspxAK3/mcq0Wh2dt5g4Yd1xaKNTMFEwHQYDVR0OBBYEFCwqNLmQ
      h+/sawMDBh/Va1F8LvIzMB8GA1UdIwQYMBaAFCwqNLmQh+/sawMDBh/Va1F8LvIz
      MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSQAwRgIhANMcPqNr2ih2OVA8
      52yrw1Q+DNJKP7D9t7nVmyJhdwThAiEAuAiLNXhcyVnXFambPvHDVZb4ytaP/rsb
      hdV83wDnawA=
      -----END CERTIFICATE-----

      # and another one
      -----BEGIN CERTIFICATE-----
      MIIBgzCCASmgAwIBAgIUYKy4X2H6UFnkVmSxsm2Zx06rHxUwCgYIKoZIzj0EAwIw
      FjEUMBIGA1UEAwwLdHdvLmV4YW1wbGUwIBcNMjYxMTE2MDUwNjUzWhgPMjEyNjEw
      MjMwNTA2NTNaMBYxFDASBgNVBAMMC3R3by5leGFtcGxlMFkwEwYHKoZIzj0CAQYI
      KoZIzj0DAQcDQgAE6KA5/5Bp4VWpS8pHPUZHGX2JJW0TP2o2WxeKO71ZErlXb2vm
      gx8QPT1/zlRu5X1zTfPclqueTNYB7+v59sb8EKNTMFEwHQYDVR0OBBYEFL7hyOSo
      jWoe7CSXannEroCIDBUWMB8GA1UdIwQYMBaAFL7hyOSojWoe7CSXannEroCIDBUW
      MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIgA2P8XE+C4MqZkl5J
      ++z2y9IQpVxYoYL+xZBtxkR6FpoCIQDRvU9WRdlxiOmJN2oNvwUyQ/nkpcIkPiOs
      kSTwZgfSpA==
      -----END CERTIFICATE-----
      """;

  @TempDir private Path directory = Path.of("");

  private @Nullable Path file;
  private final Map<String, String> environment = new HashMap<>();
  private final Map<String, Sources.Flag> flags = new HashMap<>();

  @Test
  void the_defaults_are_those_of_the_contract() throws Exception {
    assertThat(set().options(GIGABYTE, 3_000, "1.2.3"))
        .isEqualTo(
            new Options(
                Path.of("holdfast-data"),
                new RetrySchedule(Duration.ofMillis(84_800), 11),
                new EndpointHealth(
                    100, 700_000, 1_000, 2_000, Duration.ofDays(3), 50_000, Duration.ofMinutes(10)),
                Recovery.DRAIN,
                Limits.forHeap(GIGABYTE, 32).withInFlight(3_000),
                new Overload(Quota.NONE, Map.of(), Duration.ofSeconds(10), 256L << 20),
                Duration.ofSeconds(5),
                Egress.direct(
                    EgressRules.of(List.of(), List.of(), Ports.parse("80,443,1024-65535"))),
                "Holdfast/1.2.3",
                new Retention(Duration.ofDays(30), 0),
                KeyFile.in(Path.of("holdfast-data")),
                "1.2.3",
                null));
    assertThat(set().get(Settings.SERVER_HOST)).isEqualTo("127.0.0.1");
    assertThat(set().get(Settings.SERVER_PORT)).isEqualTo(8080);
    assertThat(set().get(Settings.MESSAGE_MAX_BYTES)).isEqualTo(1_048_576);
    assertThat(set().get(Settings.RETENTION)).isEqualTo(Duration.ofDays(30));
    assertThat(set().get(Settings.ADMIN_KEY)).isEmpty();
  }

  @Test
  void a_database_is_the_store_when_one_is_given_and_its_password_is_never_shown()
      throws Exception {
    assertThat(set().options(GIGABYTE, 3_000, "1.2.3").shared()).isNull();
    Settings given =
        set(
            "store.url=jdbc:postgresql://db/holdfast?password=opensesame",
            "store.user=hf",
            "store.password=opensesame",
            "cluster.name=one");
    assertThat(given.options(GIGABYTE, 3_000, "1.2.3").shared())
        .isEqualTo(
            new Options.Shared(
                new PostgresOptions(
                    "jdbc:postgresql://db/holdfast?password=opensesame",
                    "hf",
                    "opensesame",
                    10,
                    Duration.ofSeconds(15),
                    "one",
                    "1.2.3"),
                true));
    assertThat(given.toString()).contains("store.url (--set)").doesNotContain("opensesame");
    assertThat(given.database().orElseThrow().toString()).doesNotContain("opensesame");
    assertThat(problems("store.url=postgres://db/holdfast?password=opensesame").report())
        .contains("does not begin with jdbc:postgresql:")
        .doesNotContain("opensesame");
    assertThat(problems("store.url=jdbc:postgresql://hf:opensesame@db/holdfast").report())
        .contains("has a user before its host")
        .doesNotContain("opensesame");
  }

  @Test
  void a_directory_and_a_database_on_one_command_line_are_refused() throws Exception {
    flags.put("--store", new Sources.Flag(Settings.STORE_URL, "jdbc:postgresql://db/holdfast"));
    environment.put("HOLDFAST_DATA", "/d");
    assertThat(set().masterKeys()).isEqualTo(new KeyFile(Path.of("/d/master.key")));
    flags.put("--data", new Sources.Flag(Settings.DATA, "/d"));
    assertThat(problems().report()).contains("--data").contains("so is --store");
  }

  @Test
  void a_lease_is_long_enough_for_attempts_to_end() throws Exception {
    set("store.url=jdbc:postgresql:holdfast", "cluster.lease=10s");
    set("cluster.lease=5s");
    assertThat(problems("store.url=jdbc:postgresql:holdfast", "cluster.lease=9s").report())
        .contains("must be at least 10000 ms where delivery.timeout is 5000 ms");
  }

  @Test
  void master_keys_come_from_a_file_or_are_set_and_are_never_shown() throws Exception {
    String key = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
    String older = "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=";
    assertThat(set("data=/d").masterKeys()).isEqualTo(new KeyFile(Path.of("/d/master.key")));
    assertThat(set("secrets.key-file=/k").masterKeys()).isEqualTo(new KeyFile(Path.of("/k")));
    Settings given = set("secrets.key=" + key + ", " + older);
    assertThat(given.masterKeys())
        .isEqualTo(
            new MasterKeySource.Given(
                List.of(MasterKey.parse(key).orElseThrow(), MasterKey.parse(older).orElseThrow()),
                "secrets.key (--set)"));
    assertThat(given.toString()).contains("secrets.key (--set)").doesNotContain("AQEB");
    assertThatThrownBy(() -> set("secrets.key=" + key, "secrets.key-file=/k"))
        .isInstanceOfSatisfying(
            InvalidSettings.class,
            e -> assertThat(e.report()).contains("leave one of them out").doesNotContain("AQEB"));
    assertThatThrownBy(() -> set("secrets.key=" + key + ",short"))
        .isInstanceOfSatisfying(
            InvalidSettings.class,
            e -> assertThat(e.report()).contains("openssl rand -base64 32").doesNotContain("AQEB"));
  }

  @Test
  void every_setting_reaches_the_engine() throws Exception {
    Settings settings =
        set(
            "data=/var/lib/x",
            "retry.unit=10ms",
            "retry.max=3",
            "delivery.timeout=250ms",
            "circuit.min-attempts=7",
            "circuit.failure-rate=0.123456",
            "circuit.window=20",
            "circuit.disable-after=5",
            "circuit.freeze-silence=2d",
            "circuit.freeze-at=9",
            "circuit.probe-every=30s",
            "delivery.in-flight=4",
            "recovery=schedule",
            "overload.max-bytes=64MB",
            "quota.events-per-second=50",
            "quota.stored-bytes=1GB",
            "quota.burst=3s",
            "quota.tenants=a-b:events-per-second=0, c:stored-bytes=20GB,c:events-per-second=7",
            "store.reserve=1GB",
            "workfront.both-versions=0s",
            "retention=7d",
            "retention.max-bytes=20GB",
            "egress.allow=10.0.0.0/8, fd00::/8,192.0.2.1",
            "egress.deny=10.1.0.0/16, 192.0.2.7",
            "egress.ports=443, 8000-8999",
            "egress.proxy=http://us%3fer:pa%40ss+w%3Aord@Proxy.internal:3128/",
            "egress.proxy-names=true",
            "egress.trust=" + certificates());
    assertThat(settings.options(GIGABYTE, 3_000, "1"))
        .isEqualTo(
            new Options(
                Path.of("/var/lib/x"),
                new RetrySchedule(Duration.ofMillis(10), 3),
                new EndpointHealth(
                    7, 123_456, 20, 5, Duration.ofDays(2), 9, Duration.ofSeconds(30)),
                Recovery.SCHEDULE,
                Limits.forHeap(GIGABYTE, 4)
                    .withInFlight(3_000)
                    .withAcceptingBytes(64L << 20)
                    .withBothVersions(Duration.ZERO),
                new Overload(
                    new Quota(50, GIGABYTE),
                    Map.of("a-b", new Quota(0, GIGABYTE), "c", new Quota(7, 20 * GIGABYTE)),
                    Duration.ofSeconds(3),
                    GIGABYTE),
                Duration.ofMillis(250),
                new Egress(
                    EgressRules.of(
                        List.of("10.0.0.0/8", "fd00::/8", "192.0.2.1/32"),
                        List.of("10.1.0.0/16", "192.0.2.7/32"),
                        Ports.parse("443,8000-8999")),
                    new Proxy(
                        "proxy.internal",
                        3128,
                        new Proxy.Credentials("us?er", "pa@ss+w:ord"),
                        true),
                    settings.get(Settings.EGRESS_TRUST)),
                "Holdfast/1",
                new Retention(Duration.ofDays(7), 20L << 30),
                KeyFile.in(Path.of("/var/lib/x")),
                "1",
                null));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "overload.max-bytes=31MB|out of bounds",
        "store.reserve=1KB|out of bounds",
        "workfront.both-versions=25h|out of bounds",
        "quota.stored-bytes=2TB|not a number of bytes",
        "quota.tenants=acme|TENANT:QUOTA=VALUE",
        "quota.tenants=ACME:stored-bytes=1GB|TENANT:QUOTA=VALUE",
        "quota.tenants=acme:events-per-secnd=1|did you mean acme:events-per-second=1?",
        "quota.tenants=a:stored-bytes=1GB,a:stored-bytes=2GB|twice",
        "quota.tenants=a:stored-bytes=1,|out of bounds"
      })
  void a_quota_or_limit_that_cannot_be_is_refused(String assignment, String said) {
    assertThatThrownBy(() -> set(assignment))
        .isInstanceOfSatisfying(
            InvalidSettings.class, e -> assertThat(e.problems().toString()).contains(said));
  }

  @Test
  void every_default_is_allowed_and_every_setting_is_described() {
    assertThat(Settings.catalogue())
        .allSatisfy(
            setting -> {
              setting.kind().read(setting.defaultText());
              assertThat(setting.description()).endsWith(".");
              assertThat(setting.kind().allowed()).isNotBlank();
            });
    assertThat(Settings.catalogue()).extracting(Setting::variable).doesNotHaveDuplicates();
  }

  @Test
  void a_collector_without_a_path_gets_traces_where_collectors_take_them() throws Exception {
    assertThat(set("tracing.endpoint=https://host:4318").get(Settings.TRACING_ENDPOINT))
        .contains(URI.create("https://host:4318/v1/traces"));
    assertThat(set("tracing.endpoint=http://host/otlp/traces").get(Settings.TRACING_ENDPOINT))
        .contains(URI.create("http://host/otlp/traces"));
    assertThat(set().tracing("1")).isEmpty();
    assertThat(
            set("tracing.endpoint=http://host", "tracing.sample=0.25", "tracing.service-name=shop")
                .tracing("1"))
        .contains(new Tracing.Options(URI.create("http://host/v1/traces"), 250_000, "shop", "1"));
  }

  // Where values come from

  @Test
  void a_setting_can_be_given_in_the_file() throws Exception {
    write("# slow", "", "retry.unit = 1m", "recovery: schedule");
    assertThat(set().get(Settings.RETRY_UNIT)).isEqualTo(Duration.ofMinutes(1));
    assertThat(set().get(Settings.RECOVERY)).isEqualTo(Recovery.SCHEDULE);
    assertThat(set().origin(Settings.RETRY_UNIT)).isEqualTo(file + ", line 3");
  }

  @Test
  void a_long_value_in_the_file_can_go_on_in_the_next_line() throws Exception {
    write("egress.allow = 10.0.0.0/8, \\", "   fd00::/8", "# not continued \\", "retry.max=2");
    assertThat(set().get(Settings.EGRESS_ALLOW)).containsExactly("10.0.0.0/8", "fd00::/8");
    assertThat(set().origin(Settings.RETRY_MAX)).endsWith("line 4");
  }

  @ParameterizedTest
  @CsvSource({
    "retry.unit, HOLDFAST_RETRY_UNIT",
    "circuit.min-attempts, HOLDFAST_CIRCUIT_MIN_ATTEMPTS",
    "admin.key, HOLDFAST_ADMIN_KEY",
    "data, HOLDFAST_DATA"
  })
  void a_setting_has_an_environment_variable(String key, String variable) {
    assertThat(Settings.catalogue())
        .filteredOn(setting -> setting.key().equals(key))
        .extracting(Setting::variable)
        .containsExactly(variable);
  }

  @Test
  void a_setting_can_be_given_in_the_environment() throws Exception {
    environment.put("HOLDFAST_CIRCUIT_MIN_ATTEMPTS", "3");
    assertThat(set().endpointHealth().minAttempts()).isEqualTo(3);
    assertThat(set().origin(Settings.CIRCUIT_MIN_ATTEMPTS))
        .isEqualTo("HOLDFAST_CIRCUIT_MIN_ATTEMPTS");
  }

  @Test
  void the_command_line_goes_before_the_environment_and_that_before_the_file() throws Exception {
    write("retry.max=1", "retry.unit=1s", "delivery.timeout=1s");
    environment.put("HOLDFAST_RETRY_MAX", "2");
    environment.put("HOLDFAST_RETRY_UNIT", "2s");
    Settings settings = set("retry.max=3");
    assertThat(settings.get(Settings.RETRY_MAX)).isEqualTo(3);
    assertThat(settings.get(Settings.RETRY_UNIT)).isEqualTo(Duration.ofSeconds(2));
    assertThat(settings.get(Settings.DELIVERY_TIMEOUT)).isEqualTo(Duration.ofSeconds(1));
  }

  @Test
  void a_flag_is_the_same_as_its_setting() throws Exception {
    environment.put("HOLDFAST_SERVER_PORT", "1");
    flags.put("--port", new Sources.Flag(Settings.SERVER_PORT, "9090"));
    assertThat(set().get(Settings.SERVER_PORT)).isEqualTo(9090);
    assertThat(set().origin(Settings.SERVER_PORT)).isEqualTo("--port");

    flags.put("--port", new Sources.Flag(Settings.SERVER_PORT, "http"));
    assertProblem("server.port", "--port").startsWith("\"http\" is not a whole number");
  }

  @Test
  void other_variables_and_those_of_the_launcher_are_left_alone() throws Exception {
    environment.put("HOLDFASTNESS", "5");
    environment.put("PATH", "/bin");
    environment.put("HOLDFAST_JAVA_OPTS", "-Xmx1g");
    environment.put("HOLDFAST_SERVER", "http://127.0.0.1:8080");
    environment.put("HOLDFAST_KEY", "hf_x");
    environment.put("HOLDFAST_LISTEN_SECRET", "whsec_AAAA");
    assertThat(set().get(Settings.RETRY_MAX)).isEqualTo(11);
  }

  // What can be wrong

  @Test
  void all_problems_are_reported_at_once() throws Exception {
    write("retry.unti=5s", "circuit.window=many");
    environment.put("HOLDFAST_RECOVERY", "drian");
    environment.put("HOLDFAST_RETRY_MAXIMUM", "3");
    flags.put("--port", new Sources.Flag(Settings.SERVER_PORT, "99999"));
    InvalidSettings problems = problems("delivery.timeout=5", "nonsense", "retention=1s");
    assertThat(problems.problems())
        .extracting(Problem::what, Problem::origin)
        .containsExactlyInAnyOrder(
            tuple("retry.unti", file + ", line 1"),
            tuple("circuit.window", file + ", line 2"),
            tuple("HOLDFAST_RECOVERY", "environment"),
            tuple("HOLDFAST_RETRY_MAXIMUM", "environment"),
            tuple("server.port", "--port"),
            tuple("delivery.timeout", "--set"),
            tuple("--set", "number 2 of them"),
            tuple("retention", "--set"));
    assertThat(problems.report())
        .startsWith("Holdfast did not start: 8 problems in its settings.")
        .contains("  delivery.timeout  (--set)\n")
        .contains(
            "\"5\" is not a duration; allowed is a duration from 10ms to 10m (units: ms s m h d);"
                + " did you mean 5s?")
        .contains("./holdfast settings");
  }

  @Test
  void a_bad_value_is_reported_even_if_another_goes_before_it() throws Exception {
    write("retry.max=lots");
    assertThat(problems("retry.max=3").problems()).extracting(Problem::what).contains("retry.max");
  }

  @ParameterizedTest
  @CsvSource({
    "retry.unti, retry.unit",
    "retryunit, retry.unit",
    "Retry.Unit, retry.unit",
    "retry_unit, retry.unit",
    "port, server.port",
    "timeout, delivery.timeout",
    "freeze-at, circuit.freeze-at",
    "circuit.failure_rate, circuit.failure-rate"
  })
  void an_unknown_key_is_refused_with_the_one_that_was_probably_meant(String key, String meant) {
    assertThat(problems(key + "=1").problems())
        .containsExactly(
            new Problem(key, "--set", "there is no such setting; did you mean " + meant + "?"));
  }

  @ParameterizedTest
  @CsvSource({
    "HOLDFAST_RETRY_UNT, HOLDFAST_RETRY_UNIT",
    "HOLDFAST_PORT, HOLDFAST_SERVER_PORT",
    "HOLDFAST_ADMINKEY, HOLDFAST_ADMIN_KEY"
  })
  void an_unknown_variable_is_refused_with_the_one_that_was_probably_meant(
      String variable, String meant) {
    environment.put(variable, "1");
    assertProblem(variable, "environment").endsWith("did you mean " + meant + "?");
  }

  @ParameterizedTest
  @ValueSource(strings = {"colour", "x", "", "a.very.long.key.that.resembles.nothing"})
  void nothing_is_suggested_for_what_resembles_nothing(String key) {
    assertThat(problems(key + "=1").problems())
        .containsExactly(new Problem(key, "--set", "there is no such setting"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "retry.unit           | 5          | is not a duration      | 5s",
        "retry.unit           | 5 s        | is not a duration      | 5s",
        "retry.unit           | 5sec       | is not a duration      | 5s",
        "retry.unit           | 10 Minutes | is not a duration      | 10m",
        "retry.unit           | PT5S       | is not a duration      |",
        "retry.unit           | -5s        | is not a duration      |",
        "retry.unit           | 1.5h       | is not a duration      |",
        "retry.unit           | 0ms        | is out of bounds       |",
        "retry.unit           | 25h        | is out of bounds       |",
        "retry.unit           | 999999999999d | is out of bounds    |",
        "retry.max            | 0          | is out of bounds       |",
        "retry.max            | 25         | is out of bounds       |",
        "retry.max            | 99999999999 | is out of bounds      |",
        "retry.max            | eleven     | is not a whole number  |",
        "retry.max            | -1         | is out of bounds       |",
        "circuit.disable-after | 2,000     | is not a whole number  | 2000",
        "circuit.failure-rate | 70%        | is not a rate          | 0.70",
        "circuit.failure-rate | 70         | is out of bounds       | 0.70",
        "circuit.failure-rate | 1.01       | is out of bounds       | 0.0101",
        "circuit.failure-rate | -0.1       | is not a rate          |",
        "circuit.failure-rate | .          | is not a rate          |",
        "circuit.failure-rate | NaN        | is not a rate          |",
        "circuit.failure-rate | 0.7000001  | has too many decimals  |",
        "recovery             | drian      | is none of the choices | drain",
        "recovery             | DRAIN      | is none of the choices | drain",
        "recovery             | never      | is none of the choices |",
        "message.max-bytes    | 1 mb       | is not a number of bytes | 1MB",
        "message.max-bytes    | 512KiB     | is not a number of bytes | 512KB",
        "message.max-bytes    | 9MB        | is out of bounds       |",
        "message.max-bytes    | 999999999999GB | is out of bounds   |",
        "message.max-bytes    | 0          | is out of bounds       |",
        "egress.allow         | localhost  | is not an address range |",
        "egress.allow         | 10.0.0.0/33 | has a prefix length that is not 0 to 32 |",
        "egress.allow         | 10.0.0.1/8 | has an address with bits beyond its prefix length | 10.0.0.0/8",
        "egress.allow         | fd00::1/8  | has an address with bits beyond its prefix length | fd00:0:0:0:0:0:0:0/8",
        "egress.allow         | fe80::%eth0/10 | is not an address range |",
        "egress.allow         | 10.0.0.0/8, | is not an address range |",
        "egress.allow         | 010.0.0.0/8 | is not an address range |",
        "egress.deny          | 10.0.0.1/8 | has an address with bits beyond its prefix length | 10.0.0.0/8",
        "egress.ports         | ''         | is not a list of ports |",
        "egress.ports         | 80,,443    | is not a list of ports |",
        "egress.ports         | 443-80     | is not a list of ports |",
        "egress.ports         | 65536      | is not a list of ports |",
        "egress.proxy-names   | yes        | is neither true nor false | true",
        "egress.proxy-names   | False      | is neither true nor false | false",
        "egress.proxy-names   | maybe      | is neither true nor false |",
        "egress.trust         | nowhere.pem | is no file that there is |",
        "server.port          | 65536      | is out of bounds       |",
        "server.host          | 0.0.0.0:80 | has a port, which is server.port | 0.0.0.0",
        "server.host          | a b        | is neither an address nor a name |",
        "server.host          | ''         | is neither an address nor a name |",
        "data                 | ''         | is no directory        |",
        "log.format           | JSON       | is none of the choices | json",
        "log.level            | trace      | is none of the choices |",
        "tracing.sample       | 2          | is out of bounds       | 0.02",
        "tracing.service-name | ''         | is no name             |"
      })
  void a_bad_value_is_refused_with_what_is_allowed(
      String key, String value, String what, @Nullable String meant) {
    Setting<?> setting =
        Settings.catalogue().stream()
            .filter(one -> one.key().equals(key))
            .findFirst()
            .orElseThrow();
    assertThat(problems(key + "=" + value).problems())
        .containsExactly(
            new Problem(
                key,
                "--set",
                "\"%s\" %s; allowed is %s%s"
                    .formatted(
                        value,
                        what,
                        setting.kind().allowed(),
                        meant == null ? "" : "; did you mean " + meant + "?")));
  }

  @ParameterizedTest
  @CsvSource({
    "localhost:4318, is no URL that begins with http:// or https:// and a host",
    "http://a b, is no URL",
    "http://u:p@host:4318, 'has a user, a query or a fragment'",
    "http://host:4318/?k=v, 'has a user, a query or a fragment'"
  })
  void a_bad_collector_is_refused_and_not_shown(String value, String what) {
    assertThat(problems("tracing.endpoint=" + value).problems())
        .containsExactly(
            new Problem(
                "tracing.endpoint",
                "--set",
                "its value %s; allowed is %s"
                    .formatted(what, Settings.TRACING_ENDPOINT.kind().allowed())));
  }

  @Test
  void a_name_that_may_be_a_key_is_not_shown() throws Exception {
    String key = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
    String hexadecimal = "0123456789abcdef".repeat(4);
    write(key, key, hexadecimal, "Retry.Unit=1s", "nothing.known=1");
    InvalidSettings problems = problems(key);
    assertThat(problems.report()).doesNotContain("AQEB", "0123456789abcdef");
    assertThat(problems.problems())
        .extracting(Problem::what, Problem::origin)
        .containsExactlyInAnyOrder(
            tuple("(not shown)", file + ", line 1"),
            tuple("(not shown)", file + ", line 2"),
            tuple("(not shown)", file + ", line 2"),
            tuple("(not shown)", file + ", line 3"),
            tuple("Retry.Unit", file + ", line 4"),
            tuple("nothing.known", file + ", line 5"),
            tuple("(not shown)", "--set"));
  }

  @Test
  void a_master_key_that_is_given_is_not_empty() throws Exception {
    assertThat(problems("secrets.key= ").problems())
        .containsExactly(
            new Problem(
                "secrets.key",
                "--set",
                "is empty; give it a master key, or leave it out for one in a key file"));
    environment.put("HOLDFAST_SECRETS_KEY", "");
    assertProblem("HOLDFAST_SECRETS_KEY", "environment").startsWith("is empty");
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "1, 1000000", "1.0, 1000000", ".5, 500000", "0.70, 700000", "0.000001, 1"})
  void a_rate_is_exact(String text, int millionths) throws Exception {
    assertThat(set("circuit.failure-rate=" + text).endpointHealth().failuresPerMillion())
        .isEqualTo(millionths);
  }

  @ParameterizedTest
  @CsvSource({"1048576, 1048576", "2048B, 2048", "64KB, 65536", "8MB, 8388608"})
  void bytes_have_units(String text, int bytes) throws Exception {
    assertThat(set("message.max-bytes=" + text).get(Settings.MESSAGE_MAX_BYTES)).isEqualTo(bytes);
  }

  @Test
  void a_window_too_small_for_the_failure_rate_ever_to_count_is_refused() {
    assertProblem("circuit.min-attempts", "default", "circuit.window=100")
        .startsWith("is 100, but must be less than circuit.window, which is 100 (--set)");
  }

  @Test
  void a_key_given_twice_in_the_file_is_refused() throws Exception {
    write("retry.max=1", "", "retry.max=2");
    assertProblem("retry.max", file + ", line 3").isEqualTo("stands in line 1 too");
  }

  @Test
  void a_key_given_twice_on_the_command_line_is_refused() {
    flags.put("--data", new Sources.Flag(Settings.DATA, "x"));
    assertProblem("data", "--set", "data=y")
        .isEqualTo("is given more than once on the command line");
  }

  @Test
  void a_missing_file_is_reported_with_the_other_problems() {
    file = directory.resolve("absent.properties");
    assertThat(problems("retry.max=x").problems())
        .extracting(Problem::problem)
        .hasSize(2)
        .contains("the file does not exist");
  }

  @Test
  void a_directory_is_no_file() {
    file = directory;
    assertProblem(directory.toString(), "--config")
        .isEqualTo("the file is a directory, not a file");
  }

  @Test
  void a_file_that_is_not_text_is_refused() throws Exception {
    file = Files.write(directory.resolve("x"), new byte[] {(byte) 0xff, (byte) 0xfe, 0});
    assertProblem(file.toString(), "--config").isEqualTo("the file is not UTF-8 text");
  }

  @Test
  void a_file_with_a_broken_escape_is_refused() throws Exception {
    write("retry.max=1", "data=\\u12");
    assertProblem(String.valueOf(file), "--config")
        .isEqualTo("the file cannot be read: line 2 has a malformed \\u escape");
  }

  @Test
  void a_huge_file_is_refused() throws Exception {
    file = Files.write(directory.resolve("x"), new byte[(1 << 20) + 1]);
    assertProblem(file.toString(), "--config").startsWith("the file is larger than 1 MB");
  }

  // Secrets

  @Test
  void an_admin_key_is_taken_from_anywhere() throws Exception {
    environment.put("HOLDFAST_ADMIN_KEY", "hf_fixed");
    assertThat(set().get(Settings.ADMIN_KEY)).isEqualTo(Optional.of("hf_fixed"));
    assertThat(set("admin.key=").get(Settings.ADMIN_KEY)).isEmpty();
  }

  @Test
  void an_admin_key_is_never_printed() {
    environment.put("HOLDFAST_ADMIN_KEY", "topsecret in two words");
    environment.put("HOLDFAST_ADMIN_KEYS", "topsecret");
    InvalidSettings problems =
        problems(
            "admin.key=topsecret\t", "admin.key=topsécret", "admin.kye=topsecret", "topsecret");
    assertThat(problems.problems()).hasSize(6);
    assertThat(problems.report() + problems + problems.problems())
        .doesNotContain("tops")
        .contains("its value has characters that cannot be sent as a bearer token");
  }

  @ParameterizedTest
  @CsvSource({
    "https://u:topsecret@proxy:3128, does not begin with http://",
    "socks5://u:topsecret@proxy:3128, does not begin with http://",
    "u:topsecret@proxy:3128, does not begin with http://",
    "http://u:topsecret@proxy, has no port at its end",
    "http://topsecret, has no port at its end",
    "http://u:topsecret@proxy:0, has a host or a port that there cannot be",
    "http://u:topsecret@proxy:65536, has a host or a port that there cannot be",
    "http://u:topsecret@pro xy:3128, has a host or a port that there cannot be",
    "http://u:topsecret@0x7f000001:3128, has a host or a port that there cannot be",
    "http://u:topsecret@proxy/topsecret:3128, has a host or a port that there cannot be",
    "http://proxy:3128/topsecret, has no port at its end",
    "http://:topsecret@proxy:3128, has a user that there cannot be",
    "http://u:topsecret%@proxy:3128, has a % that two hex digits do not follow",
    "http://u:topsecret%0a@proxy:3128, has control characters"
  })
  void a_proxy_that_cannot_be_is_refused_and_never_printed(String proxy, String said) {
    InvalidSettings problems = problems("egress.proxy=" + proxy);
    assertThat(problems.report() + problems + problems.problems())
        .contains("its value " + said)
        .doesNotContain("topsecret");
  }

  @ParameterizedTest
  @CsvSource({
    "http://proxy:3128, proxy, 3128",
    "HTTP://10.0.0.1:80/, 10.0.0.1, 80",
    "http://[fd00::1]:3128, fd00::1, 3128",
    "http://localhost:1, localhost, 1"
  })
  void a_proxy_may_be_anywhere(String text, String host, int port) throws Exception {
    assertThat(set("egress.proxy=" + text).get(Settings.EGRESS_PROXY))
        .hasValue(new Proxy(host, port, null, false));
  }

  @Test
  void a_proxy_is_never_printed() throws Exception {
    Settings settings = set("egress.proxy=http://u:topsecret@proxy:3128");
    assertThat(settings + " " + settings.options(GIGABYTE, 3_000, "1")).doesNotContain("topsecret");
    assertThat(settings).hasToString("[egress.proxy (--set)]");
  }

  @Test
  void names_need_a_proxy_to_be_given_to() {
    assertThat(problems("egress.proxy-names=true").report())
        .contains("egress.proxy-names", "there is no egress.proxy that could be given names");
  }

  @Test
  void what_is_trusted_is_read_at_the_start() throws Exception {
    assertThat(set("egress.trust=" + certificates()).get(Settings.EGRESS_TRUST))
        .extracting(one -> one.getSubjectX500Principal().getName())
        .containsExactly("CN=one.example", "CN=two.example");
    assertThat(set("egress.trust=").get(Settings.EGRESS_TRUST)).isEmpty();
  }

  @Test
  void a_file_that_is_not_certificates_is_refused() throws Exception {
    Path empty = Files.writeString(directory.resolve("empty.pem"), "");
    Path text = Files.writeString(directory.resolve("text.pem"), "not a certificate\n");
    Path cut =
        Files.writeString(
            directory.resolve("cut.pem"), Files.readString(certificates()).substring(0, 300));
    assertThat(problems("egress.trust=" + empty).report()).contains("has no certificate in it");
    assertThat(problems("egress.trust=" + text).report()).contains("no certificate");
    assertThat(problems("egress.trust=" + cut).report())
        .contains("has something in it that is no certificate");
    assertThat(problems("egress.trust=" + directory).report()).contains("cannot be read");
  }

  /** Two certificates that are each other's strangers, with a remark between them. */
  private Path certificates() throws IOException {
    return Files.writeString(directory.resolve("authorities.pem"), CERTIFICATES);
  }

  @Test
  void settings_print_what_was_given_but_no_secret() throws Exception {
    assertThat(set("admin.key=topsecret", "retry.max=3"))
        .hasToString("[admin.key (--set), retry.max=3 (--set)]");
  }

  @Test
  void what_is_shown_cannot_rewrite_the_terminal() {
    assertThat(problems("recovery=\u001b[2J", "\u001b[31m=1").report()).doesNotContain("\u001b");
  }

  private Settings set(String... assignments) throws InvalidSettings {
    return Settings.read(new Sources(file, environment, List.of(assignments), flags));
  }

  private InvalidSettings problems(String... assignments) {
    InvalidSettings problems = catchThrowableOfType(InvalidSettings.class, () -> set(assignments));
    assertThat(problems).as("the settings are refused").isNotNull();
    return problems;
  }

  private AbstractStringAssert<?> assertProblem(String what, String origin, String... assignments) {
    List<Problem> problems = problems(assignments).problems();
    assertThat(problems).hasSize(1);
    assertThat(problems.getFirst().what()).isEqualTo(what);
    assertThat(problems.getFirst().origin()).isEqualTo(origin);
    return assertThat(problems.getFirst().problem());
  }

  private void write(String... lines) throws IOException {
    file = Files.write(directory.resolve("holdfast.properties"), List.of(lines));
  }

  @Test
  void what_is_in_use_says_where_it_comes_from_and_no_secret() throws Exception {
    Path file = directory.resolve("settings in a file");
    Files.writeString(file, "retry.max=5\n");
    Settings settings =
        Settings.read(
            new Sources(
                file,
                Map.of("HOLDFAST_RETRY_UNIT", "2s", "HOLDFAST_ADMIN_KEY", "hf_secret"),
                List.of("session.length=1h"),
                Map.of("--port", new Sources.Flag(Settings.SERVER_PORT, "8081"))));
    assertThat(settings.inUse())
        .hasSameSizeAs(Settings.catalogue())
        .extracting(SettingInUse::name, SettingInUse::value, SettingInUse::from)
        .contains(
            tuple("retry.max", "5", From.FILE),
            tuple("retry.unit", "2s", From.ENVIRONMENT),
            tuple("session.length", "1h", From.ARGUMENT),
            tuple("server.port", "8081", From.ARGUMENT),
            tuple("server.host", "127.0.0.1", From.DEFAULT),
            tuple("admin.key", "****", From.ENVIRONMENT),
            tuple("store.password", "", From.DEFAULT));
    assertThat(settings.inUse().toString()).doesNotContain("hf_secret");
  }
}
