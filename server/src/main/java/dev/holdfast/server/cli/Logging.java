package dev.holdfast.server.cli;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.OutputStreamAppender;
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

  private Logging() {}

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
