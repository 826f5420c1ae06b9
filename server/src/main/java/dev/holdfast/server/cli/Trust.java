package dev.holdfast.server.cli;

import java.io.IOException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/** Whom a command takes for the server that it asks. */
final class Trust {
  private Trust() {}

  /** The authorities that Java trusts, and these. */
  static SSLContext usualAnd(List<X509Certificate> authorities) {
    try {
      KeyStore all = KeyStore.getInstance(KeyStore.getDefaultType());
      all.load(null, null);
      int number = 0;
      for (TrustManager usual : managers(null)) {
        if (usual instanceof X509TrustManager manager) {
          for (X509Certificate one : manager.getAcceptedIssuers()) {
            all.setCertificateEntry("usual-" + number++, one);
          }
        }
      }
      for (X509Certificate one : authorities) {
        all.setCertificateEntry("own-" + number++, one);
      }
      return context(managers(all));
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalStateException("this Java cannot make TLS connections", e);
    }
  }

  private static TrustManager[] managers(@Nullable KeyStore authorities)
      throws GeneralSecurityException {
    TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(authorities);
    return factory.getTrustManagers();
  }

  private static SSLContext context(TrustManager... managers) throws GeneralSecurityException {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, managers, null);
    return context;
  }

  /** Nobody but who has this certificate, under whichever name. */
  static SSLContext only(X509Certificate certificate) {
    try {
      return context(new Only(certificate));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this Java cannot make TLS connections", e);
    }
  }

  private static final class Only extends X509ExtendedTrustManager {
    private final X509Certificate certificate;

    Only(X509Certificate certificate) {
      this.certificate = certificate;
    }

    private void check(X509Certificate[] chain) throws CertificateException {
      if (chain.length == 0 || !chain[0].equals(certificate)) {
        throw new CertificateException("it is not the certificate of the settings");
      }
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      check(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
        throws CertificateException {
      check(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      check(chain);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      throw new CertificateException("there are no clients");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
        throws CertificateException {
      throw new CertificateException("there are no clients");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      throw new CertificateException("there are no clients");
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
