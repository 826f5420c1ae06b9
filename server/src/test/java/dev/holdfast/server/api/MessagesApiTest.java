package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.port.History.MessageSummary;
import dev.holdfast.core.port.History.Status;
import dev.holdfast.core.rules.RetrySchedule;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class MessagesApiTest {
  private static final RetrySchedule SCHEDULE = new RetrySchedule(Duration.ofSeconds(1), 3);

  @Test
  void a_message_shows_the_version_that_it_has_of_its_own() {
    assertThat(shown(Version.V1)).contains("\"version\":\"v1\",\"attempts\":1}");
    assertThat(shown(Version.V2)).contains("\"version\":\"v2\",\"attempts\":1}");
    assertThat(shown(null)).contains("\"version\":null,\"attempts\":1}");
  }

  private static String shown(@Nullable Version version) {
    MessageSummary message =
        new MessageSummary(
            1, "mine", 2, 3, "PROJ.UPDATE", null, Status.DELIVERED, null, 1, null, version);
    return Json.write(out -> MessagesApi.write(out, message, SCHEDULE)).toString();
  }
}
