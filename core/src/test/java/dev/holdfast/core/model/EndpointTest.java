package dev.holdfast.core.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class EndpointTest {

  @Test
  void another_health_changes_nothing_else() {
    Health health = Health.created(Instant.EPOCH);
    Health changed = Health.created(Instant.EPOCH.plusSeconds(1));
    assertThat(new Endpoint(1, "default", "https://example.org/", health).with(changed))
        .isEqualTo(new Endpoint(1, "default", "https://example.org/", changed));
  }
}
