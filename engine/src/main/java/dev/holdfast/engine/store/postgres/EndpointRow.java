package dev.holdfast.engine.store.postgres;

import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.RateLimit;
import dev.holdfast.engine.store.Rows;
import dev.holdfast.engine.store.Seals;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * How an endpoint is kept. One node writes its health while another may write its settings, so the
 * sum is of the first alone: as if there were no rate limit. What else is set is sealed.
 */
final class EndpointRow {
  /** The columns that {@link #read} reads, in its order. */
  static final String COLUMNS =
      Rows.ENDPOINT_COLUMNS.replace("rate_limit", "NULL::float8") + ", rate_limit";

  private static final int RATE_LIMIT = 21;

  private EndpointRow() {}

  static long sum(Endpoint endpoint) {
    return Rows.sum(endpoint.withRateLimit(null), true);
  }

  static Endpoint read(ResultSet row, Seals seals) throws SQLException {
    Endpoint endpoint = Rows.endpoint(row, seals);
    double perSecond = row.getDouble(RATE_LIMIT);
    return row.wasNull() ? endpoint : endpoint.withRateLimit(new RateLimit(perSecond));
  }
}
