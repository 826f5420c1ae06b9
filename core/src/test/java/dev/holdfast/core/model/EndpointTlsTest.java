package dev.holdfast.core.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.model.EndpointTls.Change;
import org.junit.jupiter.api.Test;

class EndpointTlsTest {
  private static final EndpointTls ALL = new EndpointTls("certificate", "key", "roots");

  @Test
  void what_is_not_set_stays() {
    assertThat(new Change(false, true, "c", "k", false, null).applyTo(ALL))
        .isEqualTo(new EndpointTls("c", "k", "roots"));
    assertThat(new Change(false, false, null, null, true, "r").applyTo(ALL))
        .isEqualTo(new EndpointTls("certificate", "key", "r"));
    assertThat(new Change(false, true, null, null, false, null).applyTo(ALL))
        .isEqualTo(new EndpointTls(null, null, "roots"));
    assertThat(new Change(false, false, null, null, false, null).applyTo(ALL)).isEqualTo(ALL);
    assertThat(new Change(false, false, null, null, true, "r").applyTo(null))
        .isEqualTo(new EndpointTls(null, null, "r"));
  }

  @Test
  void what_is_to_be_all_is_all() {
    assertThat(new Change(true, false, null, null, true, "r").applyTo(ALL))
        .isEqualTo(new EndpointTls(null, null, "r"));
    assertThat(Change.to(ALL).applyTo(new EndpointTls(null, null, "r"))).isEqualTo(ALL);
  }

  @Test
  void nothing_is_nothing_special() {
    assertThat(Change.TO_NOTHING.applyTo(ALL)).isNull();
    assertThat(new Change(false, true, null, null, true, null).applyTo(ALL)).isNull();
    assertThat(new Change(false, false, null, null, false, null).applyTo(null)).isNull();
  }

  @Test
  void a_certificate_has_its_key() {
    assertThatThrownBy(() -> new EndpointTls("certificate", null, null))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Change(false, true, null, "key", false, null))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void its_key_is_not_printed() {
    EndpointTls planted = new EndpointTls("certificate", "planted", null);
    assertThat(planted + " " + Change.to(planted)).doesNotContain("planted");
  }
}
