package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vertx.core.http.HttpMethod;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RouterTest {
  private static final Route LIST = Route.get("/v1/things", Access.LOOK, Set.of(), (_, _) -> {});
  private static final Route GET =
      Route.get("/v1/things/{id}", Access.LOOK, Set.of(), (_, _) -> {});
  private static final Route DELETE = Route.delete("/v1/things/{id}", Access.MANAGE, (_, _) -> {});
  private static final Route DO = Route.post("/v1/things/{id}/do", Access.MANAGE, (_, _) -> {});
  private static final Route BATCH = Route.post("/v1/things/batch", Access.MANAGE, (_, _) -> {});

  private static final Route PUT =
      Route.putJson("/v1/things/{id}/do", Access.MANAGE, 1, (_, _) -> {});

  private final Router router = new Router(List.of(LIST, GET, DELETE, DO, BATCH, PUT));

  private Router.Match match(String path) {
    return Objects.requireNonNull(router.match(path));
  }

  @Test
  void a_path_leads_to_its_routes() {
    assertThat(match("/v1/things").resource().route(HttpMethod.GET)).isSameAs(LIST);
    assertThat(match("/v1/things/7").resource().route(HttpMethod.GET)).isSameAs(GET);
    assertThat(match("/v1/things/7").resource().route(HttpMethod.HEAD)).isSameAs(GET);
    assertThat(match("/v1/things/7").resource().route(HttpMethod.DELETE)).isSameAs(DELETE);
    assertThat(match("/v1/things/7").resource().route(HttpMethod.PUT)).isNull();
    assertThat(match("/v1/things/7").resource().allow).isEqualTo("DELETE, GET, HEAD");
    assertThat(match("/v1/things/7/do").resource().route(HttpMethod.POST)).isSameAs(DO);
    assertThat(match("/v1/things/7/do").resource().route(HttpMethod.PUT)).isSameAs(PUT);
  }

  @Test
  void a_path_without_a_variable_goes_before_one_with() {
    assertThat(match("/v1/things/batch").resource().route(HttpMethod.POST)).isSameAs(BATCH);
    assertThat(match("/v1/things/batch").resource().route(HttpMethod.GET)).isNull();
    assertThat(match("/v1/things/batch/do").resource().route(HttpMethod.PUT)).isSameAs(PUT);
  }

  @Test
  void the_variable_is_decoded_after_the_path_was_taken_apart() {
    assertThat(match("/v1/things/a%2Fb%20c").variable()).isEqualTo("a/b c");
    assertThat(match("/v1/things/a+b").variable()).isEqualTo("a+b");
    assertThat(router.match("/v1/things/%ff")).isNull();
    assertThat(router.match("/v1/things/%2")).isNull();
  }

  @Test
  void other_paths_lead_nowhere() {
    for (String path :
        List.of("", "/", "/v1/things/", "/v1/things//do", "/v1/things/7/", "v1/things", "*")) {
      assertThat(router.match(path)).as(path).isNull();
    }
  }

  @Test
  void two_routes_for_the_same_are_a_mistake() {
    assertThatThrownBy(() -> new Router(List.of(LIST, LIST)))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
