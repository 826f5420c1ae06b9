package dev.holdfast.engine.store;

import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.port.History.AttemptPage;
import dev.holdfast.core.port.History.AttemptPosition;
import dev.holdfast.core.port.History.AttemptQuery;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds attempts by the messages that they are of, whatever the store.
 *
 * <p>No table has attempts in the order of their time: that would cost the path of a message one
 * more write for each. Messages are found by their endpoint, newest first, and most attempts are
 * made right after their message was.
 */
public final class AttemptPages {
  private static final Comparator<Attempt> BY_TIME =
      Comparator.comparing(Attempt::at)
          .thenComparingLong(Attempt::message)
          .thenComparingInt(Attempt::number);

  private AttemptPages() {}

  /** Where a store has messages and attempts. */
  public interface Source {

    /** Messages of an endpoint with ids from one to below another that have attempts. */
    Ids tried(long endpoint, long from, long below, int limit) throws SQLException;

    /**
     * The attempts of these messages that come after a position, in its order: by message, then by
     * number, both downwards.
     *
     * @param messages newest first
     */
    List<Attempt> attempts(List<Long> messages, AttemptPosition after, int limit)
        throws SQLException;
  }

  /**
   * Ids of messages, newest first.
   *
   * @param cut down to which id they are all that there are; absent when that is the end
   */
  public record Ids(List<Long> ids, @Nullable Long cut) {

    /**
     * Several lists in one.
     *
     * @param lists each newest first
     * @param each how many each was asked for: one that has as many may go on
     * @param seen down to which id the lists were looked for; absent when that is the end
     */
    public static Ids of(List<List<Long>> lists, int each, @Nullable Long seen, int limit) {
      Long cut = seen;
      List<Long> all = new ArrayList<>();
      for (List<Long> list : lists) {
        all.addAll(list);
        if (list.size() >= each && (cut == null || cut < list.getLast())) {
          cut = list.getLast();
        }
      }
      long end = cut == null ? 0 : cut;
      all.removeIf(id -> id < end);
      all.sort(Comparator.reverseOrder());
      if (all.size() > limit) {
        all = all.subList(0, limit);
        cut = all.getLast();
      }
      return new Ids(all, cut);
    }
  }

  /** One page, for which no more than so many messages and attempts are looked at. */
  public static AttemptPage page(Source source, AttemptQuery query, int mostRows)
      throws SQLException {
    AttemptPosition after = query.before();
    Instant madeSince = query.madeSince();
    long from = madeSince == null ? 0 : Summaries.firstIdAt(madeSince);
    long below = below(query);
    List<Attempt> items = new ArrayList<>();
    int looked = 0;
    while (looked < mostRows) {
      Ids chunk =
          source.tried(
              query.endpoint(), from, below, Math.min(query.limit() + 1, mostRows - looked));
      looked += chunk.ids().size();
      boolean isWhole = false;
      while (!isWhole && looked < mostRows) {
        int asked = Math.min(query.limit() + 1, mostRows - looked);
        List<Attempt> found = source.attempts(chunk.ids(), after, asked);
        looked += found.size();
        for (Attempt attempt : found) {
          if (isWanted(attempt, query)) {
            if (items.size() == query.limit()) {
              return sorted(items, after);
            }
            items.add(attempt);
          }
          after = new AttemptPosition(attempt.message(), attempt.number());
        }
        isWhole = found.size() < asked;
      }
      if (!isWhole) {
        break;
      }
      if (chunk.cut() == null) {
        return sorted(items, null);
      }
      after = new AttemptPosition(chunk.cut(), 0);
      if (chunk.cut() >= below) {
        break;
      }
      below = chunk.cut();
    }
    return sorted(items, after);
  }

  /** An attempt is made after its message. */
  private static long below(AttemptQuery query) {
    long message = query.before().message();
    long below = message == Long.MAX_VALUE ? message : message + 1;
    Instant until = query.until();
    return until == null ? below : Math.min(below, Summaries.firstIdAt(until));
  }

  private static boolean isWanted(Attempt attempt, AttemptQuery query) {
    Instant since = query.since();
    Instant until = query.until();
    return (since == null || !attempt.at().isBefore(since))
        && (until == null || attempt.at().isBefore(until));
  }

  private static AttemptPage sorted(List<Attempt> items, @Nullable AttemptPosition next) {
    items.sort(BY_TIME.reversed());
    return new AttemptPage(items, next);
  }
}
