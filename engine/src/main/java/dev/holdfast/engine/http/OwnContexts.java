package dev.holdfast.engine.http;

import dev.holdfast.core.model.EndpointTls;
import io.netty.handler.ssl.SslContext;
import io.netty.util.ReferenceCountUtil;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is ready for encrypted connections to endpoints that have something special about them, each
 * with sessions of its own. Threads share it. Beyond a limit the one unused for longest goes;
 * connections that it was used for stay.
 */
final class OwnContexts {

  /** Makes one of what an endpoint has. */
  @FunctionalInterface
  interface Maker {
    SslContext make(EndpointTls tls) throws TlsMaterial.Unusable;
  }

  private final int most;
  private final Maker maker;
  private final LinkedHashMap<EndpointTls, SslContext> ready = new LinkedHashMap<>(16, 0.75f, true);

  OwnContexts(int most, Maker maker) {
    this.most = most;
    this.maker = maker;
  }

  /** The one for that, made if need be, which takes a while; to be released after use. */
  SslContext take(EndpointTls tls) throws TlsMaterial.Unusable {
    SslContext known = takeReady(tls);
    if (known != null) {
      return known;
    }
    SslContext made = maker.make(tls);
    synchronized (this) {
      SslContext other = takeReady(tls);
      if (other != null) {
        ReferenceCountUtil.release(made);
        return other;
      }
      ready.put(tls, ReferenceCountUtil.retain(made));
      if (ready.size() > most) {
        Map.Entry<EndpointTls, SslContext> eldest = ready.pollFirstEntry();
        ReferenceCountUtil.release(eldest.getValue());
      }
      return made;
    }
  }

  /** The one for that if it is ready, else nothing; to be released after use. */
  synchronized @Nullable SslContext takeReady(EndpointTls tls) {
    SslContext known = ready.get(tls);
    return known == null ? null : ReferenceCountUtil.retain(known);
  }

  synchronized void close() {
    ready.values().forEach(ReferenceCountUtil::release);
    ready.clear();
  }
}
