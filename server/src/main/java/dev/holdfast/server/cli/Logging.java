package dev.holdfast.server.cli;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.FileAppender;
import ch.qos.logback.core.OutputStreamAppender;
import ch.qos.logback.core.encoder.Encoder;
import java.nio.file.Path;
import org.slf4j.ILoggerFactory;
import org.slf4j.LoggerFactory;

/** How the log reads and how much it tells, as set. What is not set stands in logback.xml. */
final class Logging {
  private static final String OURS = "dev.holdfast";
  private static final String APPENDER = "stderr";

  /** How a line reads. */
  enum Format {
    HUMAN,
    JSON
  }

  /** The least important lines that are told. */
  enum Level {
    ERROR,
    WARN,
    INFO,
    DEBUG
  }

  /** The log goes to a file for as long as this is open. */
  interface Diverted extends AutoCloseable {
    @Override
    void close();
  }

  private Logging() {}

  /** Lets the log go to a file instead of to standard error, as it is otherwise. */
  static Diverted divert(Path file) {
    if (!(LoggerFactory.getILoggerFactory() instanceof LoggerContext context)) {
      return () -> {};
    }
    Logger root = context.getLogger(Logger.ROOT_LOGGER_NAME);
    Appender<ILoggingEvent> usual = root.getAppender(APPENDER);
    FileAppender<ILoggingEvent> diverted = new FileAppender<>();
    diverted.setContext(context);
    diverted.setFile(file.toString());
    diverted.setEncoder(lines(context));
    diverted.start();
    root.addAppender(diverted);
    if (usual != null) {
      root.detachAppender(usual);
    }
    return () -> {
      if (usual != null) {
        root.addAppender(usual);
      }
      root.detachAppender(diverted);
      diverted.stop();
    };
  }

  private static Encoder<ILoggingEvent> lines(LoggerContext context) {
    PatternLayoutEncoder encoder = new PatternLayoutEncoder();
    encoder.setContext(context);
    encoder.setPattern("%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %-5level %msg  [%logger{0}]%n");
    encoder.start();
    return encoder;
  }

  static void apply(Format format, Level level) {
    ILoggerFactory loggers = LoggerFactory.getILoggerFactory();
    if (loggers instanceof LoggerContext context) {
      apply(context, format, level);
    }
  }

  static void apply(LoggerContext context, Format format, Level level) {
    var least = ch.qos.logback.classic.Level.toLevel(level.name());
    context.getLogger(OURS).setLevel(least);
    Logger root = context.getLogger(Logger.ROOT_LOGGER_NAME);
    if (least.isGreaterOrEqual(root.getLevel())) {
      root.setLevel(least);
    }
    Appender<ILoggingEvent> appender = root.getAppender(APPENDER);
    if (format == Format.JSON
        && appender instanceof OutputStreamAppender<ILoggingEvent> lines
        && !(lines.getEncoder() instanceof JsonLines)) {
      JsonLines encoder = new JsonLines();
      encoder.setContext(context);
      encoder.start();
      lines.setEncoder(encoder);
    }
  }
}
