package dev.holdfast.engine.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.EndpointTls;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class TargetsTest {
  private final List<Origin> forgotten = new ArrayList<>();
  private final Targets targets = new Targets("Holdfast/test", 2, forgotten::add);

  @Test
  void a_url_is_taken_apart_once() {
    assertThat(targets.of("http://a.test/1", null)).isSameAs(targets.of("http://a.test/1", null));
  }

  @Test
  void urls_with_the_same_origin_share_its_connections() {
    assertThat(target("http://a.test/1").origin).isSameAs(target("http://a.test:80/2").origin);
    assertThat(target("http://a.test/1").origin).isNotSameAs(target("https://a.test/1").origin);
    assertThat(target("http://a.test/1").origin).isNotSameAs(target("http://a.test:81/").origin);
  }

  @Test
  void the_one_unused_for_longest_is_forgotten_and_its_origin_with_the_last() {
    Origin a = target("http://a.test/1").origin;
    target("http://a.test/2");
    target("http://b.test/1");
    assertThat(forgotten).isEmpty();
    target("http://b.test/2");
    assertThat(forgotten).containsExactly(a);
    assertThat(target("http://a.test/1").origin).isNotSameAs(a);
  }

  @Test
  void using_one_keeps_it() {
    Target first = target("http://a.test/");
    target("http://b.test/");
    target("http://a.test/");
    target("http://c.test/");
    assertThat(target("http://a.test/")).isSameAs(first);
  }

  @Test
  void connections_are_shared_only_with_the_same_certificates() {
    EndpointTls one = new EndpointTls("certificate", "key", null);
    EndpointTls equal = new EndpointTls("certificate", "key", null);
    EndpointTls other = new EndpointTls("certificate", "key", "roots");
    Target plain = target("https://a.test/");
    Target special = Objects.requireNonNull(targets.of("https://a.test/", one));
    assertThat(targets.of("https://a.test/", equal)).isSameAs(special);
    assertThat(special.origin).isNotSameAs(plain.origin);
    Target another = Objects.requireNonNull(targets.of("https://a.test/", other));
    assertThat(another.origin).isNotSameAs(special.origin);
    assertThat(forgotten).containsExactly(plain.origin);
  }

  @Test
  void what_is_no_url_is_no_target() {
    assertThat(targets.of("nonsense", null)).isNull();
  }

  private Target target(String url) {
    return Objects.requireNonNull(targets.of(url, null));
  }
}
