package dev.holdfast.engine.store;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.EndpointTls;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Edition;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Health.Bucket;
import dev.holdfast.core.model.IdSource;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Message.Status;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.RateLimit;
import dev.holdfast.core.model.Secret;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Valid values to be stored, from all over what the model allows. */
final class RandomRecords {

  /** What the path ever puts into a time: the year 0 to the year 9999. */
  private static final long FIRST_SECOND = Instant.parse("0000-01-01T00:00:00Z").getEpochSecond();

  private static final long LAST_SECOND = Instant.parse("9999-12-31T23:59:59Z").getEpochSecond();

  private final SplittableRandom random;
  private final IdSource ids = new IdSource(5, 0);

  RandomRecords(SplittableRandom random) {
    this.random = random;
  }

  long id() {
    return ids.next(Sample.NOW);
  }

  Endpoint endpoint() {
    return new Endpoint(
        id(),
        tenant(),
        "http://" + id() + ".example/" + text(40),
        health(time()),
        maybe(() -> new RateLimit(random.nextDouble(RateLimit.LEAST, RateLimit.MOST))),
        maybe(this::tls),
        maybe(this::time));
  }

  EndpointTls tls() {
    return random.nextBoolean()
        ? new EndpointTls(null, null, text(100))
        : new EndpointTls(text(100), text(100), maybe(() -> text(100)));
  }

  Health health(Instant createdAt) {
    return new Health(
        pick(Health.State.values()),
        time(),
        pick(Health.Reason.values()),
        createdAt,
        count(Long.MAX_VALUE),
        count(Long.MAX_VALUE),
        new Bucket(count(), count()),
        new Bucket(count(), count()),
        count(),
        maybe(this::time),
        maybe(this::time));
  }

  Subscription subscription(Endpoint endpoint) {
    List<TypePattern> types = new ArrayList<>();
    for (int i = random.nextInt(1, 5); i > 0; i--) {
      types.add(new TypePattern(text(20)));
    }
    Interest interest = new Interest(types, maybe(() -> text(256)), Filters.NONE);
    Instant createdAt = time();
    return new Subscription(
        id(),
        endpoint.tenant(),
        endpoint.id(),
        maybe(() -> text(50)),
        interest,
        form(),
        createdAt,
        random.nextBoolean() ? createdAt : time(),
        random.nextBoolean(),
        random.nextBoolean() ? Set.of() : Set.of(endpoint.id(), 7L));
  }

  Form form() {
    Form.Format format = List.of(Form.Format.values()).get(random.nextInt(3));
    TreeMap<String, String> headers = new TreeMap<>();
    for (int i = random.nextInt(3); i > 0; i--) {
      headers.put("X-Header-" + i, random.nextBoolean() ? "" : "value: " + random.nextInt());
    }
    List<Secret> secrets = new ArrayList<>();
    for (int i = random.nextInt(3); i > 0; i--) {
      secrets.add(new Secret("whsec_" + random.nextLong(), time(), maybe(this::time)));
    }
    return new Form(
        format,
        format == Form.Format.WORKFRONT
            ? new Edition(pick(Version.values()), maybe(this::time))
            : Edition.NEWEST,
        format == Form.Format.WORKFRONT && random.nextBoolean(),
        maybe(() -> "token-" + random.nextLong()),
        headers,
        secrets);
  }

  Event event() {
    return new Event(
        id(),
        tenant(),
        text(256),
        maybe(() -> text(256)),
        maybe(() -> time().plusNanos(random.nextInt(1_000))),
        bytes(random.nextInt(10) == 0 ? 50_000 : 300),
        maybe(() -> bytes(300)),
        maybe(() -> "key-" + random.nextLong()),
        maybe(() -> text(55)));
  }

  Message pending(Event event, long subscription, long endpoint) {
    return Message.pending(id(), event.id(), subscription, endpoint, event.size(), version());
  }

  /** Two steps of the event's messages, with and without versions. */
  List<FanOut> later(Event event, List<Subscription> subscriptions) {
    List<FanOut> steps = new ArrayList<>();
    int first = 0;
    for (int step = 0; step < 2; step++) {
      boolean hasVersions = random.nextBoolean();
      List<FanOut.Target> targets = new ArrayList<>();
      for (int i = random.nextInt(1, 5); i > 0; i--) {
        Subscription target = subscriptions.get(random.nextInt(subscriptions.size()));
        targets.add(
            new FanOut.Target(target.id(), target.endpoint(), hasVersions ? version() : null));
        id();
      }
      steps.add(new FanOut(event.id(), event.size(), first, targets));
      first += targets.size();
    }
    return steps;
  }

  @Nullable Version version() {
    return maybe(() -> pick(Version.values()));
  }

  /** The message as it is after some attempts. */
  Message changed(Message message, Status status) {
    return new Message(
        message.id(),
        message.event(),
        message.subscription(),
        message.endpoint(),
        status,
        count(),
        count(),
        time(),
        time(),
        maybe(this::time),
        maybe(this::time),
        message.size(),
        message.version());
  }

  Attempt attempt(Message message, int number, Outcome outcome) {
    return new Attempt(
        message.id(), number, time(), count(Long.MAX_VALUE), random.nextBoolean(), outcome);
  }

  Outcome success() {
    return new Outcome.Success(random.nextInt(200, 300), bytes(4_096));
  }

  Outcome failure() {
    return new Outcome.Failure(
        pick(Outcome.Failure.Kind.values()),
        maybe(() -> random.nextInt(1_000)),
        bytes(4_096),
        maybe(() -> text(128)));
  }

  String tenant() {
    return random.nextInt(3) == 0 ? "acme" : Sample.TENANT;
  }

  /** Characters of any script, never a control character or half of a surrogate pair. */
  String text(int mostChars) {
    int length = random.nextInt(1, mostChars + 1);
    StringBuilder text = new StringBuilder();
    while (text.length() < length) {
      int point =
          switch (random.nextInt(4)) {
            case 0 -> random.nextInt(0xa0, 0xd800);
            case 1 -> random.nextInt(0xe000, 0x1_0000);
            case 2 -> text.length() + 2 <= length ? random.nextInt(0x1_0000, 0x11_0000) : 'x';
            default -> random.nextInt(' ', 0x7f);
          };
      text.appendCodePoint(point);
    }
    return text.toString();
  }

  byte[] bytes(int most) {
    byte[] bytes = new byte[random.nextInt(most + 1)];
    random.nextBytes(bytes);
    return bytes;
  }

  /** To the microsecond, as times are kept. */
  Instant time() {
    return Instant.ofEpochSecond(
            random.nextInt(4) == 0
                ? random.nextLong(FIRST_SECOND, LAST_SECOND)
                : Sample.NOW.getEpochSecond() + random.nextInt(-100_000, 100_000),
            random.nextInt(1_000_000_000))
        .truncatedTo(ChronoUnit.MICROS);
  }

  private int count() {
    return (int) count(Integer.MAX_VALUE);
  }

  private long count(long most) {
    return switch (random.nextInt(4)) {
      case 0 -> 0;
      case 1 -> most;
      case 2 -> random.nextLong(most);
      default -> random.nextLong(20);
    };
  }

  <T> @Nullable T maybe(Supplier<T> value) {
    return random.nextBoolean() ? value.get() : null;
  }

  <T> T pick(T[] values) {
    return values[random.nextInt(values.length)];
  }
}
