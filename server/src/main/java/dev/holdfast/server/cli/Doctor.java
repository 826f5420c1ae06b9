package dev.holdfast.server.cli;

import dev.holdfast.server.cli.Finding.Level;
import dev.holdfast.server.cli.Settings.Sources;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code holdfast doctor}. */
@Command(
    name = "doctor",
    description = {
      "Check whether this machine and these settings are fit for a server, and say what to do.",
      "",
      "Takes the options of serve. Changes nothing; a small file is written to measure the disk, and",
      "removed."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  ./holdfast doctor",
      "  ./holdfast doctor --data /var/lib/holdfast --config /etc/holdfast.properties",
      "  ./holdfast doctor --store jdbc:postgresql://db.example/holdfast",
      "  ./holdfast doctor --json",
      "",
      "--json prints one object with all findings. Exit codes: 0 no problem (there may be warnings),",
      "1 a problem, 2 wrong usage."
    })
final class Doctor implements Callable<Integer> {
  private final Surroundings surroundings;

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "The directory of the store (data, default holdfast-data).")
  private @Nullable String data;

  @Option(
      names = "--store",
      paramLabel = "URL",
      description = "The PostgreSQL database of servers that share one (store.url).")
  private @Nullable String store;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      description = "The port of the server (server.port, default 8080).")
  private @Nullable String port;

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "A file with settings, KEY=VALUE on each line.")
  private @Nullable Path config;

  @Option(names = "--set", paramLabel = "KEY=VALUE", description = "One setting. Can be repeated.")
  private List<String> assignments = List.of();

  @Option(names = "--json", description = "Print JSON.")
  private boolean json;

  Doctor(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() {
    List<Finding> findings = new ArrayList<>();
    try {
      Settings settings = Settings.read(sources());
      findings.add(Finding.ok("settings", "valid " + settings));
      findings.addAll(new Checkup(settings).findings());
    } catch (InvalidSettings e) {
      for (InvalidSettings.Problem problem : e.problems()) {
        findings.add(
            Finding.problem(
                "settings",
                "%s (%s): %s".formatted(problem.what(), problem.origin(), problem.problem()),
                "Correct it; ./holdfast settings lists every setting. The rest is checked after that."));
      }
    }
    boolean problem = findings.stream().anyMatch(found -> found.level() == Level.PROBLEM);
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    if (json) {
      out.println(json(findings, !problem));
    } else {
      Screen screen = surroundings.screen().get();
      findings.forEach(finding -> print(finding, screen, out));
    }
    out.flush();
    return problem ? ExitCode.FAILED : ExitCode.DONE;
  }

  private Sources sources() {
    Map<String, Sources.Flag> flags = new HashMap<>();
    if (port != null) {
      flags.put("--port", new Sources.Flag(Settings.SERVER_PORT, port));
    }
    if (store != null) {
      flags.put("--store", new Sources.Flag(Settings.STORE_URL, store));
    }
    if (data != null) {
      flags.put("--data", new Sources.Flag(Settings.DATA, data));
    }
    return new Sources(config, surroundings.environment(), assignments, flags);
  }

  private static void print(Finding finding, Screen screen, PrintWriter out) {
    String word = "%-11s".formatted(finding.level().word);
    String styled =
        switch (finding.level()) {
          case OK -> screen.styled(Ansi.Style.fg_green, word);
          case UNCHECKED -> screen.styled(Ansi.Style.faint, word);
          case WARNING -> screen.styled(Ansi.Style.fg_yellow, word);
          case PROBLEM -> screen.styled(Ansi.Style.fg_red, word);
        };
    out.printf(
        Locale.ROOT, "%s  %-10s  %s%n", styled, finding.check(), Printable.text(finding.what()));
    if (finding.remedy() != null) {
      out.println(" ".repeat(25) + Printable.text(finding.remedy()));
    }
  }

  private static String json(List<Finding> findings, boolean ok) {
    ObjectNode report = Item.create().put("ok", ok);
    ArrayNode list = report.putArray("findings");
    for (Finding finding : findings) {
      list.addObject()
          .put("check", finding.check())
          .put("level", finding.level().word)
          .put("what", finding.what())
          .put("remedy", finding.remedy());
    }
    return report.toString();
  }
}
