package dev.holdfast.server.api;

import dev.holdfast.core.path.Limits;
import java.time.Duration;

/**
 * How much of everything the HTTP interface takes. The components can be set; the constants are
 * part of the contract.
 *
 * @param messageBytes what {@code data} and {@code previous} of one event may have together
 * @param receivingBytes bodies held over all connections, from their first byte to their answer;
 *     beyond it requests are refused, and before that those of tenants that have more than their
 *     share
 * @param connections connections open at once; further ones are closed
 * @param requestTime within which a request must have arrived in full
 * @param idleTime for which a connection may stay open without a request, and within which an
 *     answer must have been taken
 * @param answerTime after which the caller is told that nothing is known about its request yet
 */
public record ApiLimits(
    int messageBytes,
    long receivingBytes,
    int connections,
    Duration requestTime,
    Duration idleTime,
    Duration answerTime) {

  static final int BATCH_EVENTS = 1_000;
  static final int BATCH_BYTES = 16 << 20;

  /** What a request with one event may have beyond {@code data} and {@code previous}. */
  static final int EVENT_OVERHEAD_BYTES = 64 << 10;

  /** Of one subscription, also in an import. */
  static final int SUBSCRIPTION_BYTES = 64 << 10;

  /** Of what is changed about an endpoint. */
  static final int ENDPOINT_BYTES = 64 << 10;

  /** A certificate and those between it and an authority, in PEM. */
  static final int CERTIFICATE_CHARS = 16 << 10;

  /** A private key in PEM. */
  static final int PRIVATE_KEY_CHARS = 8 << 10;

  /** Certificates of authorities in PEM. */
  static final int ROOTS_CHARS = 24 << 10;

  /** One subscription in an import: also what several changes have built up. */
  static final int IMPORTED_BYTES = 256 << 10;

  /** Of one import. */
  static final int IMPORT_SUBSCRIPTIONS = 10_000;

  static final int IMPORT_BYTES = 16 << 20;

  /** Stored events that a preview looks at. */
  static final int PREVIEW_EVENTS = 100;

  /** Previews under way at once. */
  static final int PREVIEWS = 4;

  /** Subscriptions whose version one request changes. */
  static final int VERSION_CHANGES = Limits.VERSION_CHANGES;

  static final int VERSION_CHANGES_BYTES = 512 << 10;

  static final int OBJ_CODE_CHARS = 100;

  static final int REPLAY_BYTES = 16 << 10;

  static final int KEY_REQUEST_BYTES = 4 << 10;

  /** Keys that are stored at once. All of them are held in memory. */
  static final int KEYS = 10_000;

  /** And of one tenant. */
  static final int TENANT_KEYS = 1_000;

  /** Browsers that have signed in with one key; beyond that the oldest session ends. */
  static final int KEY_SESSIONS = 1_000;

  /** And with all keys. All of them are held in memory. */
  static final int SESSIONS = 10_000;

  /** How often one key may sign in within a minute. */
  static final int SIGN_INS = 30;

  /** How soon a server learns of sessions that others have begun or ended. */
  static final Duration SESSIONS_READ = Duration.ofSeconds(1);

  /** A cookie that is longer is not looked for. */
  static final int SESSION_COOKIE_CHARS = 64;

  /** How long after it was made a key may end, if it ends. */
  public static final Duration KEY_TIME = Duration.ofDays(36_500);

  /** Keys that are not valid, from one address in one minute; more are asked to wait. */
  static final int FAILED_KEYS = 20;

  /** Addresses that such keys are counted for. */
  static final int FAILED_KEY_SOURCES = 10_000;

  /** Lines of the log about them in one minute. */
  static final int FAILED_KEY_LINES = 60;

  /** The characters of a key's name. */
  public static final int KEY_NAME_CHARS = 100;

  /** For calls that need no body: room for an empty JSON object and some white space. */
  static final int ACTION_BYTES = 1 << 10;

  /** Bodies up to this size are parsed on the event loop, larger ones on a thread of their own. */
  static final int INLINE_PARSE_BYTES = 256 << 10;

  /** Lists of small items up to this length are written on the event loop. */
  static final int INLINE_WRITE_ITEMS = 50;

  /** Levels of arrays and objects inside {@code data} or {@code previous}. */
  static final int NESTING = 500;

  static final int TYPE_CHARS = 256;
  static final int SUBJECT_CHARS = 256;
  static final int ID_CHARS = 256;
  static final int URL_CHARS = 2_048;
  static final int SUBSCRIPTION_TYPES = 100;
  static final int AUTH_TOKEN_CHARS = 255;
  static final int HEADERS = Limits.HEADERS;
  static final int HEADER_NAME_CHARS = 100;
  static final int HEADER_VALUE_CHARS = 1_000;
  static final int TENANT_CHARS = 64;
  static final int KEY_CHARS = 512;
  static final int CURSOR_CHARS = 64;

  /** What entries of the audit log can be looked for by: an action, an id or a name. */
  static final int AUDIT_WORD_CHARS = 256;

  static final int LIST_ITEMS = 1_000;
  static final int LIST_ITEMS_DEFAULT = 100;

  /** At about this size a list of subscriptions ends, however many were asked for. */
  static final int LIST_BYTES = 4 << 20;

  /** The highest number that a page can be asked for by. */
  static final int PAGES = 1_000_000_000;

  /** Subscriptions in a list that comes whole. */
  static final int WHOLE_LIST_ITEMS = 10_000;

  /** A list that cannot end early is refused beyond this size. */
  static final int WHOLE_LIST_BYTES = 16 << 20;

  /** Lists that cannot end early and have no more than this are not counted. */
  static final int SHORT_LIST_ITEMS = 50;

  /** Longer ones that are made, or wait to be taken by their callers, at once. */
  static final int LONG_LISTS = 4;

  /** How many endpoints a tenant may have for them to be sorted or searched. */
  static final int SORTED_ENDPOINTS = 200_000;

  /** How many of them are copied at once on the event loop. */
  static final int SORTED_SLICE = 1_000;

  /** Tenants whose endpoints are being copied at once. */
  static final int SORTED_COPIES = 4;

  /** Tenants whose sorted endpoints are remembered. */
  static final int SORTED_TENANTS = 8;

  /** For how long. */
  static final Duration SORTED_TIME = Duration.ofSeconds(1);

  /** What endpoints can be searched for. */
  static final int SEARCH_CHARS = 256;

  /** Endpoints whose latest attempts are asked for at once. */
  static final int RECENT_ENDPOINTS = 100;

  /** The latest attempts of each. */
  static final int RECENT_ATTEMPTS = 30;

  /** How old they may be. */
  static final Duration RECENT_AGE = Duration.ofDays(1);

  /** For how long they are remembered, and who asks for the same gets the same. */
  static final Duration RECENT_TIME = Duration.ofSeconds(2);

  /** How many such answers are. */
  static final int RECENT_ANSWERS = 50;

  /** Subscriptions that an event is compared with at once. */
  static final int MATCHES = 100;

  /** How much of a body is shown. */
  static final int SHOWN_BODY_BYTES = 256 << 10;

  /** A longer body does not fit into a command: systems limit what an argument may have. */
  static final int CURL_BODY_BYTES = 64 << 10;

  /** How many endpoints a list looks at for those that are wanted. */
  static final int LIST_ROWS = 10_000;

  /** Who listen to what happens at once; a tenant may have as many of them as are still free. */
  static final int LIVE_READERS = 200;

  /** At least so often something is sent to them that they pass over. */
  static final int LIVE_COMMENT_SECONDS = 15;

  /** Connections that agree on encryption at once; beyond that the oldest give way. */
  static final int HANDSHAKES = 1_000;

  /** Within which they must have. */
  static final Duration HANDSHAKE_TIME = Duration.ofSeconds(5);

  /** How often the files of the server's certificate are looked at. */
  static final Duration CERTIFICATE_LOOK = Duration.ofSeconds(5);

  /** How long before its end the log warns of it. */
  static final Duration CERTIFICATE_ENDS_SOON = Duration.ofDays(14);

  static final int INITIAL_LINE_BYTES = 8 << 10;
  static final int HEADER_BYTES = 16 << 10;

  /** How much of a refused body is read and thrown away, so that its sender sees the answer. */
  static final long LINGER_BYTES = 32L << 20;

  static final Duration LINGER_TIME = Duration.ofSeconds(5);
  static final Duration READY_TIME = Duration.ofSeconds(2);

  public ApiLimits {
    if (messageBytes < 1 || messageBytes > (1 << 30)) {
      throw new IllegalArgumentException("message bytes must be 1 to 1 GiB: " + messageBytes);
    }
    if (receivingBytes < 1 || connections < 1) {
      throw new IllegalArgumentException("limits must be positive");
    }
  }

  /** The limits of the contract, with an eighth of the heap for bodies. */
  public static ApiLimits defaults() {
    long share = Runtime.getRuntime().maxMemory() / 8;
    return new ApiLimits(
        1 << 20,
        Math.clamp(share, 32L << 20, 512L << 20),
        10_000,
        Duration.ofSeconds(30),
        Duration.ofSeconds(75),
        Duration.ofSeconds(60));
  }

  public ApiLimits withMessageBytes(int bytes) {
    return new ApiLimits(bytes, receivingBytes, connections, requestTime, idleTime, answerTime);
  }

  public ApiLimits withReceivingBytes(long bytes) {
    return new ApiLimits(messageBytes, bytes, connections, requestTime, idleTime, answerTime);
  }

  int eventRequestBytes() {
    return messageBytes + EVENT_OVERHEAD_BYTES;
  }

  int previewRequestBytes() {
    return SUBSCRIPTION_BYTES + eventRequestBytes();
  }
}
