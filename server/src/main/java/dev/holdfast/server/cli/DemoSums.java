package dev.holdfast.server.cli;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What became of everything, as the server's metrics have it.
 *
 * @param events that were accepted
 * @param messages that were made of them
 * @param unfinished messages that are still to be delivered
 */
record DemoSums(long events, long messages, long delivered, long dropped, long unfinished) {
  private static final Pattern SAMPLE =
      Pattern.compile("(?m)^holdfast_(events|messages)_([a-z]+?)(?:_total)?(?:\\{(.*)})? (\\S+)$");

  static DemoSums read(String metrics) {
    long events = 0;
    long messages = 0;
    long delivered = 0;
    long dropped = 0;
    long unfinished = 0;
    Matcher sample = SAMPLE.matcher(metrics);
    while (sample.find()) {
      long value = (long) Double.parseDouble(sample.group(4));
      switch (sample.group(1) + " " + sample.group(2)) {
        case "events accepted" -> events = value;
        case "messages accepted" -> messages = value;
        case "messages finished" -> {
          if (sample.group(3).contains("delivered")) {
            delivered = value;
          } else {
            dropped = value;
          }
        }
        case "messages unfinished" -> unfinished += value;
        default -> {
          // Of no interest here.
        }
      }
    }
    return new DemoSums(events, messages, delivered, dropped, unfinished);
  }

  /**
   * Whether nothing is missing. There may be more than was accepted here: who looks at the demo can
   * send events of their own, and replays make messages of old ones.
   *
   * @param acknowledged how many events somebody was told are accepted
   */
  boolean isComplete(long acknowledged) {
    return events >= acknowledged && delivered + dropped + unfinished >= messages;
  }
}
