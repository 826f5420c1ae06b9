package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Actor;
import dev.holdfast.server.api.Principal.Role;
import dev.holdfast.server.api.TestServer.Reply;
import io.vertx.core.Vertx;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How many keys there can be. */
@Timeout(60)
class KeysApiTest {
  private static final String ACME = "Bearer " + TestServer.ACME_KEY;

  private final Vertx vertx = Vertx.vertx();
  private final FakeKeys keys = TestServer.keys();
  private final TestServer server;

  KeysApiTest() throws Exception {
    server = TestServer.start(new FakeEngine(vertx), keys);
  }

  @AfterEach
  void stop() {
    server.close();
    vertx.close().await();
  }

  private void fill(@Nullable String tenant, int count) {
    for (int i = 0; i < count; i++) {
      keys.create(null, Role.VIEWER, tenant, null, Actor.SERVER);
    }
  }

  private Reply create(String body, String... headers) throws Exception {
    return server.post("/v1/keys", body, headers);
  }

  @Test
  void a_tenant_that_has_a_thousand_keys_takes_none_from_others() throws Exception {
    fill("acme", ApiLimits.TENANT_KEYS - 1);
    assertThat(create("{\"role\":\"viewer\"}", "Authorization", ACME).status()).isEqualTo(201);
    Reply refused = create("{\"role\":\"viewer\"}", "Authorization", ACME);
    assertThat(refused.status()).isEqualTo(429);
    assertThat(refused.text()).contains("The tenant acme has 1,000 keys");
    assertThat(create("{\"role\":\"viewer\",\"tenant\":\"acme\"}").status())
        .as("also if somebody else makes it")
        .isEqualTo(429);
    assertThat(create("{\"role\":\"viewer\",\"tenant\":\"other\"}").status()).isEqualTo(201);
    assertThat(create("{\"role\":\"viewer\",\"tenant\":null}").status()).isEqualTo(201);
  }

  @Test
  void a_tenant_is_not_told_how_many_keys_others_have() throws Exception {
    fill(null, ApiLimits.KEYS);
    Reply refused = create("{\"role\":\"viewer\"}", "Authorization", ACME);
    assertThat(refused.status()).isEqualTo(429);
    assertThat(refused.text()).contains("No more keys can be kept now").doesNotContain("000");
    Reply all = create("{\"role\":\"viewer\",\"tenant\":null}");
    assertThat(all.status()).isEqualTo(429);
    assertThat(all.text()).contains("There are 10,000 keys");
  }
}
