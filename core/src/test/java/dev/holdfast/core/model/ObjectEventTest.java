package dev.holdfast.core.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.ObjectEvent.Kind;
import org.junit.jupiter.api.Test;

class ObjectEventTest {

  @Test
  void a_type_is_an_object_code_a_dot_and_what_happened() {
    assertThat(new ObjectEvent("PROJ", Kind.UPDATE).type()).isEqualTo("PROJ.UPDATE");
    assertThat(ObjectEvent.of("PROJ.UPDATE")).contains(new ObjectEvent("PROJ", Kind.UPDATE));
    assertThat(ObjectEvent.of("A.B.DELETE")).contains(new ObjectEvent("A.B", Kind.DELETE));
  }

  @Test
  void other_types_cannot_be_said_in_these_words() {
    assertThat(ObjectEvent.of("order.paid")).isEmpty();
    assertThat(ObjectEvent.of("PROJ.update")).isEmpty();
    assertThat(ObjectEvent.of(".UPDATE")).isEmpty();
    assertThat(ObjectEvent.of("UPDATE")).isEmpty();
    assertThat(ObjectEvent.of("PROJUPDATE")).isEmpty();
  }
}
