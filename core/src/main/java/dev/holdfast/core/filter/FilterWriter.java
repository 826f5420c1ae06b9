package dev.holdfast.core.filter;

import dev.holdfast.core.filter.Filter.Comparison;
import dev.holdfast.core.filter.Filter.Group;
import dev.holdfast.core.filter.Value.Fields;
import dev.holdfast.core.filter.Value.Items;
import dev.holdfast.core.filter.Value.Nothing;
import dev.holdfast.core.filter.Value.Numeral;
import dev.holdfast.core.filter.Value.Text;
import dev.holdfast.core.filter.Value.Truth;
import java.io.StringWriter;
import java.util.List;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;

/** Writes filters as JSON, as callers give them, with what they left to us filled in. */
final class FilterWriter {
  private final JsonGenerator out;

  private FilterWriter(JsonGenerator out) {
    this.out = out;
  }

  static String json(List<Filter> filters) {
    StringWriter text = new StringWriter();
    try (JsonGenerator out = Json.FACTORY.createGenerator(ObjectWriteContext.empty(), text)) {
      new FilterWriter(out).write(filters);
    }
    return text.toString();
  }

  private void write(List<? extends Filter> filters) {
    out.writeStartArray();
    for (Filter filter : filters) {
      out.writeStartObject();
      switch (filter) {
        case Comparison comparison -> write(comparison);
        case Group group -> {
          out.writeStringProperty("type", "group");
          out.writeStringProperty("connector", group.connector().name());
          out.writeName("filters");
          write(group.filters());
        }
      }
      out.writeEndObject();
    }
    out.writeEndArray();
  }

  private void write(Comparison comparison) {
    out.writeStringProperty("fieldName", comparison.fieldName());
    Value value = comparison.fieldValue();
    if (value != null) {
      out.writeName("fieldValue");
      write(value);
    }
    out.writeStringProperty("comparison", comparison.operator().word());
    out.writeStringProperty("state", comparison.state().word());
  }

  private void write(Value value) {
    switch (value) {
      case Text text -> out.writeString(text.text());
      case Numeral numeral -> out.writeNumber(numeral.text());
      case Truth truth -> out.writeBoolean(truth == Truth.TRUE);
      case Nothing _ -> out.writeNull();
      case Items items -> {
        out.writeStartArray();
        items.values().forEach(this::write);
        out.writeEndArray();
      }
      case Fields fields -> {
        out.writeStartObject();
        fields
            .values()
            .forEach(
                (name, field) -> {
                  out.writeName(name);
                  write(field);
                });
        out.writeEndObject();
      }
    }
  }
}
