package dev.holdfast.server.cli;

import dev.holdfast.engine.egress.Cidr;
import dev.holdfast.engine.egress.EndpointUrl;
import dev.holdfast.engine.egress.EndpointUrl.Checked.Accepted;
import dev.holdfast.engine.egress.Ports;
import dev.holdfast.engine.egress.Proxy;
import dev.holdfast.engine.store.postgres.PostgresOptions;
import dev.holdfast.engine.vault.MasterKey;
import dev.holdfast.engine.vault.MasterKeys;
import dev.holdfast.server.api.DurationText;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A kind of value: how it is read from text, and what is allowed. */
interface Kind<T> {

  T read(String text) throws BadValue;

  /** What is allowed, to follow "allowed is". */
  String allowed();

  /** Whether a value of it must never be shown. */
  default boolean isSecret() {
    return false;
  }

  /** What a quota of events may be; 0 for any number. */
  static Kind<Integer> eventsPerSecond() {
    return new Whole(0, 1_000_000);
  }

  /** What a quota of kept events may be; 0 for any number. */
  static Kind<Long> storedBytes() {
    return new LargeBytes("1MB", "1000000GB");
  }

  /** A whole number. */
  static Kind<Integer> whole(int least, int most) {
    return new Whole(least, most);
  }

  /** A time span such as {@code 5s}. */
  static Kind<Duration> duration(String least, String most) {
    return new Span(least, most);
  }

  /** A number of bytes such as {@code 256MB}. */
  static Kind<Integer> bytes(String least, String most) {
    return new Bytes(least, most);
  }

  /** A number of bytes that may be larger than memory; 0 for none, whatever the least is. */
  static Kind<Long> largeBytes(String least, String most) {
    return new LargeBytes(least, most);
  }

  /** Quotas of single tenants, each as {@code TENANT:QUOTA=VALUE}, separated by commas. */
  static Kind<Map<String, TenantQuota>> tenantQuotas() {
    return new TenantQuotas();
  }

  /**
   * What is said of a tenant's quotas; what is absent is as for every tenant.
   *
   * @param eventsPerSecond 0 for any number
   * @param storedBytes 0 for any number
   */
  record TenantQuota(@Nullable Long eventsPerSecond, @Nullable Long storedBytes) {}

  /** A share from 0 to 1, in millionths. */
  static Kind<Integer> rate() {
    return new Rate();
  }

  /** One of the constants of an enum, in lower case. */
  static <E extends Enum<E>> Kind<E> choice(Class<E> type) {
    return new Choice<>(type);
  }

  /** Address ranges in CIDR form, separated by commas. */
  static Kind<List<String>> addressRanges() {
    return new AddressRanges();
  }

  /** Ports and ranges of them, separated by commas. */
  static Kind<Ports> ports() {
    return new PortList();
  }

  /** A proxy that may be given or not; that it looks names up is not said by it. */
  static Kind<Optional<Proxy>> optionalProxy() {
    return new OptionalProxy();
  }

  /** Certificates in a file that may be given or not. */
  static Kind<List<X509Certificate>> certificates() {
    return new Certificates();
  }

  /** A file that may be given or not; it is read later, and again when it changes. */
  static Kind<Optional<Path>> optionalFile() {
    return new OptionalFile();
  }

  /** Yes or no. */
  static Kind<Boolean> flag() {
    return new Flag();
  }

  /** A directory. */
  static Kind<Path> directory() {
    return new Directory();
  }

  /** An address to listen on. */
  static Kind<String> host() {
    return new Host();
  }

  /** A key that may be given or not. */
  static Kind<Optional<String>> optionalKey() {
    return new OptionalKey();
  }

  /** Master keys that may be given or not, separated by commas. */
  static Kind<List<MasterKey>> masterKeys() {
    return new MasterKeyList();
  }

  /** The address of a collector that may be given or not. */
  static Kind<Optional<URI>> optionalCollector() {
    return new OptionalCollector();
  }

  /** A database that may be given or not. */
  static Kind<Optional<String>> optionalDatabase() {
    return new OptionalDatabase();
  }

  /** A word that may be given or not. */
  static Kind<Optional<String>> optionalWord() {
    return new OptionalWord(false);
  }

  /** A password that may be given or not. */
  static Kind<Optional<String>> optionalPassword() {
    return new OptionalWord(true);
  }

  /** A name that others show. */
  static Kind<String> name() {
    return new Name();
  }

  /** See {@link #whole}. */
  record Whole(int least, int most) implements Kind<Integer> {
    @Override
    public Integer read(String text) throws BadValue {
      if (!text.matches("-?\\d{1,18}")) {
        String digits = text.replaceAll("[,_' ]", "");
        throw new BadValue(
            "is not a whole number", digits.matches("\\d{1,9}") ? within(digits) : null);
      }
      long number = Long.parseLong(text);
      if (number < least || number > most) {
        throw new BadValue("is out of bounds");
      }
      return (int) number;
    }

    private @Nullable String within(String digits) {
      long number = Long.parseLong(digits);
      return number >= least && number <= most ? digits : null;
    }

    @Override
    public String allowed() {
      return "a whole number from " + least + " to " + most;
    }
  }

  /** See {@link #duration}. */
  record Span(String least, String most) implements Kind<Duration> {
    private static final Pattern NEARLY = Pattern.compile("(\\d{1,12})\\s*([a-zA-Z]*)");
    private static final Map<String, String> OTHER_NAMES =
        Map.ofEntries(
            Map.entry("", "s"),
            Map.entry("msec", "ms"),
            Map.entry("millis", "ms"),
            Map.entry("milliseconds", "ms"),
            Map.entry("sec", "s"),
            Map.entry("secs", "s"),
            Map.entry("second", "s"),
            Map.entry("seconds", "s"),
            Map.entry("min", "m"),
            Map.entry("mins", "m"),
            Map.entry("minute", "m"),
            Map.entry("minutes", "m"),
            Map.entry("hr", "h"),
            Map.entry("hour", "h"),
            Map.entry("hours", "h"),
            Map.entry("day", "d"),
            Map.entry("days", "d"));

    @Override
    public Duration read(String text) throws BadValue {
      Duration duration = parse(text);
      if (duration.compareTo(parse(least)) < 0 || duration.compareTo(parse(most)) > 0) {
        throw new BadValue("is out of bounds");
      }
      return duration;
    }

    private static Duration parse(String text) throws BadValue {
      Duration duration = DurationText.parse(text).orElse(null);
      if (duration == null) {
        throw new BadValue("is not a duration", suggest(text));
      }
      return duration;
    }

    private static @Nullable String suggest(String text) {
      Matcher matcher = NEARLY.matcher(text);
      if (!matcher.matches()) {
        return null;
      }
      String unit = matcher.group(2).toLowerCase(Locale.ROOT);
      String candidate = matcher.group(1) + OTHER_NAMES.getOrDefault(unit, unit);
      return DurationText.parse(candidate).isPresent() ? candidate : null;
    }

    @Override
    public String allowed() {
      return "a duration from " + least + " to " + most + " (units: ms s m h d)";
    }
  }

  /** See {@link #bytes}. */
  record Bytes(String least, String most) implements Kind<Integer> {
    private static final Pattern SHAPE = Pattern.compile("(\\d{1,12})(B|KB|MB|GB|)");
    private static final Pattern NEARLY = Pattern.compile("(\\d{1,12})\\s*([kmgKMG]?)i?[bB]?");

    @Override
    public Integer read(String text) throws BadValue {
      long number = parse(text);
      if (number < parse(least) || number > parse(most)) {
        throw new BadValue("is out of bounds");
      }
      return Math.toIntExact(number);
    }

    private static long parse(String text) throws BadValue {
      Matcher matcher = SHAPE.matcher(text);
      if (!matcher.matches()) {
        Matcher nearly = NEARLY.matcher(text);
        throw new BadValue(
            "is not a number of bytes",
            nearly.matches()
                ? nearly.group(1) + nearly.group(2).toUpperCase(Locale.ROOT) + "B"
                : null);
      }
      long number = Long.parseLong(matcher.group(1));
      return switch (matcher.group(2)) {
        case "KB" -> number << 10;
        case "MB" -> number << 20;
        case "GB" -> saturatedGigabytes(number);
        default -> number;
      };
    }

    private static long saturatedGigabytes(long number) {
      return Math.min(number, 1L << 32) << 30;
    }

    @Override
    public String allowed() {
      return "a number of bytes from " + least + " to " + most + " (units: B KB MB GB, by 1,024)";
    }
  }

  /** See {@link #largeBytes}. */
  record LargeBytes(String least, String most) implements Kind<Long> {
    @Override
    public Long read(String text) throws BadValue {
      long number = Bytes.parse(text);
      if (number != 0 && (number < Bytes.parse(least) || number > Bytes.parse(most))) {
        throw new BadValue("is out of bounds");
      }
      return number;
    }

    @Override
    public String allowed() {
      return "0, or a number of bytes from "
          + least
          + " to "
          + most
          + " (units: B KB MB GB, by 1,024)";
    }
  }

  /** See {@link #tenantQuotas}. */
  record TenantQuotas() implements Kind<Map<String, TenantQuota>> {
    private static final Pattern SHAPE =
        Pattern.compile("([a-z0-9_-]{1,64}):([a-z-]+)=([0-9A-Za-z]+)");
    private static final String EVENTS = "events-per-second";
    private static final String BYTES = "stored-bytes";

    @Override
    public Map<String, TenantQuota> read(String text) throws BadValue {
      Map<String, TenantQuota> quotas = new TreeMap<>();
      if (!text.isBlank()) {
        for (String part : text.split(",", -1)) {
          add(part.strip(), quotas);
        }
      }
      return Map.copyOf(quotas);
    }

    private static void add(String part, Map<String, TenantQuota> quotas) throws BadValue {
      Matcher matcher = SHAPE.matcher(part);
      if (!matcher.matches()) {
        throw new BadValue("has a part that is not TENANT:QUOTA=VALUE");
      }
      String tenant = matcher.group(1);
      TenantQuota before = quotas.getOrDefault(tenant, new TenantQuota(null, null));
      boolean twice;
      TenantQuota after;
      switch (matcher.group(2)) {
        case EVENTS -> {
          twice = before.eventsPerSecond() != null;
          long number = eventsPerSecond().read(matcher.group(3));
          after = new TenantQuota(number, before.storedBytes());
        }
        case BYTES -> {
          twice = before.storedBytes() != null;
          after = new TenantQuota(before.eventsPerSecond(), storedBytes().read(matcher.group(3)));
        }
        default ->
            throw new BadValue(
                "names a quota that there is not",
                NearMiss.among(List.of(EVENTS, BYTES), matcher.group(2))
                    .map(meant -> tenant + ":" + meant + "=" + matcher.group(3))
                    .orElse(null));
      }
      if (twice) {
        throw new BadValue("has the same quota of a tenant twice");
      }
      quotas.put(tenant, after);
    }

    @Override
    public String allowed() {
      return "TENANT:events-per-second=NUMBER and TENANT:stored-bytes=BYTES, separated by commas";
    }
  }

  /** See {@link #rate}. */
  record Rate() implements Kind<Integer> {
    private static final int DECIMALS = 6;

    @Override
    public Integer read(String text) throws BadValue {
      if (!text.matches("\\d{0,9}(\\.\\d{0,20})?") || !text.matches(".*\\d.*")) {
        throw new BadValue("is not a rate", fromPercent(text.replaceAll("\\s*%$", "")));
      }
      BigDecimal millionths = new BigDecimal(text).movePointRight(DECIMALS).stripTrailingZeros();
      if (millionths.compareTo(BigDecimal.TEN.pow(DECIMALS)) > 0) {
        throw new BadValue("is out of bounds", fromPercent(text));
      }
      if (millionths.scale() > 0) {
        throw new BadValue("has too many decimals");
      }
      return millionths.intValueExact();
    }

    private static @Nullable String fromPercent(String text) {
      if (!text.matches("\\d{1,3}(\\.\\d{1,4})?")) {
        return null;
      }
      BigDecimal rate = new BigDecimal(text).movePointLeft(2);
      return rate.compareTo(BigDecimal.ONE) > 0 ? null : rate.toPlainString();
    }

    @Override
    public String allowed() {
      return "a rate from 0 to 1 with at most six decimals, such as 0.70";
    }
  }

  /** See {@link #choice}. */
  record Choice<E extends Enum<E>>(Class<E> type) implements Kind<E> {
    @Override
    public E read(String text) throws BadValue {
      for (E constant : type.getEnumConstants()) {
        if (name(constant).equals(text)) {
          return constant;
        }
      }
      throw new BadValue(
          "is none of the choices",
          NearMiss.among(names(), text.toLowerCase(Locale.ROOT)).orElse(null));
    }

    private List<String> names() {
      return Arrays.stream(type.getEnumConstants()).map(Choice::name).toList();
    }

    private static String name(Enum<?> constant) {
      return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    @Override
    public String allowed() {
      return String.join(" or ", names());
    }
  }

  /** See {@link #addressRanges}. */
  record AddressRanges() implements Kind<List<String>> {
    @Override
    public List<String> read(String text) throws BadValue {
      List<String> ranges = new ArrayList<>();
      if (!text.isBlank()) {
        for (String range : text.split(",", -1)) {
          ranges.add(check(range.strip()));
        }
      }
      return List.copyOf(ranges);
    }

    private static String check(String range) throws BadValue {
      try {
        Cidr.parse(range);
        return range;
      } catch (Cidr.Malformed e) {
        throw new BadValue(e.what(), e.meant());
      }
    }

    @Override
    public String allowed() {
      return "address ranges in CIDR form, separated by commas, such as 10.0.0.0/8,fd00::/8";
    }
  }

  /** See {@link #ports}. */
  record PortList() implements Kind<Ports> {
    @Override
    public Ports read(String text) throws BadValue {
      try {
        return Ports.parse(text);
      } catch (IllegalArgumentException e) {
        throw new BadValue("is not a list of ports");
      }
    }

    @Override
    public String allowed() {
      return "ports from 1 to 65535 and ranges of them, separated by commas, such as"
          + " 80,443,1024-65535";
    }
  }

  /** See {@link #flag}. */
  record Flag() implements Kind<Boolean> {
    private static final Map<String, String> OTHER_WORDS =
        Map.of(
            "yes", "true", "on", "true", "1", "true", "no", "false", "off", "false", "0", "false");

    @Override
    public Boolean read(String text) throws BadValue {
      return switch (text) {
        case "true" -> true;
        case "false" -> false;
        default -> {
          String word = text.toLowerCase(Locale.ROOT);
          boolean isKnown = word.equals("true") || word.equals("false");
          throw new BadValue("is neither true nor false", isKnown ? word : OTHER_WORDS.get(word));
        }
      };
    }

    @Override
    public String allowed() {
      return "true or false";
    }
  }

  /** See {@link #optionalProxy}. It may have a password in it, so that no part of it is shown. */
  record OptionalProxy() implements Kind<Optional<Proxy>> {
    private static final String SCHEME = "http://";
    private static final Pattern WITH_PORT = Pattern.compile(".+:[0-9]{1,5}");

    @Override
    public Optional<Proxy> read(String text) throws BadValue {
      if (text.isEmpty()) {
        return Optional.empty();
      }
      if (!text.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
        throw new BadValue("does not begin with http://");
      }
      String rest = text.substring(SCHEME.length());
      String authority = rest.endsWith("/") ? rest.substring(0, rest.length() - 1) : rest;
      int at = authority.lastIndexOf('@');
      String place = authority.substring(at + 1);
      if (!WITH_PORT.matcher(place).matches()) {
        throw new BadValue("has no port at its end");
      }
      if (!(EndpointUrl.check(SCHEME + place) instanceof Accepted(EndpointUrl url))
          || !url.uri().equals("/")) {
        throw new BadValue("has a host or a port that there cannot be");
      }
      return Optional.of(
          new Proxy(
              url.host(),
              url.port(),
              at < 0 ? null : credentials(authority.substring(0, at)),
              false));
    }

    private static Proxy.Credentials credentials(String text) throws BadValue {
      int colon = text.indexOf(':');
      String user = decoded(colon < 0 ? text : text.substring(0, colon));
      String password = decoded(colon < 0 ? "" : text.substring(colon + 1));
      if (user.isEmpty() || user.indexOf(':') >= 0) {
        throw new BadValue("has a user that there cannot be");
      }
      return new Proxy.Credentials(user, password);
    }

    /** A plus sign is one, other than in a form. */
    private static String decoded(String text) throws BadValue {
      String decoded;
      try {
        decoded = URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
      } catch (IllegalArgumentException e) {
        throw new BadValue("has a % that two hex digits do not follow");
      }
      if (decoded.chars().anyMatch(Character::isISOControl)) {
        throw new BadValue("has control characters");
      }
      return decoded;
    }

    @Override
    public String allowed() {
      return "nothing, or http://HOST:PORT or http://USER:PASSWORD@HOST:PORT, with %40 for an @ in"
          + " a password";
    }

    @Override
    public boolean isSecret() {
      return true;
    }
  }

  /**
   * See {@link #certificates}. The file is read with the settings, so that it is found out then.
   */
  record Certificates() implements Kind<List<X509Certificate>> {
    private static final int MOST_BYTES = 4 << 20;

    @Override
    public List<X509Certificate> read(String text) throws BadValue {
      if (text.isEmpty()) {
        return List.of();
      }
      List<X509Certificate> certificates = new ArrayList<>();
      try {
        for (Certificate one :
            CertificateFactory.getInstance("X.509")
                .generateCertificates(new ByteArrayInputStream(content(text)))) {
          certificates.add((X509Certificate) one);
        }
      } catch (CertificateException e) {
        throw new BadValue("has something in it that is no certificate");
      }
      if (certificates.isEmpty()) {
        throw new BadValue("has no certificate in it");
      }
      return List.copyOf(certificates);
    }

    private static byte[] content(String text) throws BadValue {
      try (InputStream in = Files.newInputStream(Path.of(text))) {
        byte[] content = in.readNBytes(MOST_BYTES + 1);
        if (content.length > MOST_BYTES) {
          throw new BadValue("is larger than 4 MB");
        }
        return content;
      } catch (NoSuchFileException | InvalidPathException e) {
        throw new BadValue("is no file that there is");
      } catch (IOException e) {
        throw new BadValue("cannot be read");
      }
    }

    @Override
    public String allowed() {
      return "nothing, or a file with certificates in PEM form";
    }
  }

  /** See {@link #optionalFile}. */
  record OptionalFile() implements Kind<Optional<Path>> {
    @Override
    public Optional<Path> read(String text) throws BadValue {
      try {
        return text.isEmpty() ? Optional.empty() : Optional.of(Path.of(text));
      } catch (InvalidPathException e) {
        throw new BadValue("cannot be a file");
      }
    }

    @Override
    public String allowed() {
      return "nothing, or a file";
    }
  }

  /** See {@link #directory}. */
  record Directory() implements Kind<Path> {
    @Override
    public Path read(String text) throws BadValue {
      if (text.isBlank()) {
        throw new BadValue("is no directory");
      }
      try {
        return Path.of(text);
      } catch (InvalidPathException e) {
        throw new BadValue("cannot be a directory");
      }
    }

    @Override
    public String allowed() {
      return "a directory, which is made when absent";
    }
  }

  /** See {@link #host}. */
  record Host() implements Kind<String> {
    @Override
    public String read(String text) throws BadValue {
      if (!text.matches("[A-Za-z0-9._:%-]{1,253}")) {
        throw new BadValue("is neither an address nor a name");
      }
      if (text.matches("[^:]+:\\d+")) {
        throw new BadValue("has a port, which is server.port", text.replaceAll(":\\d+$", ""));
      }
      return text;
    }

    @Override
    public String allowed() {
      return "an address or a name of this machine, such as 127.0.0.1, or 0.0.0.0 for all";
    }
  }

  /** See {@link #optionalCollector}. It may have a token in it, so that no part of it is shown. */
  record OptionalCollector() implements Kind<Optional<URI>> {
    private static final String TRACES = "/v1/traces";

    @Override
    public Optional<URI> read(String text) throws BadValue {
      if (text.isEmpty()) {
        return Optional.empty();
      }
      URI uri;
      try {
        uri = new URI(text);
      } catch (URISyntaxException e) {
        throw new BadValue("is no URL");
      }
      boolean isHttp = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
      if (!isHttp || uri.getHost() == null) {
        throw new BadValue("is no URL that begins with http:// or https:// and a host");
      }
      if (uri.getRawUserInfo() != null || uri.getRawQuery() != null || uri.getFragment() != null) {
        throw new BadValue("has a user, a query or a fragment");
      }
      boolean isBare = uri.getPath().isEmpty() || uri.getPath().equals("/");
      return Optional.of(isBare ? uri.resolve(TRACES) : uri);
    }

    @Override
    public String allowed() {
      return "nothing, or an http or https URL such as http://localhost:4318, to which "
          + TRACES
          + " is added when it has no path";
    }

    @Override
    public boolean isSecret() {
      return true;
    }
  }

  /**
   * See {@link #optionalDatabase}. It may have a password in it, so that no part of it is shown.
   */
  record OptionalDatabase() implements Kind<Optional<String>> {
    @Override
    public Optional<String> read(String text) throws BadValue {
      if (text.isEmpty()) {
        return Optional.empty();
      }
      Optional<String> problem = PostgresOptions.problem(text);
      if (problem.isPresent()) {
        throw new BadValue(problem.get());
      }
      return Optional.of(text);
    }

    @Override
    public String allowed() {
      return "nothing, or a URL of PostgreSQL's driver such as jdbc:postgresql://HOST:5432/DATABASE";
    }

    @Override
    public boolean isSecret() {
      return true;
    }
  }

  /** See {@link #optionalWord} and {@link #optionalPassword}. */
  record OptionalWord(boolean isSecret) implements Kind<Optional<String>> {
    private static final int MOST = 1_000;

    @Override
    public Optional<String> read(String text) throws BadValue {
      if (text.length() > MOST) {
        throw new BadValue("is too long");
      }
      if (text.chars().anyMatch(Character::isISOControl)) {
        throw new BadValue("has control characters");
      }
      return text.isEmpty() ? Optional.empty() : Optional.of(text);
    }

    @Override
    public String allowed() {
      return "nothing, or up to " + MOST + " characters";
    }
  }

  /** See {@link #name}. */
  record Name() implements Kind<String> {
    private static final int MOST = 100;

    @Override
    public String read(String text) throws BadValue {
      if (!text.matches("[\\x21-\\x7e]{1," + MOST + "}")) {
        throw new BadValue("is no name");
      }
      return text;
    }

    @Override
    public String allowed() {
      return "1 to " + MOST + " visible ASCII characters";
    }
  }

  /** See {@link #masterKeys}. */
  record MasterKeyList() implements Kind<List<MasterKey>> {
    @Override
    public List<MasterKey> read(String text) throws BadValue {
      if (text.isEmpty()) {
        return List.of();
      }
      List<MasterKey> keys = new ArrayList<>();
      for (String one : text.split(",", -1)) {
        keys.add(MasterKey.parse(one).orElseThrow(() -> new BadValue("has no such key in it")));
      }
      if (keys.size() > MasterKeys.MOST) {
        throw new BadValue("has too many keys in it");
      }
      return List.copyOf(keys);
    }

    @Override
    public String allowed() {
      return MasterKey.FORM + "; up to " + MasterKeys.MOST + " of them, separated by commas";
    }

    @Override
    public boolean isSecret() {
      return true;
    }
  }

  /** See {@link #optionalKey}. */
  record OptionalKey() implements Kind<Optional<String>> {
    private static final int MOST = 256;

    @Override
    public Optional<String> read(String text) throws BadValue {
      if (text.length() > MOST) {
        throw new BadValue("is too long");
      }
      if (!text.matches("[A-Za-z0-9._~+/-]*=*")) {
        throw new BadValue("has characters that cannot be sent as a bearer token");
      }
      return text.isEmpty() ? Optional.empty() : Optional.of(text);
    }

    @Override
    public String allowed() {
      return "at most " + MOST + " characters out of A-Z a-z 0-9 . _ ~ + / - with = at the end";
    }

    @Override
    public boolean isSecret() {
      return true;
    }
  }
}
