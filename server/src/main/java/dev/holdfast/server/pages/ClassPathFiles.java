package dev.holdfast.server.pages;

import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/** The files beside a class that are not classes, whether in a jar or in a directory. */
final class ClassPathFiles {
  private ClassPathFiles() {}

  /** By their paths below the class's package. */
  static Map<String, byte[]> under(Class<?> place) throws IOException {
    String self = place.getSimpleName() + ".class";
    URL url = place.getResource(self);
    if (url == null) {
      throw new IOException(place + " is not on the class path");
    }
    URLConnection connection = url.openConnection();
    if (connection instanceof JarURLConnection jar) {
      jar.setUseCaches(false);
      String entry = jar.getEntryName();
      try (JarFile file = jar.getJarFile()) {
        return inJar(file, entry.substring(0, entry.length() - self.length()));
      }
    }
    try {
      Path classes = Path.of(url.toURI()).getParent();
      return classes == null ? Map.of() : inDirectory(classes);
    } catch (URISyntaxException e) {
      throw new IOException("cannot find the files beside " + url, e);
    }
  }

  private static Map<String, byte[]> inJar(JarFile jar, String directory) throws IOException {
    Map<String, byte[]> files = new TreeMap<>();
    List<JarEntry> entries =
        jar.stream()
            .filter(entry -> !entry.isDirectory())
            .filter(entry -> entry.getName().startsWith(directory))
            .filter(entry -> !isClass(entry.getName()))
            .toList();
    for (JarEntry entry : entries) {
      try (InputStream in = jar.getInputStream(entry)) {
        files.put(entry.getName().substring(directory.length()), in.readAllBytes());
      }
    }
    return files;
  }

  private static Map<String, byte[]> inDirectory(Path directory) throws IOException {
    Map<String, byte[]> files = new TreeMap<>();
    List<Path> paths;
    try (Stream<Path> walk = Files.walk(directory)) {
      paths = walk.filter(Files::isRegularFile).filter(path -> !isClass(path.toString())).toList();
    }
    for (Path path : paths) {
      files.put(directory.relativize(path).toString().replace('\\', '/'), Files.readAllBytes(path));
    }
    return files;
  }

  private static boolean isClass(String name) {
    return name.endsWith(".class");
  }
}
