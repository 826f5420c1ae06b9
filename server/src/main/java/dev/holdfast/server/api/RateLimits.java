package dev.holdfast.server.api;

import dev.holdfast.core.model.RateLimit;
import dev.holdfast.server.api.Problem.Kind;
import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;

/** Rate limits of endpoints as they stand in bodies: a number, or null for none. */
final class RateLimits {
  static final String FIELD = "rateLimit";

  private RateLimits() {}

  /** The limit that comes next; absent when it is null. */
  static @Nullable RateLimit read(JsonParser parser) {
    return switch (parser.nextToken()) {
      case VALUE_NULL -> null;
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> of(parser.getDoubleValue());
      default -> throw JsonBody.wrongType(parser, FIELD, "a number or null");
    };
  }

  private static RateLimit of(double perSecond) {
    if (RateLimit.isAllowed(perSecond)) {
      return new RateLimit(perSecond);
    }
    throw Refusal.of(
        Kind.INVALID_FIELD,
        FIELD,
        "Give requests per second, from %s to %s, such as 5 or 0.5; null for no limit."
            .formatted(number(RateLimit.LEAST), number(RateLimit.MOST)));
  }

  static void write(JsonGenerator out, @Nullable RateLimit limit) {
    if (limit == null) {
      out.writeNullProperty(FIELD);
    } else {
      out.writeName(FIELD);
      out.writeRawValue(number(limit.perSecond()));
    }
  }

  /** As people write it: 5 and not 5.0. */
  private static String number(double value) {
    return BigDecimal.valueOf(value).stripTrailingZeros().toPlainString();
  }
}
