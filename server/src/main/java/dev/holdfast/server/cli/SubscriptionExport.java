package dev.holdfast.server.cli;

import dev.holdfast.engine.egress.MaskedUrl;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import tools.jackson.databind.node.ObjectNode;

/**
 * Subscriptions as another server can take them: without what only this one gave them, such as ids
 * and times, without what they have by default, and always in the same order.
 */
final class SubscriptionExport {
  private static final Comparator<Item> ORDER =
      Comparator.comparing((Item item) -> item.text("url"))
          .thenComparing(SubscriptionExport::types)
          .thenComparing(item -> item.text("subject"))
          .thenComparing(item -> item.text("id"));

  private final List<ObjectNode> subscriptions = new ArrayList<>();
  private final Set<String> variables = new TreeSet<>();
  private final long paused;

  SubscriptionExport(List<Item> shown) {
    shown.stream().sorted(ORDER).map(this::exported).forEach(subscriptions::add);
    paused = shown.stream().filter(item -> item.isTrue("paused")).count();
  }

  private static String types(Item subscription) {
    return subscription.list("types").stream()
        .map(type -> type.node().asString(""))
        .collect(Collectors.joining("\n"));
  }

  private ObjectNode exported(Item shown) {
    ObjectNode exported = Item.create().put("url", url(shown));
    exported.set("types", shown.node().path("types"));
    copy(shown, exported, "subject", "");
    if (!shown.list("filters").isEmpty()) {
      exported.set("filters", shown.node().path("filters"));
    }
    copy(shown, exported, "filterConnector", "AND");
    copy(shown, exported, "format", "holdfast");
    copy(shown, exported, "version", "v2");
    copy(shown, exported, "base64Encoding", "false");
    if (!shown.isNull("authToken")) {
      exported.put("authToken", placeholder(Placeholders.tokenVariable(shown.text("id"))));
    }
    Set<String> headers = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    headers.addAll(shown.node().path("headers").propertyNames());
    if (!headers.isEmpty()) {
      ObjectNode placeholders = exported.putObject("headers");
      Set<String> taken = new HashSet<>();
      for (String header : headers) {
        String variable = Placeholders.headerVariable(header, shown.text("id"), taken);
        taken.add(variable);
        placeholders.put(header, placeholder(variable));
      }
    }
    copy(shown, exported, "rateLimit", "");
    List<Item> secrets = shown.list("secrets");
    if (!secrets.isEmpty()) {
      copy(secrets.getFirst(), exported, "signature", "v1");
    }
    return exported;
  }

  /** A placeholder if the server does not show all of it. */
  private String url(Item shown) {
    String url = shown.text("url");
    return MaskedUrl.isMasked(url) ? placeholder(Placeholders.urlVariable(shown.text("id"))) : url;
  }

  private static void copy(Item from, ObjectNode to, String field, String byDefault) {
    if (!from.isNull(field) && !from.text(field).equals(byDefault)) {
      to.set(field, from.node().path(field));
    }
  }

  private String placeholder(String variable) {
    variables.add(variable);
    return Placeholders.of(variable);
  }

  int size() {
    return subscriptions.size();
  }

  /** The environment variables that an import needs. */
  Set<String> variables() {
    return variables;
  }

  /** How many are paused, which the file does not say. */
  long paused() {
    return paused;
  }

  String text() {
    return SubscriptionFile.write(subscriptions);
  }

  /** Fails when such a file may not be written, so that nobody has to be asked in vain. */
  static void check(Path file, boolean replace) throws CommandFailed {
    if (Files.isDirectory(file)) {
      throw new CommandFailed(file + " is a directory. Name a file.");
    }
    if (Files.exists(file) && !replace) {
      throw new CommandFailed(file + " is there already. Name another file, or use --force.");
    }
  }

  /** Writes the file: whoever looks at it sees all of it or what was there before. */
  void write(Path file, boolean replace) throws CommandFailed {
    check(file, replace);
    Path part = file.resolveSibling(file.getFileName() + ".part");
    try {
      try {
        try (FileChannel channel =
            FileChannel.open(
                part,
                StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.WRITE)) {
          ByteBuffer text = ByteBuffer.wrap(JsonText.bytes(text()));
          while (text.hasRemaining()) {
            channel.write(text);
          }
          channel.force(true);
        }
        Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      } finally {
        Files.deleteIfExists(part);
      }
    } catch (IOException e) {
      throw new CommandFailed(
          "%s was not written: %s. Name a file that this user may write, where there is room."
              .formatted(file, ClientOptions.writeReason(e)));
    }
  }
}
