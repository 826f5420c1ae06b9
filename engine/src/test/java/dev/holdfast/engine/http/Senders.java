package dev.holdfast.engine.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Interest;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Outcome;
import dev.holdfast.core.model.Subscription;
import dev.holdfast.core.model.TypePattern;
import dev.holdfast.core.port.Delivery;
import dev.holdfast.engine.egress.Egress;
import dev.holdfast.engine.egress.EgressRules;
import io.netty.handler.ssl.SslContext;
import io.opentelemetry.api.trace.Tracer;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.dns.AddressResolverOptions;
import io.vertx.core.internal.ContextInternal;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** A sender on an event loop of its own, for tests that run on another thread. */
final class Senders implements AutoCloseable {
  static final Instant STARTED_AT = Instant.parse("2026-03-04T05:06:07.890Z");

  /** How an attempt ended. */
  record Ending(Outcome outcome, long millis) {

    Outcome.Failure.Kind kind() {
      return ((Outcome.Failure) outcome).kind();
    }

    String response() {
      return new String(outcome.response(), UTF_8);
    }
  }

  private final Vertx vertx;
  private final Context context;
  private final List<AtomicInteger> calls = new CopyOnWriteArrayList<>();
  final HttpSender sender;
  final HostChecks hostChecks;

  private Senders(
      VertxOptions options,
      Egress egress,
      Duration timeout,
      int mostConnections,
      @Nullable Tracer tracer,
      Keeping keeping,
      Tls tls,
      UnaryOperator<InetSocketAddress> route) {
    vertx = Vertx.vertx(options.setEventLoopPoolSize(1).setPreferNativeTransport(true));
    context = vertx.getOrCreateContext();
    hostChecks = HostChecks.on(context, egress.rules());
    sender =
        new HttpSender(
            context,
            egress,
            timeout,
            mostConnections,
            "Holdfast/test",
            tracer,
            keeping,
            tls,
            route,
            true);
  }

  /**
   * What a sender is made of; the defaults let it reach this machine and give it plenty of time.
   */
  static final class Builder {
    private final VertxOptions options = new VertxOptions();
    private Egress egress = Egress.direct(EgressRules.allowing(List.of("127.0.0.0/8")));
    private UnaryOperator<InetSocketAddress> route = UnaryOperator.identity();
    private Duration timeout = Duration.ofSeconds(20);
    private int mostConnections = 4_096;
    private @Nullable Tracer tracer;
    private Keeping keeping = Keeping.USUAL;
    private @Nullable Tls tls;
    private @Nullable String nameServer;

    Builder allowing(String... ranges) {
      return egress(Egress.direct(EgressRules.allowing(List.of(ranges))));
    }

    Builder egress(Egress how) {
      egress = how;
      return this;
    }

    Builder route(UnaryOperator<InetSocketAddress> instead) {
      route = instead;
      return this;
    }

    Builder timeoutMillis(long millis) {
      timeout = Duration.ofMillis(millis);
      return this;
    }

    Builder mostConnections(int most) {
      mostConnections = most;
      return this;
    }

    Builder tracer(Tracer made) {
      tracer = made;
      return this;
    }

    Builder keeping(Keeping how) {
      keeping = how;
      return this;
    }

    Builder tls(SslContext context) {
      return tls(new Tls(context));
    }

    Builder tls(Tls how) {
      tls = how;
      return this;
    }

    Builder dns(FakeDns dns) {
      nameServer = dns.address();
      return this;
    }

    Senders build() {
      AddressResolverOptions lookups = Lookups.within(timeout);
      if (nameServer != null) {
        lookups.addServer(nameServer).setSearchDomains(List.of());
      }
      options.setAddressResolverOptions(lookups);
      Tls how = tls == null ? Tls.verifying(List.of()) : tls;
      return new Senders(options, egress, timeout, mostConnections, tracer, keeping, how, route);
    }
  }

  static Builder with() {
    return new Builder();
  }

  static Event event(String data) {
    return new Event(
        7, "default", "order.paid", null, null, data.getBytes(UTF_8), null, null, null);
  }

  static Delivery delivery(String url, Event event) {
    return new Delivery(
        Message.pending(42, event.id(), 1, 1, event.size()),
        event,
        subscription(1, Form.PLAIN),
        url,
        STARTED_AT);
  }

  static Subscription subscription(long id, Form form) {
    return new Subscription(
        id,
        "default",
        1,
        new Interest(List.of(new TypePattern("*")), null, Filters.NONE),
        form,
        STARTED_AT);
  }

  CompletableFuture<Ending> start(String url) {
    return start(delivery(url, event("{\"a\":1}")));
  }

  CompletableFuture<Ending> start(Delivery delivery) {
    CompletableFuture<Ending> ending = new CompletableFuture<>();
    AtomicInteger count = new AtomicInteger();
    calls.add(count);
    context.runOnContext(
        nothing -> {
          boolean[] returned = new boolean[1];
          sender.send(
              delivery,
              (outcome, millis) -> {
                count.incrementAndGet();
                assertThat(Vertx.currentContext()).isSameAs(context);
                assertThat(returned[0]).as("send has returned").isTrue();
                ending.complete(new Ending(outcome, millis));
              });
          returned[0] = true;
        });
    return ending;
  }

  Ending send(String url) {
    return await(start(url));
  }

  Ending send(Delivery delivery) {
    return await(start(delivery));
  }

  static <T> T await(CompletableFuture<T> future) {
    return future.orTimeout(30, TimeUnit.SECONDS).join();
  }

  /** Looks names up as this sender does; to be used on its event loop. */
  Names names(int most) {
    ContextInternal internal = (ContextInternal) context;
    return new Names(internal.owner(), internal.nettyEventLoop(), most);
  }

  <T> T onLoop(Callable<T> question) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    context.runOnContext(
        nothing -> {
          try {
            answer.complete(question.call());
          } catch (Exception e) {
            answer.completeExceptionally(e);
          }
        });
    return await(answer);
  }

  /** Ends everything, and makes sure that no attempt was reported twice or not at all. */
  @Override
  public void close() {
    onLoop(
        () -> {
          sender.close();
          return true;
        });
    await(vertx.close().toCompletionStage().toCompletableFuture());
    assertThat(calls).allMatch(count -> count.get() == 1);
  }
}
