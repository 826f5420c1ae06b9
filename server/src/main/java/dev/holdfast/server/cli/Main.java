package dev.holdfast.server.cli;

import java.io.PrintWriter;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IFactory;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/** The program: finds the command that was asked for and runs it. */
@Command(
    name = "holdfast",
    description = "Delivers events to other people's HTTP endpoints and does not let go.",
    synopsisSubcommandLabel = "COMMAND",
    commandListHeading = "%nCommands:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  ./holdfast demo                       a server to look at, with everything going on",
      "  ./holdfast serve                      a server on http://127.0.0.1:8080",
      "  ./holdfast listen                     a receiver that shows what arrives",
      "  ./holdfast send --type order.paid     an event",
      "  ./holdfast doctor                     whether this machine is fit for a server",
      "  ./holdfast serve --help               what a command can do",
      "",
      "Exit codes: 0 done, 1 failed, 2 wrong usage or settings."
    })
public final class Main implements Runnable {
  /** How picocli says that a word is none of those that an option takes. */
  private static final Pattern NO_CHOICE =
      Pattern.compile("expected one of \\[(.*)] \\(case-(?:in)?sensitive\\) but was '(.*)'");

  @Spec private @Nullable CommandSpec spec;

  private Main() {}

  /** Runs the command line. */
  public static void main(String[] arguments) {
    System.exit(run(List.of(), arguments));
  }

  /**
   * Runs the command line with further commands.
   *
   * <p>The command that is asked for is the only one that picocli is told about, if it is plain
   * which one that is: to look at all of them takes a good part of a server's start.
   *
   * @param commands objects that have picocli's {@link Command}
   * @return what the process is to end with
   */
  public static int run(List<?> commands, String[] arguments) {
    InstantSource clock = InstantSource.system();
    Surroundings surroundings = Surroundings.real(clock);
    List<Object> all = all(commands, clock, surroundings);
    List<Object> asked =
        arguments.length == 0
            ? List.of()
            : all.stream().filter(command -> isNamed(command, arguments[0])).toList();
    return commandLine(asked.isEmpty() ? all : asked, surroundings).execute(arguments);
  }

  /** Completion is about all commands, so asking for it makes it plain that all are needed. */
  private static boolean isNamed(Object command, String name) {
    Command annotation = command.getClass().getAnnotation(Command.class);
    return annotation != null && annotation.name().equals(name) && !(command instanceof Completion);
  }

  /** Which Holdfast this is, such as {@code 0.1.0}. */
  public static String version() {
    return Version.NUMBER;
  }

  /**
   * The command line with further commands.
   *
   * @param commands objects that have picocli's {@link Command}
   */
  public static CommandLine commandLine(List<?> commands) {
    return commandLine(commands, InstantSource.system());
  }

  /**
   * The command line of a server that goes by another clock than this machine's.
   *
   * @param clock the time of day
   */
  public static CommandLine commandLine(List<?> commands, InstantSource clock) {
    return commandLine(commands, clock, Surroundings.real(clock));
  }

  static CommandLine commandLine(List<?> commands, InstantSource clock, Surroundings surroundings) {
    return commandLine(all(commands, clock, surroundings), surroundings);
  }

  private static List<Object> all(
      List<?> commands, InstantSource clock, Surroundings surroundings) {
    List<Object> all =
        new ArrayList<>(
            List.of(
                new Serve(clock),
                new Demo(clock),
                new Listen(surroundings),
                new Send(),
                new Messages(),
                new Subscriptions(),
                new Endpoints(),
                new Replay(),
                new ClusterCommand(),
                new KeyCommand(),
                new MasterKeyCommand(),
                new AuditCommand(),
                new Doctor(surroundings),
                new Check(surroundings),
                new Backup(surroundings),
                new Restore(surroundings),
                new Migrate(surroundings),
                new SchemaCommand(surroundings),
                new PrintSettings(),
                new PrintVersion(),
                new Completion(),
                new WarmUp(clock)));
    all.addAll(commands);
    return all;
  }

  private static CommandLine commandLine(List<Object> commands, Surroundings surroundings) {
    CommandLine line = new CommandLine(new Main(), new Factory(surroundings));
    commands.forEach(line::addSubcommand);
    line.setParameterExceptionHandler(Main::explain);
    line.setExecutionExceptionHandler(Main::report);
    allOf(line);
    OptionText.install(line);
    return line;
  }

  /** Makes what picocli makes by itself, and gives commands the world around them. */
  private record Factory(Surroundings surroundings) implements IFactory {
    @Override
    public <K> K create(Class<K> type) throws Exception {
      if (type == NamedStore.class) {
        return type.cast(new NamedStore(surroundings));
      }
      return type == ClientOptions.class
          ? type.cast(new ClientOptions(surroundings))
          : CommandLine.defaultFactory().create(type);
    }
  }

  /** What holds for every command, wherever it comes from. */
  private static void allOf(CommandLine line) {
    line.getCommandSpec().usageMessage().width(100).sortOptions(false);
    if (line.getCommandSpec().findOption("--help") == null) {
      line.getCommandSpec().addOption(helpOption());
    }
    line.getSubcommands().values().forEach(Main::allOf);
  }

  private static CommandLine.Model.OptionSpec helpOption() {
    return CommandLine.Model.OptionSpec.builder("-h", "--help")
        .usageHelp(true)
        .description("Show this help and end.")
        .build();
  }

  @Override
  public void run() {
    throw new ParameterException(Objects.requireNonNull(spec).commandLine(), "Which command?");
  }

  private static int explain(ParameterException problem, String[] arguments) {
    CommandLine line = problem.getCommandLine();
    PrintWriter err = line.getErr();
    err.println(said(problem));
    meant(problem).ifPresent(meant -> err.println("Did you mean " + meant + "?"));
    if (line.getParent() == null) {
      err.println();
      line.usage(err);
    } else {
      err.println("Try ./" + line.getCommandSpec().qualifiedName() + " --help");
    }
    err.flush();
    return ExitCode.USAGE;
  }

  /** As a person would say it. Of what is not known only the first word: the rest may be secret. */
  private static String said(ParameterException problem) {
    if (problem instanceof UnmatchedArgumentException unmatched) {
      String argument = "'" + Printable.text(unmatched.getUnmatched().getFirst(), 80) + "'";
      if (unmatched.isUnknownOption()) {
        return "There is no option " + argument.replaceFirst("=.*", "'") + ".";
      }
      return problem.getCommandLine().getSubcommands().isEmpty()
          ? argument + " is one argument too many."
          : "There is no command " + argument + ".";
    }
    return Printable.text(
        NO_CHOICE.matcher(String.valueOf(problem.getMessage())).replaceFirst("'$2' is none of $1"),
        1_000);
  }

  /** The command or option that was probably meant by one that there is not. */
  private static Optional<String> meant(ParameterException problem) {
    if (!(problem instanceof UnmatchedArgumentException unmatched)) {
      return Optional.empty();
    }
    CommandLine line = problem.getCommandLine();
    String argument = unmatched.getUnmatched().getFirst().replaceFirst("=.*", "");
    if (!argument.startsWith("-")) {
      return NearMiss.among(line.getSubcommands().keySet(), argument);
    }
    Set<String> options = line.getCommandSpec().optionsMap().keySet();
    return NearMiss.among(options, argument)
        .or(() -> options.stream().filter(option -> option.startsWith(argument)).findFirst());
  }

  /** Only for what nobody foresaw: commands tell about everything else themselves. */
  private static int report(Exception problem, CommandLine line, ParseResult parsed) {
    PrintWriter err = line.getErr();
    err.println(
        "This should not have happened, and ends ./" + line.getCommandSpec().qualifiedName() + ":");
    problem.printStackTrace(err);
    err.flush();
    return ExitCode.FAILED;
  }
}
