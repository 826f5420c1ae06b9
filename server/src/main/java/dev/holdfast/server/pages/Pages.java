package dev.holdfast.server.pages;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** All files of the dashboard, by the path that each is asked for by. They are held in memory. */
public final class Pages {
  /** The paths that people see; each is the same file, whose scripts show what the path names. */
  private static final List<String> PAGES =
      List.of(
          "/",
          "/endpoints",
          "/endpoints/{id}",
          "/messages",
          "/messages/{id}",
          "/events",
          "/events/{id}",
          "/subscriptions",
          "/subscriptions/new",
          "/subscriptions/{id}",
          "/subscriptions/{id}/edit",
          "/replays",
          "/replays/{id}",
          "/keys",
          "/audit",
          "/settings",
          "/cluster",
          "/sign-in");

  private static final String INDEX = "index.html";
  private static final String ASSETS = "assets/";

  /**
   * What comes with each file. A page takes scripts, styles and data only from where it came from,
   * runs nothing that stands in a document, and is in nobody's frame. So text that somebody brought
   * into an event stays text even if a script forgets to treat it so.
   */
  private static final Map<String, String> HEADERS =
      Map.of(
          "content-security-policy",
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
              + " connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none';"
              + " frame-ancestors 'none'",
          "x-content-type-options",
          "nosniff",
          "referrer-policy",
          "no-referrer",
          "cross-origin-opener-policy",
          "same-origin",
          "cross-origin-resource-policy",
          "same-origin",
          "permissions-policy",
          "camera=(), geolocation=(), microphone=(), payment=(), usb=()");

  private final Map<String, PageFile> files;

  private Pages(Map<String, PageFile> files) {
    this.files = files;
  }

  /** Reads all files. Blocking, for a moment. */
  public static Pages load() throws IOException {
    Map<String, byte[]> found = new TreeMap<>(ClassPathFiles.under(Pages.class));
    found.putAll(Libraries.load(ASSETS + "vendor/"));
    Map<String, PageFile> files = new TreeMap<>();
    for (Map.Entry<String, byte[]> file : found.entrySet()) {
      if (file.getKey().startsWith(ASSETS)) {
        files.put("/" + file.getKey(), PageFile.of(file.getKey(), file.getValue()));
      }
    }
    byte[] index = found.get(INDEX);
    if (index == null) {
      throw new IOException(INDEX + " is missing: the program is not packed as it should be");
    }
    PageFile page = PageFile.of(INDEX, index);
    PAGES.forEach(path -> files.put(path, page));
    return new Pages(files);
  }

  /** Each file by its path, in which {@code {id}} stands for any one segment. */
  public Map<String, PageFile> files() {
    return files;
  }

  /** The headers that each file is to be sent with. */
  public static Map<String, String> headers() {
    return HEADERS;
  }
}
