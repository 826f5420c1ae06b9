package dev.holdfast.engine.store;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.filter.Filters.Connector;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Edition;
import dev.holdfast.core.model.Form.Format;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Secret;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** How a subscription is kept. */
public final class SubscriptionRow {
  /** The columns that never change, as {@link #read} reads them. */
  private static final String FIXED = "id, tenant, created_at";

  /** The columns that change, in the order of {@link #setChanging}. */
  private static final List<String> CHANGING =
      List.of(
          "endpoint",
          "types",
          "subject",
          "paused",
          "unsettled",
          "connector",
          "filters",
          "format",
          "base64",
          "auth_token",
          "headers",
          "secrets",
          "changed_at",
          "version",
          "version_changed_at",
          "written_url",
          "sum",
          "sealed");

  /** The columns that {@link #read} reads, in its order. */
  public static final String COLUMNS = FIXED + ", " + String.join(", ", CHANGING) + ", ended_at";

  public static final String INSERT =
      "INSERT INTO subscriptions ("
          + FIXED
          + ", "
          + String.join(", ", CHANGING)
          + ") VALUES (?, ?, ?"
          + ", ?".repeat(CHANGING.size())
          + ")";

  public static final String UPDATE =
      "UPDATE subscriptions SET "
          + String.join(" = ?, ", CHANGING)
          + " = ? WHERE id = ? AND ended_at IS NULL";

  private static final int FIRST_CHANGING = 4;
  private static final String LINE = "\n";
  private static final String SPACE = " ";
  private static final String HEADER_SEPARATOR = ": ";

  private SubscriptionRow() {}

  /** Sets what {@link #INSERT} wants. */
  public static void setNew(PreparedStatement row, Subscription subscription, Seals seals)
      throws SQLException {
    row.setLong(1, subscription.id());
    row.setString(2, subscription.tenant());
    row.setLong(3, Rows.micros(subscription.createdAt()));
    setChanging(row, FIRST_CHANGING, subscription, seals);
  }

  /** Sets what {@link #UPDATE} wants. */
  public static void setChanged(PreparedStatement row, Subscription subscription, Seals seals)
      throws SQLException {
    setChanging(row, 1, subscription, seals);
    row.setLong(1 + CHANGING.size(), subscription.id());
  }

  private static void setChanging(
      PreparedStatement row, int first, Subscription subscription, Seals seals)
      throws SQLException {
    Interest interest = subscription.interest();
    Form form = subscription.form();
    row.setLong(first, subscription.endpoint());
    row.setString(first + 1, types(interest.types()));
    row.setString(first + 2, interest.subject());
    row.setInt(first + 3, subscription.paused() ? 1 : 0);
    row.setString(first + 4, endpoints(subscription.unsettled()));
    row.setString(first + 5, interest.filters().connector().name());
    row.setString(first + 6, interest.filters().json());
    row.setString(first + 7, form.format().name());
    row.setInt(first + 8, form.base64() ? 1 : 0);
    // What may be in these is sealed.
    row.setNull(first + 9, Types.VARCHAR);
    row.setString(first + 10, "");
    row.setString(first + 11, "");
    Rows.setTime(row, first + 12, isChanged(subscription) ? subscription.changedAt() : null);
    row.setString(first + 13, form.version().name());
    Rows.setTime(row, first + 14, form.edition().changedAt());
    row.setNull(first + 15, Types.VARCHAR);
    row.setLong(first + 16, sum(subscription, null));
    row.setBytes(first + 17, seals.seal(subscription));
  }

  /** Whether it was changed, as far as times are kept. */
  private static boolean isChanged(Subscription subscription) {
    return Rows.micros(subscription.changedAt()) != Rows.micros(subscription.createdAt());
  }

  /**
   * The sum of a subscription as it is written.
   *
   * @param endedAt when it was deleted, if it was
   */
  public static long sum(Subscription subscription, @Nullable Instant endedAt) {
    return sum(subscription, endedAt, Seals.isSealed(subscription));
  }

  /**
   * The sum of a subscription.
   *
   * @param sealed whether what can be sealed is, and is not in the sum
   */
  public static long sum(Subscription subscription, @Nullable Instant endedAt, boolean sealed) {
    Form form = sealed ? withoutSealed(subscription.form()) : subscription.form();
    Interest interest = subscription.interest();
    RowSum sum =
        RowSum.of("subscriptions")
            .add(subscription.id())
            .add(subscription.tenant())
            .add(subscription.endpoint())
            .add(types(interest.types()))
            .add(interest.subject())
            .add(subscription.createdAt())
            .add(endedAt);
    // What came later counts only where it is used, so that older rows keep their sums.
    if (subscription.paused()) {
      sum.add("paused");
    }
    if (!subscription.unsettled().isEmpty()) {
      sum.add(endpoints(subscription.unsettled()));
    }
    if (!interest.filters().equals(Filters.NONE)) {
      sum.add(interest.filters().connector().name()).add(interest.filters().json());
    }
    if (!form.equals(Form.PLAIN)) {
      sum.add(form.format().name())
          .add(form.base64() ? 1 : 0)
          .add(form.authToken())
          .add(headers(form.headers()))
          .add(secrets(form.secrets()));
      if (!form.edition().equals(Edition.NEWEST)) {
        sum.add("version").add(form.version().name()).add(form.edition().changedAt());
      }
    }
    if (isChanged(subscription)) {
      sum.add("changed_at").add(subscription.changedAt());
    }
    if (sealed) {
      sum.add("sealed");
    } else if (subscription.writtenUrl() != null) {
      sum.add("written_url").add(subscription.writtenUrl());
    }
    return sum.value();
  }

  private static Form withoutSealed(Form form) {
    return new Form(
        form.format(),
        form.edition(),
        form.base64(),
        null,
        Collections.emptyNavigableMap(),
        List.of());
  }

  /** The subscription, as far as there are keys for it. */
  public static Subscription read(ResultSet row, Seals seals) throws SQLException {
    Instant endedAt = endedAt(row);
    byte[] sealed = row.getBytes(FIRST_CHANGING + 17);
    Subscription kept =
        Damaged.orIntact(
            "subscriptions",
            row.getLong(1),
            row.getLong(FIRST_CHANGING + 16),
            () -> readSubscription(row),
            subscription -> sum(subscription, endedAt, sealed != null));
    if (sealed == null) {
      return kept;
    }
    if (Seals.isSealed(kept)) {
      throw new Damaged("row " + kept.id() + " of subscriptions is sealed, and also is not");
    }
    return seals.open(kept, sealed);
  }

  /** When the subscription of the row was deleted, if it was. */
  public static @Nullable Instant endedAt(ResultSet row) throws SQLException {
    return Rows.time(row, FIRST_CHANGING + CHANGING.size());
  }

  private static Subscription readSubscription(ResultSet row) throws SQLException {
    int first = FIRST_CHANGING;
    Instant createdAt = Rows.instant(row.getLong(3));
    Instant changedAt = Rows.time(row, first + 12);
    return new Subscription(
        row.getLong(1),
        row.getString(2),
        row.getLong(first),
        row.getString(first + 15),
        new Interest(
            Arrays.stream(row.getString(first + 1).split(LINE, -1)).map(TypePattern::new).toList(),
            row.getString(first + 2),
            Filters.parse(Connector.valueOf(row.getString(first + 5)), row.getString(first + 6))),
        new Form(
            Format.valueOf(row.getString(first + 7)),
            new Edition(Version.valueOf(row.getString(first + 13)), Rows.time(row, first + 14)),
            row.getInt(first + 8) != 0,
            row.getString(first + 9),
            readHeaders(row.getString(first + 10)),
            readSecrets(row.getString(first + 11))),
        createdAt,
        changedAt == null ? createdAt : changedAt,
        row.getInt(first + 3) != 0,
        readEndpoints(row.getString(first + 4)));
  }

  private static String endpoints(Set<Long> ids) {
    return ids.stream().map(String::valueOf).collect(Collectors.joining(SPACE));
  }

  private static Set<Long> readEndpoints(String text) {
    Set<Long> ids = new TreeSet<>();
    for (String id : text.split(SPACE, -1)) {
      if (!id.isEmpty()) {
        ids.add(Long.valueOf(id));
      }
    }
    return ids;
  }

  private static String types(List<TypePattern> types) {
    return types.stream().map(type -> line(type.text())).collect(Collectors.joining(LINE));
  }

  public static String headers(Map<String, String> headers) {
    return headers.entrySet().stream()
        .map(header -> line(header.getKey() + HEADER_SEPARATOR + header.getValue()))
        .collect(Collectors.joining(LINE));
  }

  public static NavigableMap<String, String> readHeaders(String text) {
    NavigableMap<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    for (String header : text.split(LINE, -1)) {
      if (!header.isEmpty()) {
        int end = header.indexOf(HEADER_SEPARATOR);
        headers.put(header.substring(0, end), header.substring(end + HEADER_SEPARATOR.length()));
      }
    }
    return headers;
  }

  /** One a line: when it was made, until when it is valid, if that is known, and its text. */
  public static String secrets(List<Secret> secrets) {
    return secrets.stream()
        .map(
            secret ->
                line(
                    Rows.micros(secret.createdAt())
                        + SPACE
                        + (secret.validUntil() == null ? "" : Rows.micros(secret.validUntil()))
                        + SPACE
                        + secret.text()))
        .collect(Collectors.joining(LINE));
  }

  public static List<Secret> readSecrets(String text) {
    List<Secret> secrets = new ArrayList<>();
    for (String secret : text.split(LINE, -1)) {
      if (!secret.isEmpty()) {
        String[] parts = secret.split(SPACE, 3);
        secrets.add(
            new Secret(
                parts[2],
                Rows.instant(Long.parseLong(parts[0])),
                parts[1].isEmpty() ? null : Rows.instant(Long.parseLong(parts[1]))));
      }
    }
    return secrets;
  }

  private static String line(String text) {
    if (text.contains(LINE)) {
      throw new IllegalArgumentException("a subscription has no line breaks in what it is made of");
    }
    return text;
  }
}
