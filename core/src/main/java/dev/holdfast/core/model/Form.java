package dev.holdfast.core.model;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * How a subscription's messages are sent.
 *
 * @param edition in which version of the format; format {@code workfront} only
 * @param base64 whether the states in the body are Base64 texts; format {@code workfront} only
 * @param authToken sent as {@code Authorization: Bearer}
 * @param headers sent with every attempt; names differ by more than the case of their letters
 * @param secrets what attempts are signed with, the newest first
 */
public record Form(
    Format format,
    Edition edition,
    boolean base64,
    @Nullable String authToken,
    NavigableMap<String, String> headers,
    List<Secret> secrets) {

  /** The usual body, unsigned. */
  public static final Form PLAIN =
      new Form(Format.HOLDFAST, false, null, Collections.emptyNavigableMap(), List.of());

  private static final String AUTHORIZATION = "authorization";

  /** How long messages go on being signed with old secrets, unless somebody asks otherwise. */
  public static final Duration OLD_SECRETS_VALID = Duration.ofHours(24);

  /** How an event is put into a body. */
  public enum Format {
    HOLDFAST,
    CLOUDEVENTS,
    WORKFRONT
  }

  /** The versions of the format {@code workfront}. */
  public enum Version {
    /** An array with one element, of a field that can have several, is sent as that element. */
    V1,
    /** Everything is sent as it came. */
    V2
  }

  /**
   * The version that a subscription has.
   *
   * @param changedAt since when, if it had the other before
   */
  public record Edition(Version version, @Nullable Instant changedAt) {
    public static final Edition NEWEST = new Edition(Version.V2, null);
  }

  public Form {
    NavigableMap<String, String> sorted = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    sorted.putAll(headers);
    headers = Collections.unmodifiableNavigableMap(sorted);
    secrets = List.copyOf(secrets);
    if (base64 && format != Format.WORKFRONT) {
      throw new IllegalArgumentException("only the format workfront can be in Base64");
    }
    if (!edition.equals(Edition.NEWEST) && format != Format.WORKFRONT) {
      throw new IllegalArgumentException("only the format workfront has versions");
    }
  }

  /** A form in the newest version of its format. */
  public Form(
      Format format,
      boolean base64,
      @Nullable String authToken,
      NavigableMap<String, String> headers,
      List<Secret> secrets) {
    this(format, Edition.NEWEST, base64, authToken, headers, secrets);
  }

  public Version version() {
    return edition.version();
  }

  /** Whether events that come at that moment are sent in both versions, since it has changed. */
  public boolean isBothAt(Instant moment, Duration bothFor) {
    Instant changedAt = edition.changedAt();
    return changedAt != null && moment.isBefore(changedAt.plus(bothFor));
  }

  /** Whether both its token and one of its headers would be the attempts' authorization. */
  public boolean authorizesTwice() {
    return authToken != null && headers.containsKey(AUTHORIZATION);
  }

  /** Those that an attempt at that moment is signed with. */
  public List<Secret> secretsAt(Instant moment) {
    return secrets.stream().filter(secret -> secret.isValidAt(moment)).toList();
  }

  /** Whether an attempt at that moment is signed with this secret. */
  public boolean hasSecret(String text, Instant moment) {
    return secrets.stream()
        .anyMatch(secret -> secret.text().equals(text) && secret.isValidAt(moment));
  }

  /** Never the token, the secrets or the headers' values: what is printed can be read by others. */
  @Override
  public String toString() {
    return "Form[format="
        + format
        + ", version="
        + edition.version()
        + ", base64="
        + base64
        + ", authToken="
        + (authToken == null ? "none" : "…")
        + ", headers="
        + headers.keySet()
        + ", secrets="
        + secrets
        + "]";
  }

  /** What is to be changed of a form; what is absent stays. */
  public record Change(
      @Nullable Format format,
      @Nullable Version version,
      @Nullable Boolean base64,
      @Nullable NewToken authToken,
      @Nullable NewHeaders headers,
      @Nullable NewSecret secret) {
    public static final Change NOTHING = new Change(null, null, null, null, null, null);

    public static Change to(Version version) {
      return new Change(null, version, null, null, null, null);
    }

    public static Change to(NewSecret secret) {
      return new Change(null, null, null, null, null, secret);
    }

    /** A change to a format that cannot be in Base64 ends that, unless it is asked for. */
    public boolean isBase64Possible(Form before) {
      return isWorkfrontAfter(before) || base64 == null || !base64;
    }

    /** A change to a format that has no versions ends that, unless one is asked for. */
    public boolean isVersionPossible(Form before) {
      return isWorkfrontAfter(before) || version == null;
    }

    private boolean isWorkfrontAfter(Form before) {
      return (format == null ? before.format : format) == Format.WORKFRONT;
    }

    public Form applyTo(Form before, Instant now) {
      Format newFormat = format == null ? before.format : format;
      boolean newBase64 = base64 == null ? before.base64 : base64;
      return new Form(
          newFormat,
          newEdition(before, newFormat, now),
          newBase64 && newFormat == Format.WORKFRONT,
          authToken == null ? before.authToken : authToken.text(),
          headers == null ? before.headers : headers.applyTo(before.headers),
          secret == null ? before.secrets : secret.applyTo(before.secrets, now));
    }

    private Edition newEdition(Form before, Format newFormat, Instant now) {
      if (newFormat != Format.WORKFRONT) {
        return Edition.NEWEST;
      }
      if (version == null || version == before.version()) {
        return before.edition;
      }
      return new Edition(version, before.format == Format.WORKFRONT ? now : null);
    }
  }

  /** The token that a subscription is to have; none when absent. */
  public record NewToken(@Nullable String text) {
    @Override
    public String toString() {
      return "NewToken[" + (text == null ? "none" : "…") + "]";
    }
  }

  /**
   * Headers that a subscription is to have.
   *
   * @param only whether it is to have no others
   * @param removed names of headers that it is not to have any more
   */
  public record NewHeaders(boolean only, Map<String, String> set, Set<String> removed) {
    public NewHeaders {
      set = Map.copyOf(set);
      removed = Set.copyOf(removed);
    }

    private NavigableMap<String, String> applyTo(NavigableMap<String, String> before) {
      NavigableMap<String, String> after = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
      if (!only) {
        after.putAll(before);
      }
      removed.forEach(after::remove);
      set.forEach(
          (name, value) -> {
            after.remove(name);
            after.put(name, value);
          });
      return after;
    }

    @Override
    public String toString() {
      return "NewHeaders[only=" + only + ", set=" + set.keySet() + ", removed=" + removed + "]";
    }
  }

  /**
   * A secret that takes the place of those before.
   *
   * @param oldValidFor how long messages go on being signed with those before
   */
  public record NewSecret(String text, Duration oldValidFor) {
    private List<Secret> applyTo(List<Secret> before, Instant now) {
      List<Secret> after = new ArrayList<>();
      after.add(new Secret(text, now, null));
      Instant end = now.plus(oldValidFor);
      for (Secret old : before) {
        Secret ending = old.until(end);
        if (ending.isValidAt(now)) {
          after.add(ending);
        }
      }
      return after;
    }

    @Override
    public String toString() {
      return "NewSecret[oldValidFor=" + oldValidFor + "]";
    }
  }
}
