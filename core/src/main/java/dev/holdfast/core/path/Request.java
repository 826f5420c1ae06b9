package dev.holdfast.core.path;

import dev.holdfast.core.filter.Filters;
import dev.holdfast.core.model.EndpointTls;
import dev.holdfast.core.model.Form;
import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.Interest;
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
   * Deliver what is wished for from now on. Answered by Subscribed, AlreadyThere, TooManyHistories
   * or Refused.
   *
   * @param since deliver also what was accepted since then and is still kept
   * @param unlessThere whether to leave it at a subscription to the same kind of event of the same
   *     kind of object, with the same in all that its owner says about it
   */
  record Subscribe(String tenant, Wish wish, @Nullable Instant since, boolean unlessThere)
      implements Request {

    /** Wants a subscription whatever others there are. */
    public Subscribe(String tenant, Wish wish, @Nullable Instant since) {
      this(tenant, wish, since, false);
    }

    /** Wants all events of some types, in the plain form. */
    public Subscribe(String tenant, String url, List<TypePattern> types, @Nullable String subject) {
      this(
          tenant,
          new Wish(url, new Interest(types, subject, Filters.NONE), Form.PLAIN, null),
          null);
    }
  }

  /**
   * A subscription that somebody wants.
   *
   * @param url normalised, as {@link dev.holdfast.core.model.Endpoint#url}
   * @param writtenUrl the same as its owner has written it, where that is something else
   * @param rateLimit the endpoint's from now on; absent leaves it as it is
   * @param tls the endpoint's from now on; absent leaves it as it is
   */
  record Wish(
      String url,
      @Nullable String writtenUrl,
      Interest interest,
      Form form,
      @Nullable RateLimit rateLimit,
      @Nullable EndpointTls tls) {

    /** A wish for nothing special about encrypted connections. */
    public Wish(
        String url,
        @Nullable String writtenUrl,
        Interest interest,
        Form form,
        @Nullable RateLimit rateLimit) {
      this(url, writtenUrl, interest, form, rateLimit, null);
    }

    /** A wish of which nobody will ask how its URL was written. */
    public Wish(String url, Interest interest, Form form, @Nullable RateLimit rateLimit) {
      this(url, null, interest, form, rateLimit);
    }
  }

  /**
   * Have all these subscriptions, or change nothing. A wish for a URL, types and subject that a
   * subscription has already is that subscription's from now on; others are created. Answered by
   * Imported, Unfit or Refused.
   *
   * @param dryRun whether only to tell what would be done
   */
  record Import(String tenant, List<Imported> subscriptions, boolean dryRun) implements Request {}

  /**
   * A subscription to be had.
   *
   * @param keepsSecrets whether a subscription that is there already keeps its secrets
   */
  record Imported(Wish wish, boolean keepsSecrets) {}

  /**
   * Send these subscriptions, to one kind of event of one kind of object each, another version; all
   * of them or none. Answered by Imported, Unfit or Refused.
   *
   * @param subscriptions all of the tenant's when absent
   */
  record ChangeVersion(String tenant, @Nullable List<Long> subscriptions, Version version)
      implements Request {}

  /** Change a subscription. Answered by Updated, Unfit, NotFound or Refused. */
  record Update(String tenant, long subscription, Patch patch) implements Request {}

  /**
   * What is to be changed of a subscription; what is absent stays.
   *
   * @param url normalised, as {@link dev.holdfast.core.model.Endpoint#url}
   */
  record Patch(
      @Nullable String url,
      Interest.Change interest,
      Form.Change form,
      @Nullable Boolean paused,
      @Nullable NewRateLimit rateLimit,
      EndpointTls.@Nullable Change tls) {

    /** A change of nothing about encrypted connections. */
    public Patch(
        @Nullable String url,
        Interest.Change interest,
        Form.Change form,
        @Nullable Boolean paused,
        @Nullable NewRateLimit rateLimit) {
      this(url, interest, form, paused, rateLimit, null);
    }

    public static Patch toUrl(String url) {
      return new Patch(url, Interest.Change.NOTHING, Form.Change.NOTHING, null, null);
    }

    public static Patch of(Interest.Change interest) {
      return new Patch(null, interest, Form.Change.NOTHING, null, null);
    }

    public static Patch of(Form.Change form) {
      return new Patch(null, Interest.Change.NOTHING, form, null, null);
    }

    public static Patch toTypes(List<TypePattern> types) {
      return of(new Interest.Change(types, null, null, null));
    }

    public static Patch toPaused(boolean paused) {
      return new Patch(null, Interest.Change.NOTHING, Form.Change.NOTHING, paused, null);
    }
  }

  /** The rate limit that a subscription's endpoint is to have; none when absent. */
  record NewRateLimit(@Nullable RateLimit limit) {}

  /** End a subscription. Answered by Unsubscribed, NotFound or Refused. */
  record Unsubscribe(String tenant, long subscription) implements Request {}

  /** Change an endpoint's state by hand. Answered by EndpointIs, NotFound or Refused. */
  record Operate(String tenant, long endpoint, Operation operation) implements Request {}

  /**
   * Change what is set about an endpoint; what is absent stays. Answered by EndpointIs, Unfit,
   * NotFound or Refused.
   */
  record Configure(
      String tenant,
      long endpoint,
      @Nullable NewRateLimit rateLimit,
      EndpointTls.@Nullable Change tls)
      implements Request {

    /** Sends an endpoint no more than this; absent: as much as there is. */
    public static Configure limitRate(String tenant, long endpoint, @Nullable RateLimit limit) {
      return new Configure(tenant, endpoint, new NewRateLimit(limit), null);
    }
  }

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
