package dev.holdfast.server.api;

import dev.holdfast.core.path.Answer;
import dev.holdfast.core.path.Request;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.server.api.Connections.Peer;
import dev.holdfast.server.api.Problem.Kind;
import io.opentelemetry.api.trace.Span;
import io.vertx.core.AsyncResult;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClosedException;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JsonGenerator;

/**
 * One request and its answer.
 *
 * <p>The answer is given once; whatever comes later, or after the connection has gone, is dropped.
 * A request that is refused before its body has come is answered at once, and the rest of the body
 * is read and thrown away for a while: closing at once would reset the connection, and the sender
 * might never see the answer. Lives on the event loop.
 */
final class Exchange {
  private static final Logger log = LoggerFactory.getLogger(Exchange.class);

  private static final CharSequence JSON = HttpHeaders.createOptimized("application/json");
  private static final CharSequence PROBLEM_JSON =
      HttpHeaders.createOptimized("application/problem+json");
  private static final CharSequence CACHE_CONTROL = HttpHeaders.CACHE_CONTROL;
  private static final CharSequence NO_STORE = HttpHeaders.createOptimized("no-store");
  private static final CharSequence NO_CACHE = HttpHeaders.createOptimized("no-cache");

  /** Keeps proxies that know it from gathering an answer before they pass it on. */
  private static final CharSequence ACCEL_BUFFERING =
      HttpHeaders.createOptimized("x-accel-buffering");

  private static final CharSequence NO = HttpHeaders.createOptimized("no");
  private static final CharSequence WWW_AUTHENTICATE =
      HttpHeaders.createOptimized("www-authenticate");

  private static final int UNAUTHORIZED = 401;
  private static final byte[] NO_BODY = new byte[0];
  private static final int SMALLEST_BODY_ARRAY = 16 << 10;

  /** What an exchange waits for. */
  enum Phase {
    /** The rest of the request. */
    RECEIVING,
    /** Us. */
    ANSWERING,
    /** What is still to come of an answer that goes on. */
    STREAMING,
    /** The end of a body that was refused, or the connection's. */
    LINGERING
  }

  private final Context context;
  private final HttpServerRequest request;
  private final Connections connections;
  private final Peer peer;
  private final boolean expectsBody;

  private @Nullable Route route;
  private Route.Credential credential = Route.Credential.BEARER;
  private @Nullable Span span;
  private Caller caller = Caller.NOBODY;
  private String variable = "";
  private Parameters parameters = Parameters.NONE;

  private long since = Connections.now();
  private boolean received;
  private boolean answered;
  private boolean closeAtEnd;

  /** The answer that goes on, if it is such a one. */
  private @Nullable EventStream stream;

  /** Completes when the connection has taken the answer, or is gone. */
  private Future<Void> written = Future.succeededFuture();

  private int bodyLimit;
  private int contentLength;
  private @Nullable Buffer onlyChunk;
  private byte[] body = NO_BODY;
  private int bodyLength;
  private long heldBytes;
  private long lingeredBytes;

  Exchange(HttpServerRequest request, Connections connections, Peer peer, boolean expectsBody) {
    this.context = connections.context();
    this.request = request;
    this.connections = connections;
    this.peer = peer;
    this.expectsBody = expectsBody;
    peer.exchange = this;
  }

  /** By which header the caller is to be known. */
  void challengeWith(Route.Credential expected) {
    credential = expected;
  }

  void routed(Route found, String variableInPath, Parameters known, Caller knownCaller) {
    route = found;
    variable = variableInPath;
    parameters = known;
    caller = knownCaller;
  }

  /** Ends this span with the answer. */
  void traced(Span begun) {
    span = begun;
  }

  HttpServerRequest request() {
    return request;
  }

  String tenant() {
    return caller.tenant();
  }

  Caller caller() {
    return caller;
  }

  /** What stands in the path for {@code {id}}. */
  String variable() {
    return variable;
  }

  Parameters parameters() {
    return parameters;
  }

  boolean expectsBody() {
    return expectsBody;
  }

  Phase phase() {
    if (isStreaming()) {
      return Phase.STREAMING;
    }
    if (answered) {
      return Phase.LINGERING;
    }
    return received || !expectsBody ? Phase.ANSWERING : Phase.RECEIVING;
  }

  private boolean isStreaming() {
    return stream != null && !stream.isOver();
  }

  /** Whether it is answered, or its connection gone. */
  boolean isOver() {
    return answered || peer.closed;
  }

  /** When the present phase began. */
  long since() {
    return since;
  }

  // ---- the request's body

  /**
   * Takes a body of at most this size.
   *
   * @param declaredBytes its size as the head says, or -1
   */
  void receive(int mostBytes, long declaredBytes) {
    bodyLimit = mostBytes;
    contentLength = (int) declaredBytes;
  }

  void chunk(Buffer chunk) {
    if (answered) {
      lingeredBytes += chunk.length();
      if (lingeredBytes > ApiLimits.LINGER_BYTES) {
        peer.connection.close();
      }
      return;
    }
    int length = bodyLength + chunk.length();
    if (length > bodyLimit) {
      refuse(tooLarge(bodyLimit));
    } else if (bodyLength == 0) {
      if (hold(length)) {
        onlyChunk = chunk;
        bodyLength = length;
      }
    } else if (grow(length)) {
      chunk.getBytes(body, bodyLength);
      bodyLength = length;
    }
  }

  static Problem tooLarge(int mostBytes) {
    return Problem.of(
        Kind.TOO_LARGE,
        "The body may have at most " + mostBytes + " bytes. Nothing was kept. Send less at once.");
  }

  /** Makes room for {@code length} bytes, doubling but never beyond what the head declared. */
  private boolean grow(int length) {
    Buffer first = onlyChunk;
    if (length > body.length) {
      int most = contentLength >= length ? contentLength : bodyLimit;
      int size = Math.max(length, Math.min(most, Math.max(SMALLEST_BODY_ARRAY, 2 * body.length)));
      if (!hold(size - heldBytes)) {
        return false;
      }
      body = Arrays.copyOf(body, size);
    }
    if (first != null) {
      first.getBytes(body, 0);
      onlyChunk = null;
    }
    return true;
  }

  private boolean hold(long bytes) {
    if (connections.hold(tenant(), bytes)) {
      heldBytes += bytes;
      return true;
    }
    refuse(
        Problem.of(
                Kind.OVERLOADED,
                "Too many bytes are being received at once. Send the same request again.")
            .retryAfter(1));
    return false;
  }

  /** The request has arrived in full. */
  void ended() {
    received = true;
    if (isStreaming()) {
      return;
    }
    if (answered) {
      if (closeAtEnd) {
        peer.connection.close();
      } else {
        idle();
      }
      return;
    }
    Route found = route;
    if (expectsBody && found != null) {
      since = Connections.now();
      byte[] taken = takeBody();
      if (found.body() == Route.Body.EMPTY && !isEmptyObject(taken)) {
        refuse(Problem.of(Kind.UNEXPECTED_BODY, "Send this request without a body, or with {}."));
      } else {
        run(found, taken);
      }
    }
  }

  private static boolean isEmptyObject(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8).strip();
    return text.isEmpty()
        || (text.startsWith("{")
            && text.endsWith("}")
            && text.length() > 1
            && text.substring(1, text.length() - 1).isBlank());
  }

  private byte[] takeBody() {
    Buffer only = onlyChunk;
    byte[] taken;
    if (only != null) {
      taken = only.getBytes();
    } else {
      taken = body.length == bodyLength ? body : Arrays.copyOf(body, bodyLength);
    }
    onlyChunk = null;
    body = NO_BODY;
    return taken;
  }

  /** What came is not HTTP, or the connection is gone. */
  void broken(Throwable cause) {
    if (!(cause instanceof HttpClosedException)) {
      refuse(
          Problem.of(
              Kind.BAD_HTTP, "The body is not sent as its head says. Check how it is framed."));
    }
  }

  /** The connection is gone. */
  void abandon() {
    answered = true;
    letGo();
    if (stream != null) {
      stream.gone();
    }
    if (span != null) {
      span.end();
    }
  }

  private void letGo() {
    connections.release(tenant(), heldBytes);
    heldBytes = 0;
    onlyChunk = null;
    body = NO_BODY;
  }

  // ---- the answer

  void run(Route found, byte[] bytes) {
    guarded(() -> found.action().run(this, bytes));
  }

  private void guarded(Runnable handling) {
    try {
      handling.run();
    } catch (Refusal refusal) {
      refuse(refusal.problem());
    } catch (RuntimeException | StackOverflowError e) {
      fail(e);
    }
  }

  /** Reads a body: a small one here and now, a large one, which would hold up the loop, apart. */
  <T> void read(byte[] bytes, Supplier<T> reading, Consumer<T> handling) {
    if (bytes.length <= ApiLimits.INLINE_PARSE_BYTES) {
      handling.accept(reading.get());
    } else {
      readApart(reading, handling);
    }
  }

  /** Reads a body about a subscription or an endpoint: apart if that may take a while. */
  <T> void readSettings(byte[] bytes, Supplier<T> reading, Consumer<T> handling) {
    if (CostlyFields.mayBeIn(bytes)) {
      readApart(reading, handling);
    } else {
      read(bytes, reading, handling);
    }
  }

  /** Reads a body that may take a while on another thread. */
  <T> void readApart(Supplier<T> reading, Consumer<T> handling) {
    then(context.executeBlocking(reading::get, false), handling);
  }

  /** Goes on when the future is there; answers its failure. */
  <T> void then(Future<T> future, Consumer<T> handling) {
    future.onComplete(result -> goOn(result, handling));
  }

  private <T> void goOn(AsyncResult<T> result, Consumer<T> handling) {
    if (result.succeeded()) {
      guarded(() -> handling.accept(result.result()));
    } else if (result.cause() instanceof Refusal refusal) {
      refuse(refusal.problem());
    } else {
      fail(result.cause());
    }
  }

  /**
   * Asks the engine and goes on with its answer. Nothing that goes wrong with the answer may reach
   * the engine, which replies in the middle of its own work.
   */
  void ask(Engine engine, Request asked, Consumer<Answer> handling) {
    engine.ask(asked, caller.actor(), answer -> guarded(() -> handling.accept(answer)));
  }

  /** Asks the engine for something that it does, knows nothing of, or refuses. */
  <A extends Answer> void ask(
      Engine engine, Request asked, Class<A> expected, Consumer<A> handling) {
    ask(engine, asked, expected, handling, () -> refuse(Problem.UNKNOWN_ID));
  }

  /** The same, with another way to go on when the engine knows nothing of it. */
  <A extends Answer> void ask(
      Engine engine,
      Request asked,
      Class<A> expected,
      Consumer<A> handling,
      Runnable whenNotFound) {
    ask(
        engine,
        asked,
        expected,
        handling,
        whenNotFound,
        unfit -> refuse(Problem.of(Kind.INVALID_FIELD, unfit.field(), unfit.reason())));
  }

  /** The same, with another way to go on also when it is not fit for what there is. */
  <A extends Answer> void ask(
      Engine engine,
      Request asked,
      Class<A> expected,
      Consumer<A> handling,
      Runnable whenNotFound,
      Consumer<Answer.Unfit> whenUnfit) {
    ask(
        engine,
        asked,
        answer -> {
          if (expected.isInstance(answer)) {
            handling.accept(expected.cast(answer));
          } else if (answer instanceof Answer.NotFound) {
            whenNotFound.run();
          } else if (answer instanceof Answer.Refused refused) {
            refuse(Problem.of(refused));
          } else if (answer instanceof Answer.Unfit unfit) {
            whenUnfit.accept(unfit);
          } else if (answer instanceof Answer.AlreadyThere(long subscription)) {
            refuse(Problem.alreadySubscribed(subscription));
          } else if (answer instanceof Answer.TooManySecrets(int most)) {
            refuse(Problem.tooManySecrets(most));
          } else if (answer instanceof Answer.TooManyHistories(int most)) {
            refuse(Problem.tooManyHistories(most));
          } else {
            unexpected(answer);
          }
        });
  }

  /** The answer on the busy path: no header more than needed. */
  void answerEvent(int status, Buffer json) {
    if (begin()) {
      HttpServerResponse response = request.response().setStatusCode(status);
      response.putHeader(HttpHeaders.CONTENT_TYPE, JSON);
      end(response, json);
    }
  }

  void answer(int status, Buffer json) {
    answer(status, JSON, json);
  }

  void answer(int status, CharSequence contentType, Buffer content) {
    if (begin()) {
      HttpServerResponse response = request.response().setStatusCode(status);
      response.putHeader(HttpHeaders.CONTENT_TYPE, contentType);
      response.putHeader(CACHE_CONTROL, NO_STORE);
      end(response, content);
    }
  }

  /**
   * Answers with what is the same for everybody. The caller may keep a copy, and asks by its tag
   * whether it is still the same.
   *
   * @param further sets other headers than those about that
   */
  void answerTagged(
      CharSequence contentType, Buffer content, String tag, Consumer<MultiMap> further) {
    if (begin()) {
      String known = request.headers().get(HttpHeaders.IF_NONE_MATCH);
      boolean same = known != null && (known.equals("*") || known.contains(tag));
      HttpServerResponse response = request.response().setStatusCode(same ? 304 : 200);
      response.putHeader(HttpHeaders.ETAG, tag);
      response.putHeader(CACHE_CONTROL, NO_CACHE);
      further.accept(response.headers());
      if (!same) {
        response.putHeader(HttpHeaders.CONTENT_TYPE, contentType);
      }
      end(response, same ? null : content);
    }
  }

  <T> void answerList(Page<T> page, BiConsumer<JsonGenerator, T> writer) {
    answerList(page, false, writer);
  }

  /**
   * @param takesLong whether it takes a while to write however short it is
   */
  <T> void answerList(Page<T> page, boolean takesLong, BiConsumer<JsonGenerator, T> writer) {
    answerItems(page.items().size(), takesLong, () -> Json.list(page.items(), writer, page.next()));
  }

  void answerItems(int count, Supplier<Buffer> writing) {
    answerItems(count, false, writing);
  }

  /** Long lists are written on another thread: they would hold up the loop. */
  private void answerItems(int count, boolean takesLong, Supplier<Buffer> writing) {
    if (count <= ApiLimits.INLINE_WRITE_ITEMS && !takesLong) {
      answer(200, writing.get());
    } else {
      then(context.executeBlocking(writing::get, false), json -> answer(200, json));
    }
  }

  /**
   * Answers with something that can be very large: it is written on another thread.
   *
   * @return completes when the answer is no longer held: the connection has taken it or is gone
   */
  Future<Void> answerLarge(Supplier<Buffer> writing) {
    return context
        .executeBlocking(writing::get, false)
        .map(Objects::requireNonNull)
        .transform(
            made -> {
              goOn(made, json -> answer(200, json));
              return written.otherwiseEmpty();
            });
  }

  /**
   * Answers with a list whose items can be large: it ends early when it has become so, and none of
   * it is written on the event loop.
   */
  <T> void answerLargeList(
      Page<T> page, Function<T, String> cursorAfter, BiConsumer<JsonGenerator, T> writer) {
    then(
        context.executeBlocking(
            () -> Json.list(page, ApiLimits.LIST_BYTES, cursorAfter, writer), false),
        json -> answer(200, json));
  }

  /**
   * Answers with events, for which no time limit is kept.
   *
   * @param whenOver told once, when no more can be sent
   * @return absent when the caller is gone
   */
  @Nullable EventStream answerEvents(CharSequence contentType, Runnable whenOver) {
    if (!begin()) {
      return null;
    }
    HttpServerResponse response = request.response().setStatusCode(200).setChunked(true);
    response.putHeader(HttpHeaders.CONTENT_TYPE, contentType);
    response.putHeader(CACHE_CONTROL, NO_STORE);
    response.putHeader(ACCEL_BUFFERING, NO);
    connections.answers().answered(response.getStatusCode());
    EventStream begun =
        new EventStream(
            response,
            peer.connection,
            () -> {
              whenOver.run();
              idle();
            });
    stream = begun;
    if (response.isChunked()) {
      var _ = response.writeHead();
    } else {
      // HTTP/1.0 knows no chunks, but a head that is sent alone would speak of them.
      begun.sendComment();
    }
    return begun;
  }

  /** Whether the key with which the request came still opens the call. */
  BooleanSupplier stillAllowed(Authentication authentication) {
    Route asked = Objects.requireNonNull(route, "the request has a route");
    return () -> authentication.stillOpens(request, asked);
  }

  void answerCreated(String location, Buffer json) {
    if (begin()) {
      HttpServerResponse response = request.response().setStatusCode(201);
      response.putHeader(HttpHeaders.CONTENT_TYPE, JSON);
      response.putHeader(HttpHeaders.LOCATION, location);
      response.putHeader(CACHE_CONTROL, NO_STORE);
      end(response, json);
    }
  }

  /**
   * Answers with a cookie.
   *
   * @param json absent for an answer without a body
   */
  void answerWithCookie(int status, String cookie, @Nullable Buffer json) {
    if (begin()) {
      HttpServerResponse response = request.response().setStatusCode(status);
      response.putHeader(HttpHeaders.SET_COOKIE, cookie);
      response.putHeader(CACHE_CONTROL, NO_STORE);
      if (json != null) {
        response.putHeader(HttpHeaders.CONTENT_TYPE, JSON);
      }
      end(response, json);
    }
  }

  void answerNoContent() {
    answerEmpty(204);
  }

  void answerEmpty(int status) {
    if (begin()) {
      end(request.response().setStatusCode(status), null);
    }
  }

  void refuse(Problem problem) {
    Buffer json;
    try {
      json = problem.json();
    } catch (RuntimeException e) {
      fail(e);
      return;
    }
    if (begin()) {
      connections.answers().refused(problem.kind());
      HttpServerResponse response = request.response().setStatusCode(problem.kind().status);
      response.putHeader(HttpHeaders.CONTENT_TYPE, PROBLEM_JSON);
      response.putHeader(CACHE_CONTROL, NO_STORE);
      if (problem.kind().status == UNAUTHORIZED) {
        response.putHeader(WWW_AUTHENTICATE, credential.challenge);
      }
      if (problem.retryAfterSeconds() > 0) {
        response.putHeader(HttpHeaders.RETRY_AFTER, Integer.toString(problem.retryAfterSeconds()));
      }
      if (problem.allow() != null) {
        response.putHeader(HttpHeaders.ALLOW, problem.allow());
      }
      end(response, json);
    }
  }

  /** The engine gave an answer that does not belong to what it was asked. */
  void unexpected(Answer answer) {
    fail(
        new IllegalStateException(
            "an answer that does not fit the request: " + answer.getClass().getSimpleName()));
  }

  /** We failed: the log says how, the caller learns where to look. */
  void fail(Throwable cause) {
    if (answered) {
      return;
    }
    if (cause instanceof StoreException e && isAway(e.kind())) {
      refuse(Problem.of(new Answer.Refused(Answer.Refused.Why.STORE_AWAY)));
      return;
    }
    String reference = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
    String call = route == null ? "" : route.method() + " " + route.path();
    if (cause instanceof StoreException e && e.kind() != StoreException.Kind.BROKEN) {
      log.warn(
          "api.unavailable reference={} call=\"{}\" next=\"the caller is told to ask again later\"",
          reference,
          call,
          cause);
      refuse(
          new Problem(
              Kind.UNAVAILABLE,
              "The store did not answer in time. Ask for less, or again later.",
              null,
              null,
              reference,
              5,
              null));
    } else {
      log.error(
          "api.failed reference={} call=\"{}\" next=\"the caller is told the reference\"",
          reference,
          call,
          cause);
      refuse(Problem.internal(reference));
    }
  }

  /** The log tells that once, and not for each request. */
  private static boolean isAway(StoreException.Kind kind) {
    return kind == StoreException.Kind.AWAY || kind == StoreException.Kind.FENCED;
  }

  /** Whether the answer may be given; only the first one may. */
  private boolean begin() {
    if (answered || peer.closed) {
      return false;
    }
    answered = true;
    letGo();
    return true;
  }

  private void end(HttpServerResponse response, @Nullable Buffer content) {
    connections.answers().answered(response.getStatusCode());
    if (span != null) {
      AcceptSpans.end(span, response.getStatusCode());
    }
    if (received) {
      // before the answer goes out, since that may begin the next request of a pipeline
      idle();
    } else {
      since = Connections.now();
      if (expectsBody) {
        closeAtEnd = true;
        response.putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
      }
    }
    if (content == null) {
      written = response.end();
    } else if (request.method().equals(HttpMethod.HEAD)) {
      response.putHeader(HttpHeaders.CONTENT_LENGTH, Integer.toString(content.length()));
      written = response.end();
    } else {
      written = response.end(content);
    }
  }

  private void idle() {
    peer.exchange = null;
    peer.idleSince = Connections.now();
  }
}
