package dev.holdfast.engine.store;

import dev.holdfast.core.port.History.AttemptMark;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The newest attempts of many endpoints at once, as they are drawn, whatever the store.
 *
 * <p>Pages ask for them every few seconds, so little is read: nothing of old messages, however few
 * an endpoint has, and no response. Without the response a row's sum says nothing, so it is not
 * compared.
 */
public final class LatestAttempts {
  /** Each of an endpoint's numbers of attempts gets room for at least so many messages. */
  private static final int OF_A_GROUP = 5;

  private static final int MOST_GROUPS = 100;

  private LatestAttempts() {}

  /**
   * A message that was tried.
   *
   * @param attempts how often
   * @param last the last attempt, if it stands with the message and not with the earlier ones
   */
  public record Tried(long endpoint, long message, int attempts, @Nullable AttemptMark last) {
    private boolean hasEarlier() {
      return attempts > (last == null ? 0 : 1);
    }
  }

  /** Where a store has messages and attempts. */
  public interface Source {

    /**
     * The newest unfinished messages of endpoints, by status and number of attempts.
     *
     * @param groups so many of these for each endpoint
     * @param each so many messages of each of them
     */
    List<Tried> unfinished(List<Long> endpoints, int groups, int each) throws SQLException;

    /**
     * The newest finished messages of endpoints.
     *
     * @param from the lowest id
     */
    List<Tried> finished(List<Long> endpoints, long from, int each) throws SQLException;

    /** The newest attempts of messages, but those that stand with them. */
    Map<Long, List<AttemptMark>> earlier(List<Long> messages, int each) throws SQLException;
  }

  /**
   * The newest attempts of each endpoint, oldest first.
   *
   * @param since when they were made, and their messages, too, unless these are unfinished
   */
  public static Map<Long, List<AttemptMark>> of(
      Source source, List<Long> endpoints, Instant since, int each, int mostRows)
      throws SQLException {
    if (endpoints.isEmpty()) {
      return Map.of();
    }
    int share = Math.max(1, mostRows / (2 * endpoints.size()));
    int messages = Math.min(each, share);
    int groups = Math.clamp(share / OF_A_GROUP, 1, MOST_GROUPS);
    List<Tried> all =
        new ArrayList<>(
            source.unfinished(endpoints, groups, Math.clamp(share / groups, 1, messages)));
    all.addAll(source.finished(endpoints, Summaries.firstIdAt(since), messages));
    List<Tried> newest = newest(all, messages);
    List<Long> more = newest.stream().filter(Tried::hasEarlier).map(Tried::message).toList();
    Map<Long, List<AttemptMark>> earlier =
        more.isEmpty()
            ? Map.of()
            : source.earlier(more, Math.clamp(mostRows / (2L * more.size()), 1, each));
    Map<Long, List<AttemptMark>> latest = new HashMap<>();
    for (Tried tried : newest) {
      List<AttemptMark> marks = latest.computeIfAbsent(tried.endpoint(), _ -> new ArrayList<>());
      marks.addAll(earlier.getOrDefault(tried.message(), List.of()));
      if (tried.last() != null) {
        marks.add(tried.last());
      }
    }
    latest.replaceAll((_, marks) -> drawn(marks, since, each));
    latest.values().removeIf(List::isEmpty);
    return latest;
  }

  private static List<Tried> newest(List<Tried> all, int each) {
    Map<Long, Integer> counts = new HashMap<>();
    return all.stream()
        .sorted(Comparator.comparingLong(Tried::message).reversed())
        .filter(tried -> counts.merge(tried.endpoint(), 1, Integer::sum) <= each)
        .toList();
  }

  private static List<AttemptMark> drawn(List<AttemptMark> marks, Instant since, int each) {
    List<AttemptMark> sorted =
        marks.stream()
            .filter(mark -> !mark.at().isBefore(since))
            .sorted(Comparator.comparing(AttemptMark::at))
            .toList();
    return sorted.subList(Math.max(0, sorted.size() - each), sorted.size());
  }
}
