package dev.holdfast.engine.http;

import java.io.IOException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.KeyStoreException;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import javax.security.auth.x500.X500Principal;
import org.jspecify.annotations.Nullable;

/**
 * Verifies certificates as Java does, within limits on what that can take.
 *
 * <p>Java puts a chain together from whatever certificates a server sends, in any order, and tries
 * each that could be the next. A server can send many that could all be the next of each other, and
 * Java would try for longer than anybody waits. So there may not be more of them than in any chain
 * that is in use, and of those for the same name Java sees the first.
 */
final class Authorities extends X509ExtendedTrustManager {

  static final int LONGEST_CHAIN = 8;

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
      return new Authorities(of(null)).and(trusted);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this Java cannot verify certificates", e);
    }
  }

  /** These and others. */
  Authorities and(List<X509Certificate> others) {
    if (others.isEmpty()) {
      return this;
    }
    try {
      KeyStore all = KeyStore.getInstance(KeyStore.getDefaultType());
      all.load(null, null);
      for (X509Certificate certificate : getAcceptedIssuers()) {
        add(all, certificate);
      }
      for (X509Certificate certificate : others) {
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

  private static X509Certificate[] limited(X509Certificate[] chain) throws CertificateException {
    if (chain.length > LONGEST_CHAIN) {
      throw new CertificateException(
          "%d certificates are too many for a chain".formatted(chain.length));
    }
    // Java takes a certificate that is trusted itself whatever its age.
    chain[0].checkValidity();
    Map<X500Principal, X509Certificate> names = new LinkedHashMap<>();
    for (X509Certificate certificate : chain) {
      names.putIfAbsent(certificate.getSubjectX500Principal(), certificate);
    }
    return names.values().toArray(X509Certificate[]::new);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
      throws CertificateException {
    java.checkServerTrusted(limited(chain), authType, engine);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
      throws CertificateException {
    java.checkServerTrusted(limited(chain), authType, socket);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType)
      throws CertificateException {
    java.checkServerTrusted(limited(chain), authType);
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
