package dev.holdfast.server.cli;

import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.Holdfast;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;

/** Puts the parts of a server together. */
final class Wiring {

  private Wiring() {}

  static Server start(Settings settings, InstantSource clock, PrintWriter out) throws CannotStart {
    Path data = directory(settings.get(Settings.DATA));
    Vertx vertx = Vertx.vertx();
    try {
      Holdfast engine =
          Holdfast.open(
              settings.options(Runtime.getRuntime().maxMemory(), Version.NUMBER), vertx, clock);
      return new Running(vertx, engine, settings.get(Settings.SERVER_PORT), "to come");
    } catch (StoreException e) {
      vertx.close();
      throw new CannotStart("the store in %s: %s".formatted(data, e.getMessage()));
    }
  }

  private static Path directory(Path data) throws CannotStart {
    try {
      return Files.createDirectories(data);
    } catch (FileAlreadyExistsException e) {
      throw new CannotStart(data + " is a file; --data takes a directory.");
    } catch (AccessDeniedException e) {
      throw new CannotStart("This user may not make the directory " + data + ".");
    } catch (IOException e) {
      throw new CannotStart("The directory " + data + " cannot be made: " + e.getMessage());
    }
  }

  private record Running(Vertx vertx, Holdfast engine, int port, String adminKey)
      implements Server {
    @Override
    public Future<Void> stop() {
      return engine.stop().eventually(vertx::close);
    }
  }
}
