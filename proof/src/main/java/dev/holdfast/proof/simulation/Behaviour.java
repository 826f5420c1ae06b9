package dev.holdfast.proof.simulation;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Outcome.Failure.Kind;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.SplittableRandom;

/** How a receiver answers. */
sealed interface Behaviour {

  Duration TIMEOUT = Duration.ofSeconds(5);

  /** What comes of an attempt, and how long it takes. */
  record Reaction(Outcome outcome, Duration takes) {}

  Reaction react(Instant now, SplittableRandom random);

  /** Takes everything. */
  record Healthy(Duration latency) implements Behaviour {
    @Override
    public Reaction react(Instant now, SplittableRandom random) {
      return new Reaction(OK, upTo(latency, random));
    }
  }

  /** Fails so many in a hundred, at once and in many ways. */
  record Failing(int percent, Duration latency) implements Behaviour {
    @Override
    public Reaction react(Instant now, SplittableRandom random) {
      Duration takes = upTo(latency, random);
      if (random.nextInt(100) >= percent) {
        return new Reaction(OK, takes);
      }
      return new Reaction(
          switch (random.nextInt(5)) {
            case 0 -> Outcome.Failure.of(Kind.CONNECT);
            case 1 -> Outcome.Failure.of(Kind.RESET);
            case 2 -> Outcome.Failure.of(Kind.TLS);
            case 3 -> status(503, "soon");
            default -> status(500, "");
          },
          takes);
    }
  }

  /** Answers never, or too late: the message may have been taken, but nobody knows. */
  record Hanging() implements Behaviour {
    @Override
    public Reaction react(Instant now, SplittableRandom random) {
      return new Reaction(Outcome.Failure.of(Kind.TIMEOUT), TIMEOUT);
    }
  }

  /** Is well for a time and down for a time, again and again. */
  record Flapping(Duration well, Duration down) implements Behaviour {
    @Override
    public Reaction react(Instant now, SplittableRandom random) {
      long period = well.plus(down).toMillis();
      boolean isWell = Math.floorMod(now.toEpochMilli(), period) < well.toMillis();
      return isWell
          ? new Reaction(OK, upTo(Duration.ofMillis(50), random))
          : new Reaction(status(502, ""), upTo(Duration.ofMillis(20), random));
    }
  }

  /** Takes some, and asks to be left alone for up to so long otherwise. */
  record RateLimiting(int percent, Duration most) implements Behaviour {
    @Override
    public Reaction react(Instant now, SplittableRandom random) {
      Duration takes = upTo(Duration.ofMillis(30), random);
      if (random.nextInt(100) >= percent) {
        return new Reaction(OK, takes);
      }
      long seconds = random.nextLong(1, most.toSeconds() + 1);
      String asks =
          random.nextInt(3) > 0
              ? Long.toString(seconds)
              : DateTimeFormatter.RFC_1123_DATE_TIME.format(
                  now.plusSeconds(seconds).atOffset(ZoneOffset.UTC));
      return new Reaction(status(random.nextBoolean() ? 429 : 503, asks), takes);
    }
  }

  Outcome OK = new Outcome.Success(200, "ok".getBytes(UTF_8));

  private static Outcome status(int status, String retryAfter) {
    return new Outcome.Failure(
        Kind.STATUS, status, Outcome.NO_RESPONSE, retryAfter.isEmpty() ? null : retryAfter);
  }

  private static Duration upTo(Duration most, SplittableRandom random) {
    return Duration.ofNanos(1_000 * random.nextLong(1, Math.max(2, most.toNanos() / 1_000)));
  }
}
