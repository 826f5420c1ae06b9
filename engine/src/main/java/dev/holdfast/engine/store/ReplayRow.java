package dev.holdfast.engine.store;

import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Replay.Ending;
import dev.holdfast.core.model.Replay.Selection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** How a replay is kept. */
public final class ReplayRow {
  /** The columns that {@link #read} reads, in its order. */
  public static final String COLUMNS =
      "id, tenant, endpoint, subscription, endings, since, until, again, state, total, done,"
          + " skipped, through, sum, below";

  public static final String PUT =
      "INSERT INTO replays ("
          + COLUMNS
          + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET"
          + " state = excluded.state, total = excluded.total, done = excluded.done,"
          + " skipped = excluded.skipped, through = excluded.through, sum = excluded.sum,"
          + " below = excluded.below";

  private static final String SEPARATOR = " ";

  private ReplayRow() {}

  public static void set(PreparedStatement row, Replay replay) throws SQLException {
    Selection selection = replay.selection();
    row.setLong(1, replay.id());
    row.setString(2, replay.tenant());
    setNumber(row, 3, selection.endpoint());
    setNumber(row, 4, selection.subscription());
    row.setString(5, endings(selection.endings()));
    Rows.setTime(row, 6, selection.since());
    Rows.setTime(row, 7, selection.until());
    row.setInt(8, selection.again() ? 1 : 0);
    row.setString(9, replay.state().name());
    setNumber(row, 10, replay.total());
    row.setLong(11, replay.done());
    row.setLong(12, replay.skipped());
    row.setLong(13, replay.through());
    row.setLong(14, sum(replay));
    setNumber(row, 15, replay.below());
  }

  public static Replay read(ResultSet row) throws SQLException {
    return Damaged.orIntact(
        "replays", row.getLong(1), row.getLong(14), () -> readReplay(row), ReplayRow::sum);
  }

  private static Replay readReplay(ResultSet row) throws SQLException {
    Selection selection =
        new Selection(
            number(row, 3),
            number(row, 4),
            readEndings(row.getString(5)),
            Rows.time(row, 6),
            Rows.time(row, 7),
            row.getInt(8) != 0);
    Long below = number(row, 15);
    return new Replay(
        row.getLong(1),
        row.getString(2),
        selection,
        below == null && !selection.isHistory() ? Long.valueOf(row.getLong(1)) : below,
        Replay.State.valueOf(row.getString(9)),
        number(row, 10),
        row.getLong(11),
        row.getLong(12),
        row.getLong(13));
  }

  private static long sum(Replay replay) {
    Selection selection = replay.selection();
    RowSum sum =
        RowSum.of("replays")
            .add(replay.id())
            .add(replay.tenant())
            .add(text(selection.endpoint()))
            .add(text(selection.subscription()))
            .add(endings(selection.endings()))
            .add(selection.since())
            .add(selection.until())
            .add(selection.again() ? 1 : 0)
            .add(replay.state().name())
            .add(text(replay.total()))
            .add(replay.done())
            .add(replay.skipped())
            .add(replay.through());
    // It came later, and counts only where it is not what it was before.
    if (replay.below() == null || replay.below() != replay.id()) {
      sum.add("below").add(text(replay.below()));
    }
    return sum.value();
  }

  private static @Nullable String text(@Nullable Long number) {
    return number == null ? null : number.toString();
  }

  private static String endings(Set<Ending> endings) {
    return endings.stream().sorted().map(Enum::name).collect(Collectors.joining(SEPARATOR));
  }

  private static Set<Ending> readEndings(String text) {
    return Arrays.stream(text.split(SEPARATOR, -1))
        .filter(ending -> !ending.isEmpty())
        .map(Ending::valueOf)
        .collect(Collectors.toSet());
  }

  private static void setNumber(PreparedStatement row, int column, @Nullable Long number)
      throws SQLException {
    if (number == null) {
      row.setNull(column, Types.BIGINT);
    } else {
      row.setLong(column, number);
    }
  }

  private static @Nullable Long number(ResultSet row, int column) throws SQLException {
    long number = row.getLong(column);
    return number == 0 && row.wasNull() ? null : number;
  }
}
