package dev.holdfast.proof.torture;

import dev.holdfast.proof.stage.Http;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Threads that send events as fast as they are taken, one at a time or a few together, and note
 * each answer.
 *
 * <p>Half of the events have an id of their own. When the server dies before it has answered, such
 * an event is sent again, as a careful publisher does it; of the others it stays unknown whether
 * they were accepted.
 */
final class Publishers implements AutoCloseable {
  private static final int REPEATED = 200;
  private static final int ACCEPTED = 202;
  private static final int OVERLOADED = 429;
  private static final int UNAVAILABLE = 503;

  private static final int THREADS = 6;
  private static final int BATCH = 5;

  private static final Duration PAUSE = Duration.ofMillis(10);
  private static final Pattern NUMBER = Pattern.compile("\"n\":(\\d{1,9}),");
  private static final Pattern MESSAGES = Pattern.compile("\"messages\":(\\d+)");
  private static final Pattern DETAIL = Pattern.compile("\"detail\":\"[^\"]{10,}\"");

  private final int[] ports;
  private final Pace pace;
  private final String key;
  private final Plan plan;
  private final Ledger ledger;
  private final Http http;
  private final Queue<Integer> again = new ConcurrentLinkedQueue<>();
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicInteger turns = new AtomicInteger();
  private final AtomicInteger busy = new AtomicInteger();
  private final AtomicInteger refusals = new AtomicInteger();

  /** When that was sent which each server has acknowledged, the latest of it. */
  private final AtomicLongArray acceptedNanos;

  private volatile boolean sending;
  private volatile boolean closed;

  /**
   * How fast they are.
   *
   * @param mostMissing messages that may be under way; beyond it nothing is sent, so that the end
   *     comes soon
   * @param pause of each after each call
   * @param patience with each call
   */
  record Pace(int mostMissing, Duration pause, Duration patience) {
    /** As fast as a server takes it. */
    static final Pace FAST = new Pace(1_000, Duration.ZERO, Duration.ofSeconds(30));

    /** Slow enough to go on while a part of what was sent has to wait for another server. */
    static final Pace STEADY = new Pace(6_000, Duration.ofMillis(25), Duration.ofSeconds(2));
  }

  Publishers(int port, String key, Plan plan, Ledger ledger) {
    this(new int[] {port}, Pace.FAST, key, plan, ledger);
  }

  /** To several servers in turn. What one of them has not answered is sent again to the next. */
  Publishers(int[] ports, Pace pace, String key, Plan plan, Ledger ledger) {
    this.ports = ports.clone();
    this.acceptedNanos = new AtomicLongArray(ports.length);
    for (int server = 0; server < ports.length; server++) {
      acceptedNanos.set(server, System.nanoTime());
    }
    this.pace = pace;
    this.http = new Http(pace.patience());
    this.key = key;
    this.plan = plan;
    this.ledger = ledger;
    for (int i = 0; i < THREADS; i++) {
      threads.add(Thread.ofPlatform().daemon().name("publisher-" + i).start(this::run));
    }
  }

  void start() {
    sending = true;
  }

  /** Sends nothing new. What has an id and was never answered is still sent again. */
  void pause() {
    sending = false;
  }

  /** Whether there is nothing left to be sent or answered, after a pause. */
  boolean isIdle() {
    return busy.get() == 0 && again.isEmpty();
  }

  /** How often the server has said that it takes nothing now. */
  int refusals() {
    return refusals.get();
  }

  /** Whether one of the servers has acknowledged something that was sent after this moment. */
  boolean hasAccepted(int server, long sinceNanos) {
    return acceptedNanos.get(server) - sinceNanos > 0;
  }

  private void run() {
    int turn = 0;
    while (!closed) {
      busy.incrementAndGet();
      boolean went;
      try {
        went = sendNext(turn++);
      } finally {
        busy.decrementAndGet();
      }
      if (!went) {
        Scene.pause(PAUSE);
      }
      if (pace.pause().isPositive()) {
        Scene.pause(pace.pause());
      }
    }
  }

  private boolean sendNext(int turn) {
    int server = turns.getAndIncrement() % ports.length;
    Integer repeated = again.poll();
    if (repeated != null) {
      return send(server, true, repeated);
    }
    if (!sending || ledger.missing() > pace.mostMissing()) {
      return false;
    }
    return send(server, false, ledger.send(turn % 3 == 0 ? BATCH : 1));
  }

  /** Sends events in one request; false when nobody was there to take them. */
  private boolean send(int server, boolean repeated, int... events) {
    int port = ports[server];
    long at = System.nanoTime();
    try {
      HttpResponse<String> answer =
          events.length == 1
              ? http.call("POST", port, "/v1/events", key, event(events[0]))
              : http.call("POST", port, "/v1/events/batch", key, batch(events));
      boolean accepted = answered(answer, repeated, events);
      if (accepted) {
        acceptedNanos.accumulateAndGet(server, at, (one, other) -> other - one > 0 ? other : one);
      }
      return accepted;
    } catch (IOException e) {
      sendAgain(events);
      return false;
    }
  }

  private void sendAgain(int... events) {
    for (int event : events) {
      if (hasId(event)) {
        again.add(event);
      }
    }
  }

  private boolean answered(HttpResponse<String> answer, boolean repeated, int... events) {
    int status = answer.statusCode();
    if (status == ACCEPTED || status == REPEATED) {
      checkMessages(answer.body(), events);
      ledger.acknowledged(events);
      return true;
    }
    if (status != OVERLOADED && status != UNAVAILABLE) {
      ledger.problem("answered %d %s".formatted(status, answer.body()));
      return false;
    }
    refusals.incrementAndGet();
    if (!DETAIL.matcher(answer.body()).find()) {
      ledger.problem("a refusal without a sentence: " + answer.body());
    }
    if (repeated) {
      // It may have been accepted the first time, so this says nothing about it.
      sendAgain(events);
    } else {
      ledger.refused(events);
    }
    return false;
  }

  private void checkMessages(String body, int... events) {
    Matcher matcher = MESSAGES.matcher(body);
    for (int event : events) {
      if (!matcher.find() || Integer.parseInt(matcher.group(1)) != Ledger.MESSAGES_PER_EVENT) {
        ledger.problem(
            "event %d should have %d messages: %s"
                .formatted(event, Ledger.MESSAGES_PER_EVENT, body));
      }
    }
  }

  private static boolean hasId(int event) {
    return event % 2 == 0;
  }

  private String batch(int... events) {
    StringBuilder body = new StringBuilder("{\"events\":[");
    for (int i = 0; i < events.length; i++) {
      body.append(i == 0 ? "" : ",").append(event(events[i]));
    }
    return body.append("]}").toString();
  }

  private String event(int event) {
    String id = hasId(event) ? "\"id\":\"torture-%d\",".formatted(event) : "";
    return "{%s\"type\":\"t%d\",\"data\":%s}"
        .formatted(id, event % Listener.ENDPOINTS, data(event, plan));
  }

  private static String data(int event, Plan plan) {
    return "{\"n\":%d,\"padding\":\"%s\"}".formatted(event, "x".repeat(plan.padding(event)));
  }

  /** Whether a delivered body has the data that was sent with an event, to the byte. */
  static boolean hasDataOf(int event, String body, Plan plan) {
    return body.contains("\"data\":" + data(event, plan));
  }

  /** The number of the event that was delivered in this body; negative when there is none. */
  static int number(String body) {
    Matcher matcher = NUMBER.matcher(body);
    return matcher.find() ? Integer.parseInt(matcher.group(1)) : -1;
  }

  @Override
  public void close() {
    closed = true;
    http.close();
    for (Thread thread : threads) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
