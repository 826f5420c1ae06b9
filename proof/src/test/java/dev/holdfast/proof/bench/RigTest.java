package dev.holdfast.proof.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.proof.stage.Progress;
import dev.holdfast.proof.stage.Report;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RigTest {
  @TempDir Path directory;

  private final Settings settings = new Settings();
  private Rig rig;

  @BeforeEach
  void make() {
    Progress progress = new Progress(new PrintStream(OutputStream.nullOutputStream()), false);
    rig = new Rig(settings, progress, new Report(Instant.EPOCH, "a machine"), directory);
  }

  /** Writes a file into a directory of its own. */
  private static final class Storing implements Scenario {
    @Override
    public String name() {
      return "storing";
    }

    @Override
    public String about() {
      return "what is left behind";
    }

    @Override
    public void run(Rig rig) throws IOException {
      Files.writeString(rig.newDirectory().resolve("store"), "much");
    }
  }

  @Test
  void what_a_scenario_has_stored_is_gone_when_the_next_one_begins() throws IOException {
    Bench.run(new Storing(), rig);
    assertThat(directory).isEmptyDirectory();
    Bench.run(new Storing(), rig);
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void what_is_to_be_kept_stays() throws IOException {
    settings.keep = true;
    Bench.run(new Storing(), rig);
    Bench.run(new Storing(), rig);
    assertThat(directory.resolve("data-1/store")).hasContent("much");
    assertThat(directory.resolve("data-2/store")).hasContent("much");
  }
}
