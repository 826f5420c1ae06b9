package dev.holdfast.server.cli;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.encoder.EncoderBase;
import java.io.ByteArrayOutputStream;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * Writes a line of the log as a JSON object.
 *
 * <p>Our lines are a name and fields, {@code store.full times={} next="trying again"}; name and
 * fields become members of the object, and a number stays one. They are read from the line before
 * its values are put in, so no value can look like a field. A line of a library becomes one {@code
 * message}. Logback's own JSON encoder knows neither.
 */
final class JsonLines extends EncoderBase<ILoggingEvent> {
  private static final JsonFactory JSON = new JsonFactory();
  private static final byte[] NOTHING = new byte[0];

  private static final String PLACE = "{}";

  /** {@code store.full}, {@code api.connection-failed}; a part may be put in like a value. */
  private static final Pattern NAME = Pattern.compile("[a-z]+(?:\\.(?:[a-z]+(?:-[a-z]+)*|\\{}))+");

  /** {@code times={}} or {@code next="what follows"}. */
  private static final Pattern FIELD = Pattern.compile(" ([a-zA-Z]+)=(?:\"([^\"]*)\"|([^ \"]+))");

  /**
   * A line taken apart.
   *
   * @param name absent when it is a library's
   */
  record Line(@Nullable String name, Map<String, Object> fields) {}

  @Override
  public byte[] headerBytes() {
    return NOTHING;
  }

  @Override
  public byte[] footerBytes() {
    return NOTHING;
  }

  @Override
  public byte[] encode(ILoggingEvent event) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
    try (JsonGenerator out = JSON.createGenerator(ObjectWriteContext.empty(), bytes)) {
      out.writeStartObject();
      out.writeStringProperty("time", event.getInstant().truncatedTo(ChronoUnit.MILLIS).toString());
      out.writeStringProperty("level", event.getLevel().toString());
      write(out, line(event.getMessage(), event.getArgumentArray()), event);
      String logger = event.getLoggerName();
      out.writeStringProperty("logger", logger.substring(logger.lastIndexOf('.') + 1));
      out.writeStringProperty("thread", event.getThreadName());
      IThrowableProxy thrown = event.getThrowableProxy();
      if (thrown != null) {
        out.writeStringProperty("exception", ThrowableProxyUtil.asString(thrown));
      }
      out.writeEndObject();
    }
    bytes.write('\n');
    return bytes.toByteArray();
  }

  private static void write(JsonGenerator out, Line line, ILoggingEvent event) {
    String name = line.name();
    if (name == null) {
      out.writeStringProperty("message", event.getFormattedMessage());
      return;
    }
    out.writeStringProperty("event", name);
    line.fields()
        .forEach(
            (key, value) -> {
              switch (value) {
                case Integer number -> out.writeNumberProperty(key, number);
                case Long number -> out.writeNumberProperty(key, number);
                case Boolean yes -> out.writeBooleanProperty(key, yes);
                default -> out.writeStringProperty(key, value.toString());
              }
            });
  }

  /** Takes a line apart; whatever has not our form is a library's. */
  static Line line(@Nullable String template, @Nullable Object @Nullable [] arguments) {
    if (template == null) {
      return new Line(null, Map.of());
    }
    Values values = new Values(arguments == null ? new Object[0] : arguments);
    Matcher name = NAME.matcher(template);
    if (!name.lookingAt()) {
      return new Line(null, Map.of());
    }
    String told = values.into(name.group());
    Map<String, Object> fields = new LinkedHashMap<>();
    Matcher field = FIELD.matcher(template);
    int at = name.end();
    while (at < template.length()) {
      field.region(at, template.length());
      if (!field.lookingAt()) {
        return new Line(null, Map.of());
      }
      String text = field.group(2) != null ? field.group(2) : field.group(3);
      fields.put(field.group(1), text.equals(PLACE) ? values.next() : values.into(text));
      at = field.end();
    }
    return new Line(told, fields);
  }

  /** What is put into a line, one after the other. */
  private static final class Values {
    private final @Nullable Object[] arguments;
    private int used;

    Values(@Nullable Object[] arguments) {
      this.arguments = arguments;
    }

    Object next() {
      Object value = used < arguments.length ? arguments[used++] : null;
      return value == null ? "" : value;
    }

    String into(String text) {
      StringBuilder filled = new StringBuilder(text);
      for (int at = filled.indexOf(PLACE); at >= 0; at = filled.indexOf(PLACE, at)) {
        String value = next().toString();
        filled.replace(at, at + PLACE.length(), value);
        at += value.length();
      }
      return filled.toString();
    }
  }
}
