package dev.holdfast.engine.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.port.StoreException.Kind;
import dev.holdfast.engine.store.Damaged;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SqlStatesTest {

  @ParameterizedTest
  @CsvSource({
    "08001, AWAY", // refused
    "08006, AWAY", // lost
    "53300, AWAY", // too many connections
    "57014, REFUSED", // took too long
    "55P03, REFUSED", // waited too long for a lock
    "42P01, REFUSED", // no such table
    "28P01, AWAY", // a password that is not right any more
    "57P01, AWAY", // ended by an administrator
    "57P03, AWAY", // starting up
    "25006, AWAY", // a standby
    "25P04, AWAY", // a transaction that took too long, and its session
    "40P01, REFUSED", // a deadlock
    "53100, FULL",
    "53200, REFUSED", // no room for locks, or no memory
    "22021, REFUSED",
    "23505, REFUSED",
    "54000, REFUSED",
    "XX001, BROKEN",
    "HF001, FENCED",
    "HF002, REFUSED",
    "HF003, STALE"
  })
  void an_error_means_what_its_number_says(String state, Kind kind) {
    assertThat(SqlStates.kind(new SQLException("no", state))).isEqualTo(kind);
  }

  @ParameterizedTest
  @CsvSource({
    "08006, AWAY",
    "57014, AWAY",
    "55P03, AWAY",
    "40P01, AWAY",
    "XX000, AWAY",
    "42P01, BROKEN", // no such table
    "42501, BROKEN", // no right to use it
    "53100, FULL",
    "53200, AWAY",
    "22021, REFUSED",
    "23505, REFUSED",
    "HF001, FENCED",
    "HF002, REFUSED",
    "HF003, STALE"
  })
  void a_batch_is_tried_again_whatever_it_was_that_may_be_over(String state, Kind kind) {
    assertThat(SqlStates.writeKind(new SQLException("no", state))).isEqualTo(kind);
  }

  @Test
  void what_is_wrong_behind_an_error_counts_where_that_says_nothing() {
    SQLException full = new SQLException("no", "53100");
    assertThat(SqlStates.kind(new SQLException("no connection", null, full))).isEqualTo(Kind.FULL);
    assertThat(SqlStates.kind(new Damaged("a row"))).isEqualTo(Kind.BROKEN);
  }

  @Test
  void a_server_without_room_for_locks_is_not_one_with_a_full_disk() {
    assertThat(SqlStates.failure("reading", new SQLException("out of shared memory", "53200")))
        .hasMessageContaining("max_locks_per_transaction");
  }

  @Test
  void a_connection_that_was_not_to_be_had_is_not_one_that_was_lost() {
    assertThat(SqlStates.isLost(new SQLTransientConnectionException("none"))).isFalse();
    assertThat(SqlStates.isLost(new SQLException("cut", "08006"))).isTrue();
    assertThat(SqlStates.isLost(new SQLException("no", "23505"))).isFalse();
  }
}
