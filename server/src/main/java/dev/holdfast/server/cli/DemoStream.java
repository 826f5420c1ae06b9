package dev.holdfast.server.cli;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Sends the events of the demo, more by day and fewer by night, until it is closed. */
final class DemoStream implements AutoCloseable {
  /** Events a second at noon and at midnight. */
  private static final int MOST = 45;

  private static final int FEWEST = 20;
  private static final Duration PAUSE = Duration.ofMillis(20);

  /** A day of the demo, in real time. */
  private static final double DAY_SECONDS =
      Duration.ofDays(1).toSeconds() / (double) DemoTime.SPEED;

  private final ApiClient api;
  private final DemoEvents events;
  private final InstantSource clock;
  private final ExecutorService sender =
      Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().name("demo events").factory());
  private volatile boolean isClosed;
  private final AtomicLong accepted = new AtomicLong();
  private volatile @Nullable String problem;

  DemoStream(ApiClient api, DemoEvents events, InstantSource clock) {
    this.api = api;
    this.events = events;
    this.clock = clock;
  }

  void start() {
    sender.execute(this::send);
  }

  private void send() {
    Instant start = clock.instant();
    double due = 0;
    double second = 0;
    while (!isClosed) {
      double now = Duration.between(start, clock.instant()).toMillis() / 1_000.0;
      // What a machine that slept has missed is not made up for.
      due += Math.min(now - second, 1) * perSecond(now);
      second = now;
      for (; due >= 1 && !isClosed; due--) {
        sendOne();
      }
      StopSignal.pause(PAUSE);
    }
  }

  static double perSecond(double second) {
    double noon = (1 - Math.cos(2 * Math.PI * second / DAY_SECONDS)) / 2;
    return FEWEST + (MOST - FEWEST) * noon;
  }

  private void sendOne() {
    try {
      ApiClient.Answer answer =
          api.send("POST", "/v1/events", events.next().getBytes(StandardCharsets.UTF_8));
      if (!answer.isForLater()) {
        api.granted(answer);
        accepted.incrementAndGet();
      }
    } catch (CommandFailed e) {
      problem = e.getMessage();
      isClosed = true;
    }
  }

  /** How many events were accepted. */
  long accepted() {
    return accepted.get();
  }

  /** Why no more events come, if they do not. */
  @Nullable String problem() {
    return problem;
  }

  @Override
  public void close() {
    isClosed = true;
    sender.close();
  }
}
