package dev.holdfast.proof.simulation;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.StringWriter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/**
 * Loads the engine and the simulation once more, with one bug in it. Nothing of it is written to
 * disk, and the engine that this process runs stays as it is.
 */
final class MutantLoader extends ClassLoader {
  private static final String ENGINE = "dev/holdfast/core/";
  private static final String SOURCES = "/dev/holdfast/proof/sources/";
  private static final List<String> OWN =
      List.of(
          "dev.holdfast.core.",
          "dev.holdfast.engine.SteadyClock",
          "dev.holdfast.proof.model.",
          "dev.holdfast.proof.simulation.");

  private final Map<String, byte[]> mutated;

  private MutantLoader(Map<String, byte[]> mutated) {
    super(MutantLoader.class.getClassLoader());
    this.mutated = mutated;
  }

  /** What runs a seed with the bug in the engine: gives the rule that is broken, or nothing. */
  @SuppressWarnings("unchecked")
  static LongFunction<String> load(Mutant mutant) {
    try {
      MutantLoader loader = new MutantLoader(compile(mutant));
      return (LongFunction<String>)
          loader.loadClass(SeedRun.class.getName()).getDeclaredConstructor().newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("cannot run " + mutant.name(), e);
    }
  }

  /** The source of a file of the engine. */
  static String source(String file) {
    try (InputStream in = MutantLoader.class.getResourceAsStream(SOURCES + ENGINE + file)) {
      if (in == null) {
        throw new IllegalStateException("the engine's sources are not here: " + file);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new IllegalStateException("cannot read " + file, e);
    }
  }

  private static Map<String, byte[]> compile(Mutant mutant) {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    if (compiler == null) {
      throw new IllegalStateException(
          "There is no Java compiler here. Run this with a JDK, not with a bare runtime.");
    }
    String broken = source(mutant.file()).replace(mutant.original(), mutant.broken());
    StringWriter messages = new StringWriter();
    Classes classes = new Classes(compiler.getStandardFileManager(null, null, null));
    boolean compiled =
        compiler
            .getTask(
                messages,
                classes,
                null,
                List.of("-proc:none", "-nowarn", "-Xlint:none"),
                null,
                List.of(new Source(mutant.file(), broken)))
            .call();
    if (!compiled) {
      throw new IllegalStateException(mutant.name() + " does not compile: " + messages);
    }
    return classes.bytes();
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (OWN.stream().noneMatch(name::startsWith)) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      return loaded != null ? loaded : define(name);
    }
  }

  private Class<?> define(String name) throws ClassNotFoundException {
    byte[] bytes = mutated.get(name);
    if (bytes == null) {
      bytes = original(name);
    }
    return defineClass(name, bytes, 0, bytes.length);
  }

  private byte[] original(String name) throws ClassNotFoundException {
    try (InputStream in =
        MutantLoader.class.getResourceAsStream("/" + name.replace('.', '/') + ".class")) {
      if (in == null) {
        throw new ClassNotFoundException(name);
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }

  /** A source file in memory. */
  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(String file, String text) {
      super(URI.create("memory:///" + ENGINE + file), Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }

  /** Keeps what the compiler makes in memory. */
  private static final class Classes extends ForwardingJavaFileManager<StandardJavaFileManager> {
    private final Map<String, ByteArrayOutputStream> made = new HashMap<>();

    Classes(StandardJavaFileManager files) {
      super(files);
    }

    @Override
    public JavaFileObject getJavaFileForOutput(
        JavaFileManager.Location location,
        String className,
        JavaFileObject.Kind kind,
        @Nullable FileObject sibling) {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      made.put(className, bytes);
      return new SimpleJavaFileObject(
          URI.create("memory:///" + className.replace('.', '/') + ".class"), kind) {
        @Override
        public OutputStream openOutputStream() {
          return bytes;
        }
      };
    }

    Map<String, byte[]> bytes() {
      Map<String, byte[]> bytes = new HashMap<>();
      made.forEach((name, stream) -> bytes.put(name, stream.toByteArray()));
      return bytes;
    }
  }
}
