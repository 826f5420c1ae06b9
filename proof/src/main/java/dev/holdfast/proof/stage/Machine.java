package dev.holdfast.proof.stage;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * How busy the whole machine is: figures taken beside other work are not worth much.
 *
 * @param busyTicks of all processors, since the machine started; 0 where the system does not tell
 * @param allTicks busy or not
 * @param stolenTicks of these, those in which a virtual machine had work and its host did not let
 *     it run: then all its processes stand still
 */
public record Machine(long busyTicks, long allTicks, long stolenTicks) {
  private static final int IDLE = 4;
  private static final int WAITING_FOR_DISK = 5;
  private static final int STOLEN = 8;
  private static final int GUEST = 9;

  public static Machine now() {
    try {
      List<String> lines = Files.readAllLines(Path.of("/proc/stat"));
      String[] fields = lines.getFirst().split("\\s+", -1);
      long idle = 0;
      long all = 0;
      long stolen = 0;
      // Time of guests is counted in the fields before as well.
      for (int i = 1; i < Math.min(fields.length, GUEST); i++) {
        long ticks = Long.parseLong(fields[i]);
        all += ticks;
        if (i == IDLE || i == WAITING_FOR_DISK) {
          idle += ticks;
        } else if (i == STOLEN) {
          stolen = ticks;
        }
      }
      return new Machine(all - idle - stolen, all, stolen);
    } catch (IOException e) {
      return new Machine(0, 0, 0);
    }
  }

  /** The share of all processors that was busy since {@code earlier}, from 0 to 1. */
  public double busySince(Machine earlier) {
    long all = allTicks - earlier.allTicks;
    return all <= 0 ? 0 : (double) (busyTicks - earlier.busyTicks) / all;
  }

  /** The share of all processors' time that the host took away since {@code earlier}. */
  public double stolenSince(Machine earlier) {
    long all = allTicks - earlier.allTicks;
    return all <= 0 ? 0 : (double) (stolenTicks - earlier.stolenTicks) / all;
  }

  public static String describe() {
    return "%s, %d processors, %s, Java %s"
        .formatted(
            System.getProperty("os.name") + " " + System.getProperty("os.version"),
            Runtime.getRuntime().availableProcessors(),
            System.getProperty("os.arch"),
            Runtime.version());
  }
}
