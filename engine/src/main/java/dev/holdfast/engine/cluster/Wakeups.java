package dev.holdfast.engine.cluster;

import dev.holdfast.core.model.Shards;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells other nodes that there is something for them, and hears it from them. It is only for speed:
 * what is told may get lost, and is found by looking now and then.
 *
 * <p>Telling never stands in the way of what is told of: a thread of its own does it, and takes
 * together what has come up meanwhile.
 */
final class Wakeups implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Wakeups.class);

  /** How long to listen before looking whether the connection is still one. */
  private static final Duration LISTEN = Duration.ofSeconds(5);

  private static final Duration PAUSE = Duration.ofMillis(500);

  /** What it is about. */
  enum Channel {
    /** Something was left for the nodes of these shards. */
    SHARDS,
    /** What everyone knows has changed. */
    KNOWN,
    /** Something is asked of the nodes of these shards, or was answered. */
    CALLS,
    /** Shards have become free, or a node has come. */
    NODES;

    String text() {
      return "holdfast_" + name().toLowerCase(Locale.ROOT);
    }

    static @Nullable Channel of(String text) {
      for (Channel channel : values()) {
        if (channel.text().equals(text)) {
          return channel;
        }
      }
      return null;
    }
  }

  private final Connecting connecting;
  private final BiConsumer<Channel, Shards> heard;
  private final Link telling;
  private final Map<Channel, Shards> toTell = new EnumMap<>(Channel.class);
  private final Thread teller =
      Thread.ofPlatform().name("holdfast-tell").daemon().unstarted(this::tellAll);
  private final Thread listener =
      Thread.ofPlatform().name("holdfast-listen").daemon().unstarted(this::listen);
  private volatile @Nullable Connection listening;
  private volatile boolean closed;

  /**
   * @param heard told the shards that it is about, all when nobody knows: also after a connection
   *     was made anew, since something may have been missed
   */
  Wakeups(Connecting connecting, BiConsumer<Channel, Shards> heard) {
    this.connecting = connecting;
    this.heard = heard;
    this.telling = new Link(connecting);
  }

  void start() {
    teller.start();
    listener.start();
  }

  /** Tells others, soon. Any thread may ask for it; none waits. */
  void tell(Channel channel, Shards shards) {
    synchronized (toTell) {
      toTell.merge(channel, shards, Shards::plus);
      toTell.notifyAll();
    }
  }

  private void tellAll() {
    while (!closed) {
      Map<Channel, Shards> now;
      synchronized (toTell) {
        while (toTell.isEmpty() && !closed) {
          try {
            toTell.wait();
          } catch (InterruptedException _) {
            return;
          }
        }
        now = new EnumMap<>(toTell);
        toTell.clear();
      }
      try {
        telling.run(connection -> tell(connection, now));
      } catch (SQLException | RuntimeException e) {
        log.debug("cluster.not-told next=\"others look every second\"", e);
      }
    }
  }

  private static boolean tell(Connection connection, Map<Channel, Shards> now) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement("SELECT pg_notify(?, ?)")) {
      for (Map.Entry<Channel, Shards> one : now.entrySet()) {
        statement.setString(1, one.getKey().text());
        statement.setString(2, text(one.getValue()));
        statement.execute();
      }
    }
    return true;
  }

  private static String text(Shards shards) {
    return shards.equals(Shards.ALL)
        ? ""
        : shards.numbers().stream().map(String::valueOf).collect(Collectors.joining(","));
  }

  /** Whatever cannot be read is about all. */
  static Shards shards(String payload) {
    List<Integer> numbers = new ArrayList<>();
    try {
      for (String number : payload.split(",", -1)) {
        numbers.add(Integer.parseInt(number));
      }
      return Shards.of(numbers);
    } catch (IllegalArgumentException | IndexOutOfBoundsException _) {
      return Shards.ALL;
    }
  }

  private void listen() {
    while (!closed) {
      try (Connection connection = connecting.connect()) {
        listening = connection;
        try (Statement statement = connection.createStatement()) {
          for (Channel channel : Channel.values()) {
            statement.execute("LISTEN " + channel.text());
          }
        }
        for (Channel channel : Channel.values()) {
          heard.accept(channel, Shards.ALL);
        }
        listen(connection);
      } catch (SQLException | RuntimeException e) {
        if (!closed) {
          log.debug("cluster.not-listening next=\"looking every second, connecting again\"", e);
        }
        pause();
      }
    }
  }

  private void listen(Connection connection) throws SQLException {
    PGConnection notified = connection.unwrap(PGConnection.class);
    while (!closed) {
      PGNotification @Nullable [] some = notified.getNotifications((int) LISTEN.toMillis());
      if (some == null || some.length == 0) {
        try (Statement statement = connection.createStatement()) {
          statement.execute("SELECT 1");
        }
        continue;
      }
      Map<Channel, Shards> all = new EnumMap<>(Channel.class);
      for (PGNotification one : some) {
        Channel channel = Channel.of(one.getName());
        if (channel != null) {
          all.merge(channel, shards(one.getParameter()), Shards::plus);
        }
      }
      all.forEach(heard);
    }
  }

  private void pause() {
    try {
      Thread.sleep(PAUSE);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    closed = true;
    synchronized (toTell) {
      toTell.notifyAll();
    }
    listener.interrupt();
    Connection connection = listening;
    if (connection != null) {
      try {
        connection.abort(Runnable::run);
      } catch (SQLException _) {
        // It ends with the process.
      }
    }
    try {
      if (teller.isAlive()) {
        teller.join(PAUSE);
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
    telling.close();
  }
}
