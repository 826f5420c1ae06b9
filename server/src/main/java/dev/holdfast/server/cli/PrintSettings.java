package dev.holdfast.server.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code holdfast settings}. */
@Command(
    name = "settings",
    description = "List everything that can be set, with its default and what it means.",
    footerHeading = "%nExamples:%n",
    footer = {
      "  ./holdfast settings",
      "  ./holdfast settings | grep circuit",
      "  ./holdfast settings --markdown > docs/settings.md     after one was changed"
    })
final class PrintSettings implements Runnable {
  private static final int WIDTH = 100;

  @Spec private @Nullable CommandSpec spec;

  @Option(names = "--markdown", description = "Print them as the page docs/settings.md.")
  private boolean markdown;

  @Override
  public void run() {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    if (markdown) {
      out.print(page());
      out.flush();
    } else {
      print(out);
    }
  }

  /** The page about settings in the documentation. */
  static String page() {
    StringBuilder page =
        new StringBuilder(
            """
            # Settings

            Everything that can be set. Each can be given in three ways, the first going before the others:

            ```
            ./holdfast serve --set retry.unit=10s
            HOLDFAST_RETRY_UNIT=10s ./holdfast serve
            ./holdfast serve --config FILE      # with a line retry.unit=10s in it
            ```

            An unknown key or a bad value stops the start, with all problems listed at once. `./holdfast doctor` checks settings too.

            | key | default | what it is | allowed |
            | --- | --- | --- | --- |
            """);
    for (Setting<?> setting : Settings.catalogue()) {
      page.append(
          "| `%s` | %s | %s | %s |\n"
              .formatted(
                  setting.key(),
                  setting.defaultText().isEmpty() ? "(none)" : "`" + setting.defaultText() + "`",
                  cell(setting.description()),
                  cell(setting.kind().allowed())));
    }
    page.append(
        """

        Environment variables that are no settings:

        | variable | what it is |
        | --- | --- |
        """);
    Settings.OTHER_VARIABLES.forEach(
        (name, what) -> page.append("| `%s` | %s |\n".formatted(name, cell(what))));
    return page.append(
            """

            This page is made by `./holdfast settings --markdown`; a test compares it with the program.
            """)
        .toString();
  }

  private static String cell(String text) {
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;");
  }

  private static void print(PrintWriter out) {
    int keys = widest(Settings.catalogue().stream().map(Setting::key).toList(), "KEY");
    int defaults =
        widest(Settings.catalogue().stream().map(Setting::defaultText).toList(), "DEFAULT");
    String row = "%-" + keys + "s  %-" + defaults + "s  %s%n";
    out.printf(row, "KEY", "DEFAULT", "WHAT IT IS");
    for (Setting<?> setting : Settings.catalogue()) {
      String key = setting.key();
      String value = setting.defaultText();
      for (String line : wrapped(describe(setting), WIDTH - keys - defaults - 4)) {
        out.printf(row, key, value, line);
        key = "";
        value = "";
      }
    }
    out.println();
    out.println("How to set one, the first going before the others:");
    out.println("  ./holdfast serve --set retry.unit=10s");
    out.println("  HOLDFAST_RETRY_UNIT=10s ./holdfast serve");
    out.println("  ./holdfast serve --config FILE      with a line retry.unit=10s in it");
    out.println();
    out.println("Environment variables that are no settings:");
    Settings.OTHER_VARIABLES.forEach((name, what) -> out.printf("  %-22s  %s%n", name, what));
  }

  private static String describe(Setting<?> setting) {
    return setting.description() + " Allowed: " + setting.kind().allowed() + ".";
  }

  private static int widest(List<String> texts, String heading) {
    return Math.max(heading.length(), texts.stream().mapToInt(String::length).max().orElse(0));
  }

  private static List<String> wrapped(String text, int width) {
    List<String> lines = new ArrayList<>();
    StringBuilder line = new StringBuilder();
    for (String word : text.split(" ", -1)) {
      if (!line.isEmpty() && line.length() + 1 + word.length() > width) {
        lines.add(line.toString());
        line.setLength(0);
      }
      line.append(line.isEmpty() ? "" : " ").append(word);
    }
    lines.add(line.toString());
    return lines;
  }
}
