package dev.holdfast.engine.store;

import dev.holdfast.core.model.FanOut;
import dev.holdfast.core.model.FanOut.Target;
import dev.holdfast.core.model.Form.Version;
import java.nio.ByteBuffer;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How a step of an event's messages that are still to be made is kept. */
public final class FanOutRow {
  /** The columns that {@link #read} reads, in its order. */
  public static final String COLUMNS = "event, first, event_size, targets, sum, versions";

  private static final int TARGET_BYTES = 2 * Long.BYTES;
  private static final byte NO_VERSION = 0;

  /** How many messages of an event are still to be made. */
  public static final String COUNT_OF_EVENT =
      "SELECT coalesce(sum(length(targets) / "
          + TARGET_BYTES
          + "), 0) FROM fan_outs WHERE event = ?";

  private FanOutRow() {}

  public static void set(PreparedStatement row, FanOut step) throws SQLException {
    byte[] targets = bytes(step.targets());
    byte[] versions = versions(step.targets());
    row.setLong(1, step.event());
    row.setInt(2, step.first());
    row.setInt(3, step.eventSize());
    row.setBytes(4, targets);
    row.setLong(5, sum(step, targets, versions));
    row.setBytes(6, versions);
  }

  public static FanOut read(ResultSet row) throws SQLException {
    byte[] targets = row.getBytes(4);
    byte[] versions = row.getBytes(6);
    return Damaged.orIntact(
        "fan_outs",
        row.getLong(1),
        row.getLong(5),
        () -> new FanOut(row.getLong(1), row.getInt(3), row.getInt(2), targets(targets, versions)),
        step -> sum(step, targets, versions));
  }

  private static long sum(FanOut step, byte[] targets, byte @Nullable [] versions) {
    RowSum sum =
        RowSum.of("fan_outs")
            .add(step.event())
            .add(step.first())
            .add(step.eventSize())
            .add(targets);
    if (versions != null) {
      sum.add("versions").add(versions);
    }
    return sum.value();
  }

  private static byte[] bytes(List<Target> targets) {
    ByteBuffer bytes = ByteBuffer.allocate(targets.size() * TARGET_BYTES);
    for (Target target : targets) {
      bytes.putLong(target.subscription()).putLong(target.endpoint());
    }
    return bytes.array();
  }

  private static byte @Nullable [] versions(List<Target> targets) {
    byte[] versions = new byte[targets.size()];
    boolean isAny = false;
    for (int i = 0; i < versions.length; i++) {
      Version version = targets.get(i).version();
      if (version != null) {
        versions[i] = (byte) Rows.code(version);
        isAny = true;
      }
    }
    return isAny ? versions : null;
  }

  private static List<Target> targets(byte[] bytes, byte @Nullable [] versions) {
    ByteBuffer rest = ByteBuffer.wrap(bytes);
    List<Target> targets = new ArrayList<>(bytes.length / TARGET_BYTES);
    while (rest.remaining() >= TARGET_BYTES) {
      int code = versions == null ? NO_VERSION : versions[targets.size()];
      targets.add(
          new Target(
              rest.getLong(), rest.getLong(), code == NO_VERSION ? null : Rows.version(code)));
    }
    return targets;
  }
}
