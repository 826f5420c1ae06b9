package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Instant;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ParametersTest {
  private static final Set<String> KNOWN =
      Set.of("status", "since", "limit", "page", "cursor", "endpoint");

  private static Parameters of(String query) {
    return Parameters.of(query, KNOWN);
  }

  private static Problem refused(Runnable reading) {
    Refusal refusal = catchThrowableOfType(Refusal.class, reading::run);
    assertThat(refusal).isNotNull();
    assertThat(refusal.problem().kind().status).isEqualTo(400);
    return refusal.problem();
  }

  @Test
  void values_are_decoded_and_a_plus_is_a_plus() {
    assertThat(of("since=2026-03-01T12:00:00%2B01:00").time("since"))
        .isEqualTo(Instant.parse("2026-03-01T11:00:00Z"));
    assertThat(of("since=2026-03-01T12:00:00+01:00").time("since"))
        .isEqualTo(Instant.parse("2026-03-01T11:00:00Z"));
    assertThat(of("status=%C3%A9").one("status")).isEqualTo("é");
    assertThat(of("&&status=a&").one("status")).isEqualTo("a");
    assertThat(of("status").one("status")).isEmpty();
    assertThat(of("status=a=b").one("status")).isEqualTo("a=b");
  }

  @Test
  void a_list_can_be_given_by_commas_or_by_repeating() {
    assertThat(of("status=a,b&status=c").many("status")).containsExactly("a", "b", "c");
    assertThat(of("limit=1").many("status")).isEmpty();
  }

  @Test
  void an_unknown_parameter_is_refused_by_name() {
    Problem problem = refused(() -> of("state=1"));
    assertThat(problem.field()).isEqualTo("state");
    assertThat(problem.detail()).contains("cursor, endpoint, limit, page, since, status");
  }

  @Test
  void bad_encoding_is_refused() {
    refused(() -> of("status=%"));
    refused(() -> of("status=%4"));
    refused(() -> of("status=%zz"));
    refused(() -> of("status=%ff"));
    refused(() -> of("%ff=1"));
  }

  @Test
  void a_single_value_given_twice_is_refused() {
    assertThat(refused(() -> of("limit=1&limit=2").limit()).field()).isEqualTo("limit");
  }

  @Test
  void a_limit_is_1_to_1000() {
    assertThat(of("").limit()).isEqualTo(100);
    assertThat(of("limit=1").limit()).isEqualTo(1);
    assertThat(of("limit=1000").limit()).isEqualTo(1000);
    for (String bad : new String[] {"0", "1001", "-1", "", "ten", "1.0", "99999999999"}) {
      assertThat(refused(() -> of("limit=" + bad).limit()).field()).isEqualTo("limit");
    }
  }

  @Test
  void a_page_is_1_to_1000000000() {
    assertThat(of("").page()).isEqualTo(1);
    assertThat(of("page=1").page()).isEqualTo(1);
    assertThat(of("page=1000000000").page()).isEqualTo(1_000_000_000);
    for (String bad : new String[] {"0", "1000000001", "-1", "", "two", "1.0", "99999999999"}) {
      assertThat(refused(() -> of("page=" + bad).page()).field()).isEqualTo("page");
    }
  }

  @Test
  void an_id_must_be_of_the_right_kind() {
    assertThat(of("endpoint=ep_0000000000017").id("endpoint", "ep")).isEqualTo(39L);
    assertThat(refused(() -> of("endpoint=msg_0000000000017").id("endpoint", "ep")).field())
        .isEqualTo("endpoint");
  }
}
