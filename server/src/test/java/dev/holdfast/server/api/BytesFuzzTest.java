package dev.holdfast.server.api;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.api.RandomBytes.Conversation;
import dev.holdfast.server.api.RandomBytes.End;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What is sent is not always HTTP, and does not always end. Each connection is answered or closed
 * in time, and of the events of a batch all are there or none.
 */
@Timeout(value = 1, unit = TimeUnit.HOURS)
final class BytesFuzzTest {
  private static final int ROUNDS = 1;

  /** At once, since many of them wait for a time limit. */
  private static final int CLIENTS = 400;

  private static final Duration SHORT = Duration.ofMillis(500);

  @Test
  void no_bytes_make_the_server_fail(@TempDir Path data) throws Exception {
    ApiLimits standard = ApiLimits.defaults();
    ApiLimits impatient =
        new ApiLimits(
            standard.messageBytes(),
            standard.receivingBytes(),
            standard.connections(),
            SHORT,
            SHORT,
            standard.answerTime());
    try (Leaks leaks = new Leaks()) {
      try (FuzzedServer server = new FuzzedServer(data, impatient)) {
        Seeds.each(ROUNDS, random -> round(server, random));
        server.assertNothingLeft();
      }
      leaks.assertNone();
    }
  }

  private static void round(FuzzedServer server, SplittableRandom random) throws Exception {
    String name = "bytes-" + Long.toHexString(random.nextLong());
    RandomBytes bytes = new RandomBytes(random, name);
    Map<RawClient, Conversation> open = new LinkedHashMap<>();
    for (int i = 0; i < CLIENTS; i++) {
      Conversation conversation = bytes.next();
      RawClient client = new RawClient(server.port());
      open.put(client, conversation);
      talk(client, conversation);
      if (i % 50 == 0) {
        server.assertServes(name + "-beside-" + i);
      }
    }
    for (Map.Entry<RawClient, Conversation> entry : open.entrySet()) {
      Conversation conversation = entry.getValue();
      try (RawClient client = entry.getKey()) {
        if (conversation.end() == End.WAIT || conversation.end() == End.HALF_CLOSE) {
          check(client.untilClosed(ISO_8859_1));
        }
      } catch (IOException | RuntimeException | AssertionError e) {
        throw new AssertionError(shown(conversation), e);
      }
    }
    for (Conversation conversation : open.values()) {
      for (List<String> batch : conversation.batches()) {
        int there = 0;
        for (String id : batch) {
          there += server.messagesOf(id, "default") >= 0 ? 1 : 0;
        }
        assertThat(there).as(shown(conversation)).isIn(0, batch.size());
      }
    }
    server.assertServes(name + "-after");
  }

  private static void talk(RawClient client, Conversation conversation) {
    byte[] all = conversation.bytes();
    try {
      int at = 0;
      while (at < all.length) {
        int end = (int) Math.min(all.length, (long) at + conversation.pieces());
        client.send(Arrays.copyOfRange(all, at, end));
        at = end;
      }
      switch (conversation.end()) {
        case WAIT -> {}
        case HALF_CLOSE -> client.endSending();
        case CLOSE -> client.close();
        case RESET -> client.reset();
      }
    } catch (IOException _) {
      // refused before all was sent
    }
  }

  /** Goes through the answers of a connection, all of which must be whole. */
  private static void check(String all) {
    String rest = all;
    while (!rest.isEmpty()) {
      int end = rest.indexOf("\r\n\r\n") + 4;
      assertThat(end).as("an answer's head in: %s", rest).isGreaterThan(3);
      String head = rest.substring(0, end);
      rest = rest.substring(end);
      assertThat(head).matches("(?s)HTTP/1\\.[01] \\d\\d\\d .*");
      int status = Integer.parseInt(head.substring(9, 12));
      if (status == 100) {
        continue;
      }
      int length = length(head);
      assertThat(rest.length()).as(head).isGreaterThanOrEqualTo(length);
      String body = rest.substring(0, length);
      rest = rest.substring(length);
      FuzzedServer.check(status, head, body.getBytes(ISO_8859_1), false);
    }
  }

  private static int length(String head) {
    return head.lines()
        .map(line -> line.toLowerCase(Locale.ROOT))
        .filter(line -> line.startsWith("content-length:"))
        .mapToInt(line -> Integer.parseInt(line.substring("content-length:".length()).strip()))
        .findFirst()
        .orElse(0);
  }

  private static String shown(Conversation conversation) {
    byte[] bytes = conversation.bytes();
    return conversation.end()
        + " after "
        + bytes.length
        + " bytes: "
        + new String(bytes, 0, Math.min(1_000, bytes.length), ISO_8859_1);
  }
}
