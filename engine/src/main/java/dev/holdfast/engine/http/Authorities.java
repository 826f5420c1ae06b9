package dev.holdfast.engine.http;

import java.io.IOException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.KeyStoreException;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import javax.security.auth.x500.X500Principal;
import org.jspecify.annotations.Nullable;

/**
 * Verifies certificates as Java does, unless that could take long.
 *
 * <p>Java puts a chain together from whatever certificates a server sends, in any order, and tries
 * each that could be the next. A server can send many that could all be the next of each other, and
 * then it would try until the end of days. So a chain may not be longer than any that is in use,
 * and a name may not stand in it more often than when an authority has been certified twice.
 */
final class Authorities extends X509ExtendedTrustManager {

  /** Java's own limit, which it keeps only where it does the rest of TLS as well. */
  static final int LONGEST_CHAIN = 10;

  static final int MOST_OF_A_NAME = 2;

  private final X509ExtendedTrustManager java;

  private Authorities(X509ExtendedTrustManager java) {
    this.java = java;
  }

  /**
   * The authorities that Java trusts.
   *
   * @param trusted and these
   */
  static Authorities usualAnd(List<X509Certificate> trusted) {
    try {
      X509ExtendedTrustManager usual = of(null);
      if (trusted.isEmpty()) {
        return new Authorities(usual);
      }
      KeyStore all = KeyStore.getInstance(KeyStore.getDefaultType());
      all.load(null, null);
      for (X509Certificate certificate : usual.getAcceptedIssuers()) {
        add(all, certificate);
      }
      for (X509Certificate certificate : trusted) {
        add(all, certificate);
      }
      return new Authorities(of(all));
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalStateException("this Java cannot verify certificates", e);
    }
  }

  private static void add(KeyStore store, X509Certificate certificate) throws KeyStoreException {
    store.setCertificateEntry("authority-" + store.size(), certificate);
  }

  private static X509ExtendedTrustManager of(@Nullable KeyStore authorities)
      throws GeneralSecurityException {
    TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(authorities);
    for (TrustManager manager : factory.getTrustManagers()) {
      if (manager instanceof X509ExtendedTrustManager found) {
        return found;
      }
    }
    throw new KeyStoreException("no trust manager for certificates");
  }

  private static void checkLength(X509Certificate[] chain) throws CertificateException {
    if (chain.length > LONGEST_CHAIN) {
      throw new CertificateException(
          "a chain of %d certificates is too long".formatted(chain.length));
    }
    Map<X500Principal, Integer> times = new HashMap<>();
    for (X509Certificate certificate : chain) {
      if (times.merge(certificate.getSubjectX500Principal(), 1, Integer::sum) > MOST_OF_A_NAME) {
        throw new CertificateException("too many certificates are for the same name");
      }
    }
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
      throws CertificateException {
    checkLength(chain);
    java.checkServerTrusted(chain, authType, engine);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
      throws CertificateException {
    checkLength(chain);
    java.checkServerTrusted(chain, authType, socket);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType)
      throws CertificateException {
    checkLength(chain);
    java.checkServerTrusted(chain, authType);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
      throws CertificateException {
    throw notAServer();
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
      throws CertificateException {
    throw notAServer();
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType)
      throws CertificateException {
    throw notAServer();
  }

  private static CertificateException notAServer() {
    return new CertificateException("nobody connects to us here");
  }

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return java.getAcceptedIssuers();
  }
}
