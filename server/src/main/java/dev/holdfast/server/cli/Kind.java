package dev.holdfast.server.cli;

import dev.holdfast.server.api.DurationText;
import java.math.BigDecimal;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
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

  /** The address of a collector that may be given or not. */
  static Kind<Optional<URI>> optionalCollector() {
    return new OptionalCollector();
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
      int slash = range.indexOf('/');
      byte[] address = address(slash < 0 ? range : range.substring(0, slash));
      if (slash < 0) {
        return range + "/" + address.length * 8;
      }
      String length = range.substring(slash + 1);
      if (!length.matches("\\d{1,3}") || Integer.parseInt(length) > address.length * 8) {
        throw new BadValue("has a prefix length that is not 0 to " + address.length * 8);
      }
      byte[] network = network(address, Integer.parseInt(length));
      if (!Arrays.equals(network, address)) {
        throw new BadValue(
            "has an address with bits beyond its prefix length", text(network) + "/" + length);
      }
      return range;
    }

    /** Never a name: that would be looked up. */
    private static byte[] address(String literal) throws BadValue {
      try {
        if (!literal.contains("%")) {
          return InetAddress.ofLiteral(literal).getAddress();
        }
      } catch (IllegalArgumentException e) {
        // Said below.
      }
      throw new BadValue("is not a list of address ranges");
    }

    private static byte[] network(byte[] address, int length) {
      byte[] network = new byte[address.length];
      for (int i = 0; i < length; i++) {
        network[i / 8] |= (byte) (address[i / 8] & (0x80 >> (i % 8)));
      }
      return network;
    }

    private static String text(byte[] address) throws BadValue {
      try {
        return address.length == 16
            ? Inet6Address.getByAddress(null, address, -1).getHostAddress()
            : InetAddress.getByAddress(address).getHostAddress();
      } catch (UnknownHostException e) {
        throw new BadValue("is not a list of address ranges");
      }
    }

    @Override
    public String allowed() {
      return "address ranges in CIDR form, separated by commas, such as 10.0.0.0/8,fd00::/8";
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

  /** See {@link #optionalCollector}. */
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
        throw new BadValue(
            "is no URL that begins with http:// or https:// and a host",
            text.matches("[A-Za-z0-9.-]+:\\d{1,5}") ? "http://" + text : null);
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
