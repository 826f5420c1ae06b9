package dev.holdfast.engine.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class TargetsTest {
  private final List<Origin> forgotten = new ArrayList<>();
  private final Targets targets = new Targets("Holdfast/test", 2, forgotten::add);

  @Test
  void a_url_is_taken_apart_once() {
    assertThat(targets.of("http://a.test/1")).isSameAs(targets.of("http://a.test/1"));
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
  void what_is_no_url_is_no_target() {
    assertThat(targets.of("nonsense")).isNull();
  }

  private Target target(String url) {
    return Objects.requireNonNull(targets.of(url));
  }
}
