package dev.holdfast.proof.bench;

import io.vertx.core.MultiMap;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/**
 * What a load generator is told to do.
 *
 * @param key that the server wants to see
 */
record LoadPlan(Kind kind, String key, Map<Setting, Integer> settings) {

  /** How it is decided when the next request goes out. */
  enum Kind {
    /** Each connection sends again as soon as it was answered. */
    CLOSED_LOOP,
    /** An event goes out when its time has come, whatever became of those before. */
    OPEN_LOOP,
    /** A closed loop of Vert.x's HTTP client that posts to the receiver itself. */
    BARE_CLIENT
  }

  /** What can be chosen, with what it is when nothing was. */
  enum Setting {
    /** Where requests go. */
    PORT(0),
    /** Where to ask how many messages have arrived. */
    RECEIVER_PORT(0),
    CONNECTIONS(1),
    /** Events in one request; 1 is a request without a list. */
    BATCH(1),
    /** How large the data of an event is. */
    DATA_BYTES(LoadPlan.DATA_BYTES),
    /** Whether events have ids that the caller gives, each a random one. */
    CALLER_IDS(0),
    /** How many messages each event becomes. */
    COPIES(1),
    /** The group of the receiver that messages are counted in. */
    GROUP(Rig.EVENTS),
    /** Whether the bare client encrypts. */
    ENCRYPTED(0),
    /** How many endpoints the events are spread over. */
    ENDPOINTS(1),
    /** The first of them. */
    FIRST_ENDPOINT(0),
    /** Events per second, in the open loop. */
    RATE(1),
    /**
     * In the closed loop, sending stops while more events than this are accepted and have not
     * arrived; 0 for no limit.
     */
    MAX_UNDELIVERED(0),
    FIRST_NUMBER(0),
    /** No more events than this are sent. */
    MAX_EVENTS(1 << 28),
    /** Sending stops after this time, whatever happens. */
    MAX_SECONDS(3_600);

    private final int otherwise;

    Setting(int otherwise) {
      this.otherwise = otherwise;
    }

    private String parameter() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** The data of an event, unless something else is said. */
  static final int DATA_BYTES = 1_024;

  static LoadPlan of(Kind kind, int port, String key) {
    return new LoadPlan(kind, key, Map.of(Setting.PORT, port));
  }

  /** What ends a type, so that it can be said in the words of the Workfront-shaped API too. */
  static final String TYPE_END = ".UPDATE";

  /** The type that one endpoint, and no other, subscribes to. */
  static String type(int endpoint) {
    return objCode(endpoint) + TYPE_END;
  }

  /** The kind of object that the type tells of. */
  static String objCode(int endpoint) {
    return String.format(Locale.ROOT, "bench%05d", endpoint);
  }

  LoadPlan with(Setting setting, int value) {
    Map<Setting, Integer> changed = new EnumMap<>(settings);
    changed.put(setting, value);
    return new LoadPlan(kind, key, changed);
  }

  int get(Setting setting) {
    return settings.getOrDefault(setting, setting.otherwise);
  }

  /** The parameters that {@link #parse} reads. */
  String query() {
    StringBuilder query = new StringBuilder("kind=" + kind + "&key=" + key);
    settings.forEach(
        (setting, value) ->
            query.append('&').append(setting.parameter()).append('=').append(value));
    return query.toString();
  }

  static LoadPlan parse(MultiMap query) {
    Map<Setting, Integer> settings = new EnumMap<>(Setting.class);
    for (Setting setting : Setting.values()) {
      String value = query.get(setting.parameter());
      if (value != null) {
        settings.put(setting, Integer.parseInt(value));
      }
    }
    return new LoadPlan(
        Kind.valueOf(Control.required(query, "kind")), Control.required(query, "key"), settings);
  }
}
