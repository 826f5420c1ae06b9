package dev.holdfast.server.cli;

import java.io.PrintWriter;
import java.util.function.Consumer;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;

/** What commands take that list something. */
final class ListOptions {
  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "50",
      converter = Limit.class,
      description = "List at most this many, the newest first (default: ${DEFAULT-VALUE}).")
  private int limit;

  /** Prints a list as JSON, one item on each line, or as a table. */
  void print(
      ClientOptions client,
      ApiClient api,
      String path,
      Table table,
      Consumer<Item> row,
      String none)
      throws CommandFailed {
    PrintWriter out = client.out();
    boolean more = api.list(path, limit, client.isJson() ? item -> out.println(item.json()) : row);
    if (client.isJson()) {
      return;
    }
    if (table.isEmpty()) {
      out.println(none);
    } else {
      table.print(out, client.screen());
    }
    if (more) {
      out.println("There are more; --limit N shows up to N.");
    }
  }

  private static final class Limit implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      return OptionText.read(Kind.whole(1, 1_000_000), text);
    }
  }
}
