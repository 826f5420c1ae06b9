package dev.holdfast.core.filter;

import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A JSON value, in an event or in a filter.
 *
 * <p>Two values are equal when they are written alike: {@code 1} and {@code 1.0} are not. Whether
 * they count as the same is for {@link Compare} to say.
 */
public sealed interface Value {

  /** A value without parts. */
  sealed interface Scalar extends Value {

    /** What it is compared by when it is compared as a text. */
    String text();

    /**
     * Scalars that count as the same have equal keys. The reverse does not hold: the texts {@code
     * "5"} and {@code "5.0"} share a key, since the number 5 is the same as either.
     */
    Object key();
  }

  /** A text, with the number or the instant that it may stand for. */
  final class Text implements Scalar {
    private final String text;
    private final @Nullable Decimal number;
    private final @Nullable Instant instant;

    public Text(String text) {
      this.text = text;
      this.number = Decimal.parse(text);
      this.instant = Moment.parse(text);
    }

    @Override
    public String text() {
      return text;
    }

    @Nullable Decimal number() {
      return number;
    }

    @Nullable Instant instant() {
      return instant;
    }

    @Override
    public Object key() {
      return number != null ? number : instant != null ? instant : text;
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Text that && text.equals(that.text);
    }

    @Override
    public int hashCode() {
      return text.hashCode();
    }

    @Override
    public String toString() {
      return '"' + text + '"';
    }
  }

  /** A number, with the digits that it was written with. */
  final class Numeral implements Scalar {
    private final String digits;
    private final Decimal number;

    public Numeral(String digits) {
      Decimal parsed = Decimal.parse(digits);
      if (parsed == null) {
        throw new IllegalArgumentException("not a JSON number: " + digits);
      }
      this.digits = digits;
      this.number = parsed;
    }

    @Override
    public String text() {
      return digits;
    }

    Decimal number() {
      return number;
    }

    @Override
    public Object key() {
      return number;
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Numeral that && digits.equals(that.digits);
    }

    @Override
    public int hashCode() {
      return digits.hashCode();
    }

    @Override
    public String toString() {
      return digits;
    }
  }

  /** True or false. */
  enum Truth implements Scalar {
    TRUE("true"),
    FALSE("false");

    private final String text;

    Truth(String text) {
      this.text = text;
    }

    public static Truth of(boolean value) {
      return value ? TRUE : FALSE;
    }

    @Override
    public String text() {
      return text;
    }

    @Override
    public Object key() {
      return text;
    }
  }

  /** The value null, which is something else than no value. */
  enum Nothing implements Scalar {
    NULL;

    @Override
    public String text() {
      return "null";
    }

    @Override
    public Object key() {
      return this;
    }
  }

  /** An array. */
  record Items(List<Value> values) implements Value {
    public Items {
      values = List.copyOf(values);
    }
  }

  /** An object, with its fields in the order in which they were written. */
  record Fields(Map<String, Value> values) implements Value {
    public Fields {
      values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
    }
  }
}
