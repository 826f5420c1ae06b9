package dev.holdfast.server.cli;

import dev.holdfast.server.cli.ApiClient.Answer;
import dev.holdfast.server.cli.Table.Cell;
import dev.holdfast.server.cli.Table.Column;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Brings subscriptions to a server: asks it what all of them would change, says so, and then has it
 * done.
 *
 * <p>The server takes each request as a whole or not at all. Of many subscriptions several requests
 * are made, so an import can end in the middle; the same import again goes on, since what is there
 * already stays as it is.
 */
final class SubscriptionImport {
  /** In one request. */
  static final int CHUNK = 1_000;

  /** So that a request stays below what the server takes. */
  private static final int CHUNK_CHARS = 4 << 20;

  private static final String PATH = "/v1/subscriptions/import";
  private static final int MOST_TOLD = 100;
  private static final Pattern PLACE = Pattern.compile("\\bsubscriptions\\[(\\d{1,7})]");

  private final ApiClient api;
  private final ClientOptions client;
  private final List<ObjectNode> subscriptions;
  private final List<Chunk> chunks;

  SubscriptionImport(ApiClient api, ClientOptions client, List<ObjectNode> subscriptions) {
    this.api = api;
    this.client = client;
    this.subscriptions = subscriptions;
    this.chunks = chunks(subscriptions);
  }

  /**
   * Subscriptions that go in one request.
   *
   * @param before how many go in requests before it
   * @param places where in the file they stand
   * @param list them, as JSON with commas between
   */
  private record Chunk(int before, List<Integer> places, String list) {
    byte[] json(boolean dryRun) {
      return JsonText.bytes("{\"subscriptions\":[%s],\"dryRun\":%s}".formatted(list, dryRun));
    }

    int end() {
      return before + places.size();
    }
  }

  /**
   * Subscriptions that the server may take for the same one stay together: of two requests the
   * second would change what the first has made, but in one it tells them apart.
   */
  private static List<Chunk> chunks(List<ObjectNode> subscriptions) {
    Map<String, List<Integer>> alike = new LinkedHashMap<>();
    for (int i = 0; i < subscriptions.size(); i++) {
      alike.computeIfAbsent(identity(subscriptions.get(i)), _ -> new ArrayList<>()).add(i);
    }
    List<Chunk> chunks = new ArrayList<>();
    List<Integer> places = new ArrayList<>();
    StringBuilder list = new StringBuilder();
    int before = 0;
    for (List<Integer> group : alike.values()) {
      String json =
          group.stream()
              .map(place -> subscriptions.get(place).toString())
              .collect(Collectors.joining(","));
      boolean isFull =
          places.size() + group.size() > CHUNK || list.length() + json.length() > CHUNK_CHARS;
      if (isFull && !places.isEmpty()) {
        chunks.add(new Chunk(before, List.copyOf(places), list.toString()));
        before += places.size();
        places.clear();
        list.setLength(0);
      }
      list.append(places.isEmpty() ? "" : ",").append(json);
      places.addAll(group);
    }
    if (!places.isEmpty()) {
      chunks.add(new Chunk(before, List.copyOf(places), list.toString()));
    }
    return chunks;
  }

  /** Equal for all that the server may take for the same; for some others too, which is no harm. */
  private static String identity(ObjectNode subscription) {
    Item item = new Item(subscription);
    String url = item.text("url").toLowerCase(Locale.ROOT).replaceAll(":(80|443)(?=/|$)|/$", "");
    List<String> types =
        item.list("types").stream().map(type -> type.node().asString("")).distinct().toList();
    return String.join("\n", url, item.text("subject"), String.join("\n", types));
  }

  /** What becomes of subscriptions, or would. */
  private record Counts(long created, long changed, long unchanged) {
    static final Counts NONE = new Counts(0, 0, 0);

    Counts plus(Item answer) {
      return new Counts(
          created + answer.number("created"),
          changed + answer.number("changed"),
          unchanged + answer.number("unchanged"));
    }

    boolean isNothing() {
      return created == 0 && changed == 0;
    }

    String text(String pattern) {
      return String.format(Locale.ROOT, pattern, created, changed, unchanged);
    }
  }

  /**
   * Asks, and does it unless that is not wanted or there is nothing to do.
   *
   * @param secretsFile where secrets go that the server makes; absent: to the screen
   */
  void run(boolean dryRun, @Nullable Path secretsFile) throws CommandFailed {
    List<Item> answers = ask();
    Counts plan = Counts.NONE;
    for (Item answer : answers) {
      plan = plan.plus(answer);
    }
    boolean done = dryRun || plan.isNothing();
    if (client.isJson() && done) {
      answers.forEach(answer -> client.out().println(answer.json()));
    }
    if (!client.isJson()) {
      tell(plan, answers);
    }
    if (done) {
      if (!plan.isNothing()) {
        client.err().println("This was a dry run, and nothing was changed.");
      }
      return;
    }
    client.out().flush();
    // Only what is created gets a secret: without that an older file of secrets is in nobody's way.
    if (secretsFile == null || plan.created() == 0) {
      apply(null);
    } else {
      try (SecretsFile file = SecretsFile.create(secretsFile)) {
        apply(file);
      }
    }
  }

  /** Dry runs of everything, so that what the server will not take is known before it begins. */
  private List<Item> ask() throws CommandFailed {
    List<Item> answers = new ArrayList<>();
    ProgressBar progress = new ProgressBar(client.err(), client.screen());
    try {
      for (Chunk chunk : chunks) {
        Answer answer = api.send("POST", PATH, chunk.json(true));
        if (answer.isRefusal()) {
          progress.end();
          throw new CommandFailed(refusal(answer, chunk) + " Nothing was changed.");
        }
        answers.add(answer.item());
        show(progress, chunk, "checked");
      }
    } finally {
      progress.end();
    }
    return answers;
  }

  private void show(ProgressBar progress, Chunk chunk, String what) {
    if (chunks.size() > 1) {
      progress.show(
          (double) chunk.end() / subscriptions.size(),
          String.format(
              Locale.ROOT, "%,d of %,d subscriptions %s", chunk.end(), subscriptions.size(), what));
    }
  }

  /** With places as in the whole file: the server only knows those of its request. */
  private String refusal(Answer answer, Chunk chunk) {
    return PLACE
        .matcher(api.refused(answer).what())
        .replaceAll(
            place -> {
              int index = Integer.parseInt(place.group(1));
              return index < chunk.places().size()
                  ? SubscriptionFile.place(chunk.places().get(index))
                  : place.group();
            });
  }

  private void tell(Counts plan, List<Item> answers) {
    if (plan.isNothing()) {
      client.out().println(plan.text("Nothing to change: %3$,d unchanged."));
      return;
    }
    client.out().println(plan.text("%,d to create, %,d to change, %,d unchanged."));
    long told = 0;
    for (Item answer : answers) {
      for (Item result : answer.list("subscriptions")) {
        if (result.text("result").equals("changed") && told++ < MOST_TOLD) {
          client.out().println("  to change: " + Printable.text(result.text("url")));
        }
      }
    }
    if (told > MOST_TOLD) {
      client.out().printf(Locale.ROOT, "  and %,d more%n", told - MOST_TOLD);
    }
  }

  private void apply(@Nullable SecretsFile file) throws CommandFailed {
    // From here on Ctrl-C waits for an answer, since that may have secrets which nobody sees again.
    Patience patience = client.surroundings().patience().get();
    ProgressBar progress = new ProgressBar(client.err(), client.screen());
    Table made =
        new Table(Column.text("ID"), Column.text("SECRET"), Column.cut("URL"), Column.cut("TYPES"));
    Counts counts = Counts.NONE;
    try {
      for (Chunk chunk : chunks) {
        if (chunk.before() > 0 && patience.askedToEndWithin(Duration.ZERO)) {
          throw new CommandFailed("Ended as asked." + soFar(chunk));
        }
        Item answer = send(chunk);
        counts = counts.plus(answer);
        keep(answer, chunk, file, made);
        show(progress, chunk, "imported");
      }
    } finally {
      progress.end();
      if (!made.isEmpty()) {
        client.err().println("These secrets were made. They are shown only this once.");
        made.print(client.out(), client.screen());
      }
    }
    client.err().println(counts.text("Imported: %,d created, %,d changed, %,d unchanged."));
  }

  private Item send(Chunk chunk) throws CommandFailed {
    try {
      Answer answer = api.send("POST", PATH, chunk.json(false));
      if (answer.isRefusal()) {
        throw new CommandFailed(refusal(answer, chunk) + soFar(chunk));
      }
      return answer.item();
    } catch (ServerUnreachable e) {
      throw new CommandFailed(
          String.format(
              Locale.ROOT,
              "%s Whether the next part, of %,d, was imported is not known; what it has created has secrets that nobody has seen: rotate them.",
              e.what() + soFar(chunk),
              chunk.places().size()));
    }
  }

  private String soFar(Chunk chunk) {
    return String.format(
        Locale.ROOT,
        " %,d of %,d subscriptions were imported before. Import the same file again to go on: what is there already stays as it is.",
        chunk.before(),
        subscriptions.size());
  }

  /** Brings made secrets to the file, to the JSON that is printed, or else to the table. */
  private void keep(Item answer, Chunk chunk, @Nullable SecretsFile file, Table table) {
    List<Item> results = answer.list("subscriptions");
    List<ObjectNode> made = new ArrayList<>();
    for (int i = 0; i < Math.min(results.size(), chunk.places().size()); i++) {
      Item result = results.get(i);
      if (!result.isNull("secret")) {
        ObjectNode subscription = subscriptions.get(chunk.places().get(i));
        ObjectNode secret =
            Item.create().put("id", result.text("id")).put("url", result.text("url"));
        secret.set("types", subscription.path("types"));
        if (subscription.hasNonNull("subject")) {
          secret.set("subject", subscription.path("subject"));
        }
        made.add(secret.put("secret", result.text("secret")));
      }
    }
    boolean isKept = file != null && file.keep(made.stream().map(ObjectNode::toString).toList());
    if (file != null && !isKept) {
      client.err().println("The file for --secrets cannot be written; they are printed instead.");
    }
    if (client.isJson()) {
      if (isKept) {
        results.forEach(result -> ((ObjectNode) result.node()).remove("secret"));
      }
      client.out().println(answer.json());
      client.out().flush();
    } else if (!isKept) {
      for (ObjectNode secret : made) {
        Item item = new Item(secret);
        table.row(
            Cell.of(item.text("id")),
            Cell.of(item.text("secret")),
            Cell.of(item.text("url")),
            Cell.of(item.words("types")));
      }
    }
  }
}
