package dev.holdfast.server.api;

import dev.holdfast.core.model.Id;
import io.vertx.core.buffer.Buffer;
import java.io.ByteArrayOutputStream;
import java.time.Instant;
import java.util.Collection;
import java.util.Iterator;
import java.util.Locale;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** Writes answers. Times are RFC 3339 in UTC, ids opaque text, names of constants kebab-case. */
final class Json {
  private static final JsonFactory FACTORY = new JsonFactory();

  private Json() {}

  static Buffer write(Consumer<JsonGenerator> content) {
    return write(new ByteArrayOutputStream(512), content);
  }

  private static Buffer write(ByteArrayOutputStream bytes, Consumer<JsonGenerator> content) {
    try (JsonGenerator out = FACTORY.createGenerator(ObjectWriteContext.empty(), bytes)) {
      content.accept(out);
    }
    return Buffer.buffer(bytes.toByteArray());
  }

  /** The same for an answer that can be too long, for which it is refused with this problem. */
  static Buffer write(int mostBytes, Problem tooLong, Consumer<JsonGenerator> content) {
    return write(
        new ByteArrayOutputStream(512) {
          @Override
          public synchronized void write(byte[] more, int from, int length) {
            if (length > mostBytes - count) {
              throw new Refusal(tooLong);
            }
            super.write(more, from, length);
          }
        },
        content);
  }

  static <T> Buffer list(
      Collection<T> items, BiConsumer<JsonGenerator, T> writer, @Nullable String next) {
    return write(
        out -> {
          out.writeStartObject();
          out.writeArrayPropertyStart("items");
          for (T item : items) {
            writer.accept(out, item);
          }
          out.writeEndArray();
          text(out, "next", next);
          out.writeEndObject();
        });
  }

  /**
   * A list that ends after the item with which it has {@code mostBytes}.
   *
   * @param cursorAfter the cursor with which a list goes on after an item
   */
  static <T> Buffer list(
      Page<T> page,
      int mostBytes,
      Function<T, String> cursorAfter,
      BiConsumer<JsonGenerator, T> writer) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(512);
    try (JsonGenerator out = FACTORY.createGenerator(ObjectWriteContext.empty(), bytes)) {
      out.writeStartObject();
      out.writeArrayPropertyStart("items");
      String next = page.next();
      Iterator<T> items = page.items().iterator();
      while (items.hasNext()) {
        T item = items.next();
        writer.accept(out, item);
        if (items.hasNext() && bytes.size() + out.streamWriteOutputBuffered() >= mostBytes) {
          next = cursorAfter.apply(item);
          break;
        }
      }
      out.writeEndArray();
      text(out, "next", next);
      out.writeEndObject();
    }
    return Buffer.buffer(bytes.toByteArray());
  }

  static void text(JsonGenerator out, String name, @Nullable String value) {
    if (value == null) {
      out.writeNullProperty(name);
    } else {
      out.writeStringProperty(name, value);
    }
  }

  static void time(JsonGenerator out, String name, @Nullable Instant value) {
    text(out, name, value == null ? null : value.toString());
  }

  static void constant(JsonGenerator out, String name, @Nullable Enum<?> value) {
    text(out, name, value == null ? null : kebab(value));
  }

  static void id(JsonGenerator out, String name, String prefix, long id) {
    out.writeStringProperty(name, Id.text(prefix, id));
  }

  static String kebab(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
