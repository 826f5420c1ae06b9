package dev.holdfast.server.cli;

import java.util.Collection;
import java.util.Locale;
import java.util.Optional;

/** Finds what somebody probably meant. */
final class NearMiss {
  private static final int LONGEST = 100;

  private NearMiss() {}

  /** The candidate nearest to {@code text}, if one is near enough to be worth a question. */
  static Optional<String> among(Collection<String> candidates, String text) {
    if (text.length() > LONGEST) {
      return Optional.empty();
    }
    String wanted = text.toLowerCase(Locale.ROOT);
    String best = "";
    int bestDistance = Integer.MAX_VALUE;
    for (String candidate : candidates) {
      int distance = distance(candidate.toLowerCase(Locale.ROOT), wanted);
      if (distance < bestDistance) {
        best = candidate;
        bestDistance = distance;
      }
    }
    if (bestDistance <= Math.max(1, Math.min(wanted.length(), best.length()) / 4)) {
      return Optional.of(best);
    }
    return candidates.stream()
        .filter(candidate -> isPartOf(candidate.toLowerCase(Locale.ROOT), wanted))
        .findFirst();
  }

  /** Whether {@code part} is the last words of {@code whole}, whatever separates them. */
  private static boolean isPartOf(String whole, String part) {
    String words = part.replaceAll("[._-]+", "_").replaceFirst("^holdfast_", "");
    return !words.isEmpty() && whole.replaceAll("[._-]+", "_").endsWith("_" + words);
  }

  /** How many letters must be put in, left out, replaced or swapped with their neighbour. */
  private static int distance(String one, String other) {
    int[][] cost = new int[one.length() + 1][other.length() + 1];
    for (int i = 0; i <= one.length(); i++) {
      for (int j = 0; j <= other.length(); j++) {
        if (i == 0 || j == 0) {
          cost[i][j] = i + j;
          continue;
        }
        int same = one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1;
        cost[i][j] =
            Math.min(cost[i - 1][j - 1] + same, 1 + Math.min(cost[i - 1][j], cost[i][j - 1]));
        if (i > 1
            && j > 1
            && one.charAt(i - 1) == other.charAt(j - 2)
            && one.charAt(i - 2) == other.charAt(j - 1)) {
          cost[i][j] = Math.min(cost[i][j], cost[i - 2][j - 2] + 1);
        }
      }
    }
    return cost[one.length()][other.length()];
  }
}
