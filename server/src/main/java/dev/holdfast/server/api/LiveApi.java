package dev.holdfast.server.api;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.path.View.TenantNow;
import dev.holdfast.engine.Watcher;
import dev.holdfast.engine.egress.MaskedUrl;
import dev.holdfast.server.api.Problem.Kind;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * Tells readers once a second what happens of their tenant, for as long as they listen.
 *
 * <p>What is told is made once a second for all readers of a tenant. A reader goes when its
 * connection, its key or the server does. Lives on the event loop.
 */
final class LiveApi {
  static final String PATH = "/v1/live";
  private static final CharSequence EVENTS = HttpHeaders.createOptimized("text/event-stream");

  private final Engine engine;
  private final Authentication authentication;
  private final Map<String, Channel> channels = new HashMap<>();
  private int readers;
  private boolean stopped;

  LiveApi(Engine engine, Authentication authentication) {
    this.engine = engine;
    this.authentication = authentication;
  }

  List<Route> routes() {
    return List.of(Route.get(PATH, Access.LOOK, Set.of(), this::listen));
  }

  /** Ends all of them: the server stops. */
  void stop() {
    stopped = true;
    for (Channel channel : List.copyOf(channels.values())) {
      channel.readers().forEach(reader -> reader.stream.end());
    }
  }

  private void listen(Exchange exchange, byte[] body) {
    if (exchange.request().method().equals(HttpMethod.HEAD)) {
      exchange.answer(200, EVENTS, Buffer.buffer());
      return;
    }
    if (stopped) {
      exchange.refuse(Problem.STOPPING);
      return;
    }
    String tenant = exchange.tenant();
    Channel known = channels.get(tenant);
    int ofTenant = known == null ? 0 : known.readers.size();
    if (ofTenant >= ApiLimits.LIVE_READERS - readers) {
      exchange.refuse(
          Problem.of(
                  Kind.OVERLOADED,
                  "Too many listen at once, or too many of this tenant. Close pages that nobody"
                      + " looks at, or ask for /v1/activity from time to time.")
              .retryAfter(10));
      return;
    }
    Channel channel = known == null ? new Channel(tenant) : known;
    Reader reader = new Reader(exchange.stillAllowed(authentication));
    EventStream stream = exchange.answerEvents(EVENTS, () -> channel.leave(reader));
    if (stream != null) {
      reader.stream = stream;
      channel.join(reader);
    }
  }

  /** One who listens. */
  private static final class Reader {
    private final BooleanSupplier allowed;

    @SuppressWarnings("NullAway.Init")
    private EventStream stream;

    private int sinceComment;

    Reader(BooleanSupplier allowed) {
      this.allowed = allowed;
    }
  }

  /** All who listen to one tenant. */
  private final class Channel implements Watcher {
    private final String tenant;
    private final List<Reader> readers = new ArrayList<>();
    private @Nullable Watching watching;

    /** What was told last: a new reader need not wait for a second. */
    private @Nullable Buffer latest;

    Channel(String tenant) {
      this.tenant = tenant;
    }

    /** Those of now: whoever is told something may leave by it. */
    List<Reader> readers() {
      return List.copyOf(readers);
    }

    void join(Reader reader) {
      readers.add(reader);
      LiveApi.this.readers++;
      if (watching == null) {
        channels.put(tenant, this);
        watching = engine.watch(tenant, this);
      } else if (latest != null) {
        reader.stream.send(latest);
      }
    }

    void leave(Reader reader) {
      if (!readers.remove(reader)) {
        return;
      }
      LiveApi.this.readers--;
      if (readers.isEmpty() && watching != null) {
        channels.remove(tenant);
        watching.close();
      }
    }

    @Override
    public void now(Now now) {
      Buffer event = EventStream.event("now", Json.write(out -> write(out, now)));
      latest = event;
      Buffer all = Buffer.buffer();
      for (Endpoint endpoint : now.changed()) {
        all.appendBuffer(EventStream.event("change", Json.write(out -> write(out, endpoint))));
      }
      all.appendBuffer(event);
      for (Reader reader : readers()) {
        if (!reader.allowed.getAsBoolean()) {
          reader.stream.end();
          continue;
        }
        reader.stream.send(all);
        reader.sinceComment++;
        if (reader.sinceComment >= ApiLimits.LIVE_COMMENT_SECONDS) {
          reader.sinceComment = 0;
          reader.stream.sendComment();
        }
      }
    }
  }

  private static void write(JsonGenerator out, Watcher.Now now) {
    TenantNow there = now.there();
    out.writeStartObject();
    Json.time(out, "at", now.at());
    out.writeNumberProperty("accepted", now.accepted());
    out.writeNumberProperty("delivered", now.delivered());
    out.writeNumberProperty("failed", now.failed());
    ActivityApi.write(out, now.delays());
    out.writeNumberProperty("pending", there.pending());
    out.writeNumberProperty("waiting", there.waiting());
    out.writeNumberProperty("parked", there.parked());
    out.writeNumberProperty("droppedToday", now.droppedToday());
    out.writeBooleanProperty("moreChanges", now.moreChanged());
    out.writeObjectPropertyStart("endpoints");
    out.writeNumberProperty("enabled", there.enabled());
    out.writeNumberProperty("disabled", there.disabled());
    out.writeNumberProperty("frozen", there.frozen());
    out.writeEndObject();
    out.writeEndObject();
  }

  private static void write(JsonGenerator out, Endpoint endpoint) {
    out.writeStartObject();
    Json.time(out, "at", endpoint.health().since());
    Json.id(out, "endpoint", Id.ENDPOINT, endpoint.id());
    out.writeStringProperty("url", MaskedUrl.of(endpoint.url()));
    Json.constant(out, "state", endpoint.health().state());
    Json.constant(out, "reason", endpoint.health().reason());
    out.writeEndObject();
  }
}
