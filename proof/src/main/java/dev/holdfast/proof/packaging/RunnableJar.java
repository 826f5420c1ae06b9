package dev.holdfast.proof.packaging;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * One jar out of many, which {@code java -jar} runs.
 *
 * <p>Everything of every library is in it, native code too. Lists of services are joined. Licences
 * and notices, which have the same names in many libraries, get a directory for each. What only
 * held for a library as a jar of its own is left out: manifests, signatures, module descriptors.
 * The same libraries make the same bytes.
 */
final class RunnableJar {
  private static final Instant WRITTEN = Instant.parse("2026-01-01T00:00:00Z");

  /** Joined line by line. */
  private static final Pattern JOINED =
      Pattern.compile("META-INF/(services/[^/]+|io\\.netty\\.versions\\.properties)");

  private static final Pattern LICENCE =
      Pattern.compile(
          "META-INF/((LICENSE|LICENCE|NOTICE|COPYING|DEPENDENCIES|AL2|LGPL|FastDoubleParser)[^/]*|licenses?/.+)");

  private static final Pattern LEFT_OUT =
      Pattern.compile(
          "META-INF/(MANIFEST\\.MF|INDEX\\.LIST|[^/]+\\.(SF|RSA|DSA|EC))"
              + "|META-INF/(native-image|proguard|com\\.android\\.tools)/.*"
              + "|(META-INF/versions/\\d+/)?module-info\\.class");

  /** The name of one of our own jars, or the directory that it is made from. */
  private static final Pattern OWN = Pattern.compile("holdfast-.*|classes");

  private final Map<String, byte[]> entries = new TreeMap<>();

  private RunnableJar() {}

  /**
   * Writes the jar, whole or not at all.
   *
   * @param classPath jars, and directories of classes
   */
  static void write(List<Path> classPath, String mainClass, String version, Path jar)
      throws IOException {
    RunnableJar made = new RunnableJar();
    for (Path element : classPath) {
      made.add(element);
    }
    Path unfinished = jar.resolveSibling(jar.getFileName() + ".new");
    try (OutputStream file = new BufferedOutputStream(Files.newOutputStream(unfinished));
        JarOutputStream out = new JarOutputStream(file)) {
      put(out, JarFile.MANIFEST_NAME, manifest(mainClass, version));
      for (Map.Entry<String, byte[]> entry : made.entries.entrySet()) {
        put(out, entry.getKey(), entry.getValue());
      }
    } catch (IOException e) {
      Files.deleteIfExists(unfinished);
      throw e;
    }
    Files.move(unfinished, jar, StandardCopyOption.REPLACE_EXISTING);
  }

  private static byte[] manifest(String mainClass, String version) throws IOException {
    Manifest manifest = new Manifest();
    Attributes attributes = manifest.getMainAttributes();
    attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    attributes.put(Attributes.Name.MAIN_CLASS, mainClass);
    attributes.put(Attributes.Name.IMPLEMENTATION_TITLE, "Holdfast");
    attributes.put(Attributes.Name.IMPLEMENTATION_VERSION, version);
    attributes.put(Attributes.Name.MULTI_RELEASE, "true");
    attributes.put(new Attributes.Name("Enable-Native-Access"), "ALL-UNNAMED");
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    manifest.write(bytes);
    return bytes.toByteArray();
  }

  private static void put(JarOutputStream out, String name, byte[] content) throws IOException {
    ZipEntry entry = new ZipEntry(name);
    entry.setLastModifiedTime(FileTime.from(WRITTEN));
    out.putNextEntry(entry);
    out.write(content);
    out.closeEntry();
  }

  private void add(Path element) throws IOException {
    String library = String.valueOf(element.getFileName()).replaceFirst("\\.jar$", "");
    if (Files.isDirectory(element)) {
      try (Stream<Path> files = Files.walk(element)) {
        for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
          String name = element.relativize(file).toString().replace('\\', '/');
          add(library, name, Files.readAllBytes(file));
        }
      }
      return;
    }
    try (ZipFile jar = new ZipFile(element.toFile())) {
      for (ZipEntry entry : jar.stream().filter(entry -> !entry.isDirectory()).toList()) {
        try (InputStream in = jar.getInputStream(entry)) {
          add(library, entry.getName(), in.readAllBytes());
        }
      }
    }
  }

  private void add(String library, String name, byte[] content) throws IOException {
    if (LEFT_OUT.matcher(name).matches()) {
      return;
    }
    if (JOINED.matcher(name).matches()) {
      entries.merge(name, content, RunnableJar::joined);
      return;
    }
    boolean licence = LICENCE.matcher(name).matches() && !OWN.matcher(library).matches();
    String place =
        licence
            ? "META-INF/licenses/" + library + "/" + name.substring("META-INF/".length())
            : name;
    byte[] before = entries.putIfAbsent(place, content);
    if (before != null && !Arrays.equals(before, content)) {
      throw new IOException(
          "%s is in %s and in another library, and not the same. Say in RunnableJar what is to become of it."
              .formatted(name, library));
    }
  }

  private static byte[] joined(byte[] one, byte[] other) {
    Set<String> lines = new LinkedHashSet<>();
    for (byte[] text : List.of(one, other)) {
      new String(text, StandardCharsets.UTF_8).lines().forEach(lines::add);
    }
    return (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8);
  }
}
