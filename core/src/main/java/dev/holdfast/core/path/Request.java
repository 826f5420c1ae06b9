package dev.holdfast.core.path;

import dev.holdfast.core.model.RateLimit;
import dev.holdfast.core.model.Replay.Selection;
import dev.holdfast.core.model.TypePattern;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What can be asked of the {@link Loop}. All that is checkable without it has been checked. */
public sealed interface Request {

  String tenant();

  /** Accept these events, all or none. Answered by Accepted, Conflict or Refused. */
  record Submit(String tenant, List<NewEvent> events) implements Request {}

  /**
   * Deliver events of these types to this URL. Answered by Subscribed or Refused.
   *
   * @param url normalised, as {@link dev.holdfast.core.model.Endpoint#url}
   * @param rateLimit the endpoint's from now on; absent leaves it as it is
   */
  record Subscribe(
      String tenant,
      String url,
      List<TypePattern> types,
      @Nullable String subject,
      @Nullable RateLimit rateLimit)
      implements Request {

    public Subscribe(String tenant, String url, List<TypePattern> types, @Nullable String subject) {
      this(tenant, url, types, subject, null);
    }
  }

  /** Change a subscription. Answered by Updated, NotFound or Refused. */
  record Update(String tenant, long subscription, Patch patch) implements Request {}

  /**
   * What is to be changed of a subscription; what is absent stays.
   *
   * @param url normalised, as {@link dev.holdfast.core.model.Endpoint#url}
   */
  record Patch(
      @Nullable String url,
      @Nullable List<TypePattern> types,
      @Nullable NewSubject subject,
      @Nullable Boolean paused,
      @Nullable NewRateLimit rateLimit) {}

  /** The rate limit that a subscription's endpoint is to have; none when absent. */
  record NewRateLimit(@Nullable RateLimit limit) {}

  /** The subject that a subscription is to have; any when absent. */
  record NewSubject(@Nullable String text) {}

  /** End a subscription. Answered by Unsubscribed, NotFound or Refused. */
  record Unsubscribe(String tenant, long subscription) implements Request {}

  /** Change an endpoint's state by hand. Answered by EndpointIs, NotFound or Refused. */
  record Operate(String tenant, long endpoint, Operation operation) implements Request {}

  /**
   * Send an endpoint no more than this; absent: as much as there is. Answered by EndpointIs,
   * NotFound or Refused.
   */
  record LimitRate(String tenant, long endpoint, @Nullable RateLimit rateLimit)
      implements Request {}

  /** Try a message now. Answered by RetryStarted, NotRetryable, NotFound or Refused. */
  record RetryNow(String tenant, long message) implements Request {}

  /** Replay finished messages. Answered by ReplayIs, NotFound or Refused. */
  record Replay(String tenant, Selection selection) implements Request {}

  /** End a replay. Answered by ReplayIs, NotFound if it is not under way, or Refused. */
  record CancelReplay(String tenant, long replay) implements Request {}

  /** What an operator can do to an endpoint. */
  enum Operation {
    ENABLE,
    DISABLE,
    FREEZE
  }

  /** An event that has no id of ours yet. */
  record NewEvent(
      String type,
      @Nullable String subject,
      @Nullable Instant occurredAt,
      byte[] data,
      byte @Nullable [] previous,
      @Nullable String callerId,
      @Nullable String traceparent) {}
}
