package dev.holdfast.core.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.model.RateLimit;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class TokenBucketTest {
  private static final Instant START = Instant.parse("2026-03-01T12:00:00Z");
  private static final int SEEDS = 300;

  /** Tokens taken at a moment. */
  private record Taken(Instant at, long tokens) {}

  @Test
  void a_full_bucket_gives_its_burst_at_once_and_then_one_token_at_a_time() {
    TokenBucket bucket = TokenBucket.perSecond(100, Duration.ofSeconds(10));
    assertThat(bucket.most()).isEqualTo(1_000);
    assertThat(bucket.has(1_000, TokenBucket.FULL, START)).isTrue();
    assertThat(bucket.has(1_001, TokenBucket.FULL, START)).isFalse();
    Instant fullAt = bucket.taken(1_000, TokenBucket.FULL, START);
    assertThat(bucket.has(1, fullAt, START)).isFalse();
    assertThat(bucket.hasAt(1, fullAt, START)).isEqualTo(START.plusMillis(10));
    assertThat(bucket.hasAt(50, fullAt, START)).isEqualTo(START.plusMillis(500));
  }

  @Test
  void a_bucket_always_holds_at_least_one_token() {
    assertThat(TokenBucket.perSecond(1, Duration.ofMillis(1)).most()).isEqualTo(1);
    assertThat(TokenBucket.spaced(new RateLimit(RateLimit.LEAST)).most()).isEqualTo(1);
    assertThatThrownBy(() -> new TokenBucket(0, 0)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void what_is_given_back_can_be_taken_again() {
    TokenBucket bucket = TokenBucket.perSecond(1, Duration.ofSeconds(3));
    Instant fullAt = bucket.taken(3, TokenBucket.FULL, START);
    assertThat(bucket.has(2, bucket.givenBack(2, fullAt), START)).isTrue();
    assertThat(bucket.has(3, bucket.givenBack(2, fullAt), START)).isFalse();
  }

  @Test
  void no_window_of_time_has_more_than_rate_and_burst_allow_and_no_token_is_withheld() {
    for (int seed = 0; seed < SEEDS; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      TokenBucket bucket =
          random.nextBoolean()
              ? TokenBucket.spaced(new RateLimit(Math.pow(10, random.nextDouble(-3, 4))))
              : TokenBucket.perSecond(
                  random.nextLong(1, 100_000), Duration.ofMillis(random.nextLong(1, 60_000)));
      List<Taken> taken = new ArrayList<>();
      Instant now = START;
      Instant fullAt = TokenBucket.FULL;
      for (int i = 0; i < 100; i++) {
        long tokens = random.nextLong(1, bucket.most() + 1);
        Instant allowed = bucket.hasAt(tokens, fullAt, now);
        if (random.nextBoolean()) {
          now = allowed;
        } else {
          now = now.plusNanos(random.nextLong(1, 3 * bucket.capacityNanos()));
        }
        if (bucket.has(tokens, fullAt, now)) {
          fullAt = bucket.taken(tokens, fullAt, now);
          taken.add(new Taken(now, tokens));
        } else {
          assertThat(now).as("seed %s", seed).isBefore(allowed);
          assertThat(exceeds(bucket, taken, new Taken(now, tokens)))
              .as("seed %s: something was refused for no reason", seed)
              .isTrue();
        }
      }
      for (int last = 0; last < taken.size(); last++) {
        assertThat(exceeds(bucket, taken.subList(0, last), taken.get(last)))
            .as("seed %s, take %s", seed, last)
            .isFalse();
      }
    }
  }

  /** Whether a window that ends with {@code next} would have more than its time and burst allow. */
  private static boolean exceeds(TokenBucket bucket, List<Taken> before, Taken next) {
    long tokens = next.tokens();
    if (tokens * bucket.nanosPerToken() > bucket.capacityNanos()) {
      return true;
    }
    for (Taken earlier : before.reversed()) {
      tokens += earlier.tokens();
      long nanos = Duration.between(earlier.at(), next.at()).toNanos();
      if (tokens * bucket.nanosPerToken() > nanos + bucket.capacityNanos()) {
        return true;
      }
    }
    return false;
  }
}
