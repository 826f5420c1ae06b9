package dev.holdfast.engine.store.postgres;

import dev.holdfast.core.model.Attempt;
import dev.holdfast.core.model.Endpoint;
import dev.holdfast.core.model.Event;
import dev.holdfast.core.model.Health;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.model.Replay;
import dev.holdfast.core.model.Shards;
import dev.holdfast.core.port.History;
import dev.holdfast.core.port.Snapshot.Unfinished;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.AttemptPages;
import dev.holdfast.engine.store.ChangeRows;
import dev.holdfast.engine.store.Damaged;
import dev.holdfast.engine.store.EndpointReads;
import dev.holdfast.engine.store.FanOutRow;
import dev.holdfast.engine.store.Finished;
import dev.holdfast.engine.store.Key;
import dev.holdfast.engine.store.LatestAttempts;
import dev.holdfast.engine.store.Remaking;
import dev.holdfast.engine.store.ReplayRow;
import dev.holdfast.engine.store.Rows;
import dev.holdfast.engine.store.Rows.EventHead;
import dev.holdfast.engine.store.Seals;
import dev.holdfast.engine.store.StoreLimits;
import dev.holdfast.engine.store.Summaries;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * What people ask about messages and endpoints.
 *
 * <p>Each list is read from the newest id down along an index, and stops after a limited number of
 * rows, however few of them fit. Every statement is planned for the values that it is given, so
 * that it opens only the parts of the tables that these can be in. A message whose event is in no
 * part any more was removed with it, and is shown no more.
 */
final class PostgresHistory implements History, EndpointReads {
  private static final String EVENT = "SELECT " + Rows.EVENT_COLUMNS + " FROM events WHERE ";

  private static final String HEAD = "SELECT " + Rows.EVENT_HEAD_COLUMNS + " FROM events WHERE ";

  private static final String UNFINISHED = "SELECT " + Rows.MESSAGE_COLUMNS + " FROM open WHERE ";

  private static final String FINISHED = "SELECT " + Finished.COLUMNS + " FROM messages WHERE ";

  /** How many bytes an event's payload has. */
  static final String BYTES = "octet_length(data) + coalesce(octet_length(previous), 0)";

  /** With more numbers of attempts than this, all unfinished messages are walked instead. */
  private static final int MOST_GROUPS = 100;

  /** Each status and number of attempts that unfinished messages of an endpoint have. */
  private static final String GROUPS =
      """
      WITH RECURSIVE steps AS (
        (SELECT status, attempts FROM open WHERE shard = ? AND endpoint = ?
          ORDER BY status, attempts LIMIT 1)
        UNION ALL
        SELECT next.status, next.attempts FROM steps, LATERAL (
          SELECT status, attempts FROM open WHERE shard = ? AND endpoint = ?
            AND (status, attempts) > (steps.status, steps.attempts)
          ORDER BY status, attempts LIMIT 1) next)
      SELECT status, attempts FROM steps LIMIT ?
      """;

  /** Of each endpoint and status so many at most. */
  private static final String COUNT_UNFINISHED =
      """
      SELECT w.endpoint, w.status, c.counted
      FROM unnest(?, ?, ?) AS w(shard, endpoint, status)
      CROSS JOIN LATERAL (SELECT count(*) AS counted FROM (
        SELECT 1 FROM open o
        WHERE o.shard = w.shard AND o.endpoint = w.endpoint AND o.status = w.status LIMIT ?) few) c
      WHERE c.counted > 0
      """;

  /** How many messages in one status are counted of one endpoint that is asked for. */
  private static final int MOST_COUNTED = 100_000;

  private final Connections connections;
  private final StoreLimits limits;
  private final Seals seals;
  private final Semaphore free;

  PostgresHistory(Connections connections, StoreLimits limits, Seals seals) {
    this.connections = connections;
    this.limits = limits;
    this.seals = seals;
    this.free = new Semaphore(limits.historyReaders());
  }

  /** Reads for people, few at once. */
  private <T> T read(String doing, Connections.Work<T> work) throws StoreException {
    Duration most = limits.historyRead();
    try {
      if (!free.tryAcquire(most.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new StoreException(
            StoreException.Kind.REFUSED,
            doing + ": others kept all readers busy for " + most.toMillis() + " ms",
            new TimeoutException());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StoreException(StoreException.Kind.REFUSED, doing + ": interrupted", e);
    }
    try {
      return readAtOnce(connections, doing, most, work);
    } finally {
      free.release();
    }
  }

  /**
   * Reads with several statements that all see the same moment, each for a limited time. No part is
   * dropped from before that moment to the end: it would be gone though it was there then.
   */
  static <T> T readAtOnce(
      Connections connections, String doing, Duration most, Connections.Work<T> work)
      throws StoreException {
    return connections.readAtOnce(
        doing,
        connection -> {
          Connections.execute(
              connection,
              "SET LOCAL plan_cache_mode = force_custom_plan; SET LOCAL enable_seqscan = off;"
                  + " SET LOCAL statement_timeout = "
                  + most.toMillis()
                  + "; LOCK TABLE ONLY messages IN ACCESS SHARE MODE");
          return work.run(connection);
        });
  }

  private int mostRows() {
    return limits.historyRows();
  }

  @Override
  public Page messages(Query query) throws StoreException {
    return read("listing messages", connection -> messages(connection, query));
  }

  @Override
  public Optional<MessageDetail> message(String tenant, long id) throws StoreException {
    return read("reading a message", connection -> message(connection, tenant, id));
  }

  @Override
  public Optional<EventDetail> event(String tenant, EventKey key) throws StoreException {
    return read("reading an event", connection -> event(connection, tenant, key));
  }

  @Override
  public Optional<Event> eventAlone(String tenant, EventKey key) throws StoreException {
    return read("reading an event", c -> eventAlone(c, tenant, key)).stream().findFirst();
  }

  @Override
  public EventPage events(EventQuery query) throws StoreException {
    return read(
        "listing events",
        connection -> new PostgresEvents(connection, query.tenant(), mostRows()).page(query));
  }

  @Override
  public AttemptPage attempts(AttemptQuery query) throws StoreException {
    return read(
        "listing attempts",
        connection ->
            isOfAnother(connection, "endpoints", query.endpoint(), query.tenant())
                ? new AttemptPage(List.of(), null)
                : AttemptPages.page(
                    new PostgresAttempts(connection, query.tenant(), mostRows()),
                    query,
                    mostRows()));
  }

  @Override
  public Map<Long, List<AttemptMark>> latestAttempts(
      String tenant, List<Long> endpoints, Instant since, int each) throws StoreException {
    return read(
        "reading the latest attempts",
        connection -> {
          List<Long> own = new ArrayList<>(endpoints);
          own.removeAll(
              Select.list(
                  connection,
                  "SELECT id FROM endpoints WHERE id = ANY (?) AND tenant <> ?",
                  row -> row.getLong(1),
                  ids(endpoints),
                  tenant));
          return LatestAttempts.of(
              new PostgresLatest(connection, tenant), own, since, each, mostRows());
        });
  }

  @Override
  public List<Change> changes(long endpoint, int limit) throws StoreException {
    return read(
        "reading the changes of an endpoint",
        connection ->
            Select.list(
                connection,
                "SELECT "
                    + Rows.CHANGE_COLUMNS
                    + " FROM endpoint_changes WHERE tenant = (SELECT tenant FROM endpoints"
                    + " WHERE id = ?) AND endpoint = ? ORDER BY id DESC LIMIT ?",
                Rows::change,
                endpoint,
                endpoint,
                limit));
  }

  @Override
  public List<EndpointChange> changes(ChangeQuery query) throws StoreException {
    return read(
        "reading the changes of endpoints",
        connection -> {
          List<PreparedStatement> opened = new ArrayList<>();
          try {
            return ChangeRows.read(
                sql -> {
                  PreparedStatement statement = connection.prepareStatement(sql);
                  opened.add(statement);
                  return statement;
                },
                query);
          } finally {
            for (PreparedStatement statement : opened) {
              statement.close();
            }
          }
        });
  }

  @Override
  public Optional<Replay> replay(String tenant, long id) throws StoreException {
    return read(
            "reading a replay",
            connection ->
                Select.list(
                    connection,
                    "SELECT " + ReplayRow.COLUMNS + " FROM replays WHERE tenant = ? AND id = ?",
                    ReplayRow::read,
                    tenant,
                    id))
        .stream()
        .findFirst();
  }

  @Override
  public List<Replay> replays(String tenant, long before, int limit) throws StoreException {
    return read(
        "listing replays",
        connection ->
            Select.list(
                connection,
                "SELECT "
                    + ReplayRow.COLUMNS
                    + " FROM replays WHERE tenant = ? AND id < ? ORDER BY id DESC LIMIT ?",
                ReplayRow::read,
                tenant,
                before,
                limit));
  }

  @Override
  public List<Event> latestEvents(String tenant, int limit) throws StoreException {
    return read("reading the latest events", connection -> latestEvents(connection, tenant, limit));
  }

  private List<Event> latestEvents(Connection connection, String tenant, int limit)
      throws SQLException {
    List<Long> found = new ArrayList<>();
    long bytes = 0;
    for (Sized event :
        Select.list(
            connection,
            "SELECT id, "
                + BYTES
                + " FROM events WHERE tenant = ? AND id >= ? AND id < ? ORDER BY id DESC LIMIT ?",
            row -> new Sized(row.getLong(1), row.getInt(2)),
            tenant,
            floor(connection),
            newest(connection),
            limit)) {
      if (bytes > StoreLimits.PAST_BYTES) {
        break;
      }
      bytes += event.bytes();
      found.add(event.id());
    }
    return Select.list(
        connection,
        EVENT + "tenant = ? AND id = ANY (?) ORDER BY id DESC",
        Rows::event,
        tenant,
        ids(found));
  }

  /** An event's id and the bytes of its payload. */
  private record Sized(long id, int bytes) {}

  /** The id below which everything was removed. */
  static long floor(Connection connection) throws SQLException {
    return number(connection, "SELECT coalesce(min(first), 0) FROM parts");
  }

  /** Those of some events whose part is there. */
  static Set<Long> kept(Connection connection, Collection<Long> events) throws SQLException {
    return Set.copyOf(
        Select.list(
            connection,
            "SELECT id FROM unnest(?) AS e(id) WHERE holdfast_is_kept(id)",
            row -> row.getLong(1),
            (Object) ids(events)));
  }

  /**
   * The id above all that is in the parts. What is above it is in the rest, which is nearly always
   * empty; a list that leaves it out is read from one part after the other. Nor does it open parts
   * that were made ahead: nothing is above what batches have brought. A store that was moved in has
   * no batch yet.
   */
  static long newest(Connection connection) throws SQLException {
    return number(
        connection,
        "SELECT CASE WHEN EXISTS (SELECT 1 FROM messages_rest)"
            + " OR EXISTS (SELECT 1 FROM events_rest) THEN NULL"
            + " ELSE coalesce(min(until) FILTER (WHERE until > top AND top > 0), max(until)) END"
            + " FROM parts, (SELECT coalesce(max(highest), 0) AS top FROM batches) brought");
  }

  private static long number(Connection connection, String sql) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql);
        ResultSet row = statement.executeQuery()) {
      long number = row.next() ? row.getLong(1) : 0;
      return row.wasNull() ? Long.MAX_VALUE : number;
    }
  }

  static Long[] ids(Collection<Long> ids) {
    return ids.toArray(new Long[0]);
  }

  /**
   * A message of either table, without its event.
   *
   * @param unfinished absent when it is finished
   * @param finished absent when it is unfinished
   */
  private record Row(
      long id, long event, @Nullable Message unfinished, @Nullable Finished finished) {
    static Row unfinished(ResultSet row) throws SQLException {
      Message message = Rows.message(row);
      return new Row(message.id(), message.event(), message, null);
    }

    static Row finished(ResultSet row) throws SQLException {
      Finished message = Finished.from(row);
      return new Row(message.id(), message.event(), null, message);
    }

    MessageSummary summary(EventHead head) {
      return unfinished != null
          ? Summaries.of(unfinished, head)
          : Summaries.of(Objects.requireNonNull(finished), head);
    }
  }

  /**
   * Rows from the newest down.
   *
   * @param cut the last row that was looked at, if there are more behind it; absent at the end
   */
  private record Walked(List<Row> rows, @Nullable Long cut) {}

  /** A condition and its values. */
  private record Where(String sql, List<Object> values) {
    static Where of(String sql, Object... values) {
      return new Where(sql, List.of(values));
    }

    Where and(String more, Object... others) {
      List<Object> both = new ArrayList<>(values);
      both.addAll(Arrays.asList(others));
      return new Where(sql.isEmpty() ? more : sql + " AND " + more, both);
    }

    boolean isAnything() {
      return sql.isEmpty();
    }

    /**
     * Those of a tenant's events of this. The event of each row is looked up by itself, and so for
     * no more rows than are looked at.
     */
    Where about(About about, String tenant) {
      if (about.isAnything()) {
        return this;
      }
      PostgresEvents.Condition condition = PostgresEvents.Condition.of(about);
      List<Object> others = new ArrayList<>(condition.values());
      others.add(tenant);
      return and(
          "(SELECT "
              + condition.sql()
              + " FROM events e WHERE e.tenant = ? AND e.id = walked.event)",
          others.toArray());
    }
  }

  private Page messages(Connection connection, Query query) throws SQLException {
    if (isOfAnother(connection, "endpoints", query.endpoint(), query.tenant())
        || isOfAnother(connection, "subscriptions", query.subscription(), query.tenant())
        || PostgresEvents.Condition.isImpossible(query.about())) {
      return new Page(List.of(), null);
    }
    long from = query.since() == null ? 0 : Summaries.firstIdAt(query.since());
    from = Math.max(from, floor(connection));
    long below = query.before();
    if (query.until() != null) {
      below = Math.min(below, Summaries.firstIdAt(query.until()));
    }
    Set<Status> wanted =
        query.statuses().isEmpty() ? EnumSet.allOf(Status.class) : query.statuses();
    if (query.event() != null) {
      return ofEvent(connection, query, query.event(), wanted, from, below);
    }
    List<Message.Status> unfinished =
        Arrays.stream(Message.Status.values())
            .filter(status -> wanted.contains(Summaries.shown(status)))
            .toList();
    boolean finished = wanted.contains(Status.DELIVERED) || wanted.contains(Status.DROPPED);
    int rows = finished && !unfinished.isEmpty() ? mostRows() / 2 : mostRows();
    List<Walked> walks = new ArrayList<>();
    if (!unfinished.isEmpty()) {
      walks.add(unfinished(connection, query, unfinished, from, below, rows));
    }
    if (finished) {
      long end = Math.min(below, newest(connection));
      walks.add(finished(connection, query, wanted, from, end, rows));
    }
    return page(connection, query, walks);
  }

  /** Puts side by side what was found, down to where one of the walks had to stop. */
  private static Page page(Connection connection, Query query, List<Walked> walks)
      throws SQLException {
    List<Row> found = new ArrayList<>();
    Long cut = null;
    for (Walked walked : walks) {
      found.addAll(walked.rows());
      if (walked.cut() != null && (cut == null || cut < walked.cut())) {
        cut = walked.cut();
      }
    }
    long end = cut == null ? 0 : cut;
    found.removeIf(row -> row.id() < end);
    found.sort(Comparator.comparingLong(Row::id).reversed());
    Long next = cut;
    if (found.size() > query.limit()) {
      found = found.subList(0, query.limit());
      next = found.getLast().id();
    }
    return new Page(summaries(connection, query.tenant(), found), next);
  }

  private Walked finished(
      Connection connection, Query query, Set<Status> wanted, long from, long below, int rows)
      throws SQLException {
    Where index = Where.of("tenant = ?", query.tenant()).and("id >= ?", from).and("id < ?", below);
    Where filter = Where.of("").about(query.about(), query.tenant());
    boolean droppedOnly = !wanted.contains(Status.DELIVERED);
    Long subscription = query.subscription();
    Long endpoint = query.endpoint();
    if (droppedOnly) {
      // They are few, whoever's they are.
      index = index.and("reason IS NOT NULL");
    } else if (!wanted.contains(Status.DROPPED)) {
      filter = filter.and("reason IS NULL");
    }
    boolean isOfSubscription = subscription != null && !droppedOnly;
    if (subscription != null) {
      Where owner = Where.of("subscription = ?", subscription);
      index = isOfSubscription ? index.and(owner.sql(), subscription) : index;
      filter = isOfSubscription ? filter : filter.and(owner.sql(), subscription);
    }
    if (endpoint != null) {
      boolean isOfEndpoint = subscription == null && !droppedOnly;
      index = isOfEndpoint ? index.and("endpoint = ?", endpoint) : index;
      filter = isOfEndpoint ? filter : filter.and("endpoint = ?", endpoint);
    }
    return walk(
        connection, "messages", Finished.COLUMNS, Row::finished, index, filter, query, rows);
  }

  private Walked unfinished(
      Connection connection,
      Query query,
      List<Message.Status> statuses,
      long from,
      long below,
      int rows)
      throws SQLException {
    Where filter = Where.of("").about(query.about(), query.tenant());
    if (query.subscription() != null) {
      filter = filter.and("subscription = ?", query.subscription());
    }
    Short[] codes =
        statuses.stream().map(status -> (short) Rows.code(status)).toArray(Short[]::new);
    if (statuses.size() < Message.Status.values().length) {
      filter = filter.and("status = ANY (?)", (Object) codes);
    }
    Long endpoint = query.endpoint();
    if (endpoint != null) {
      List<int[]> groups = groups(connection, endpoint);
      if (groups.size() <= MOST_GROUPS) {
        return ofGroups(connection, query, groups, statuses, from, below, rows);
      }
      filter = filter.and("endpoint = ?", endpoint);
    }
    Where index = Where.of("tenant = ?", query.tenant()).and("id >= ?", from).and("id < ?", below);
    return walk(
        connection, "open", Rows.MESSAGE_COLUMNS, Row::unfinished, index, filter, query, rows);
  }

  private static List<int[]> groups(Connection connection, long endpoint) throws SQLException {
    return Select.list(
        connection,
        GROUPS,
        row -> new int[] {row.getInt(1), row.getInt(2)},
        Shards.of(endpoint),
        endpoint,
        Shards.of(endpoint),
        endpoint,
        MOST_GROUPS + 1);
  }

  /**
   * Unfinished messages of one endpoint are found by the index that the path has. It sorts them by
   * status and number of attempts before the id, so each of these groups is walked.
   */
  private static Walked ofGroups(
      Connection connection,
      Query query,
      List<int[]> groups,
      List<Message.Status> statuses,
      long from,
      long below,
      int rows)
      throws SQLException {
    long endpoint = Objects.requireNonNull(query.endpoint());
    List<Row> found = new ArrayList<>();
    Long cut = null;
    int each = Math.max(1, rows / Math.max(1, groups.size()));
    for (int[] group : groups) {
      if (!statuses.contains(Rows.status(group[0]))) {
        continue;
      }
      Where index =
          Where.of("shard = ?", Shards.of(endpoint))
              .and("endpoint = ?", endpoint)
              .and("status = ?", group[0])
              .and("attempts = ?", group[1])
              .and("id >= ?", from)
              .and("id < ?", below);
      Where filter = Where.of("tenant = ?", query.tenant()).about(query.about(), query.tenant());
      if (query.subscription() != null) {
        filter = filter.and("subscription = ?", query.subscription());
      }
      Walked walked =
          walk(
              connection,
              "open",
              Rows.MESSAGE_COLUMNS,
              Row::unfinished,
              index,
              filter,
              query,
              each);
      found.addAll(walked.rows());
      if (walked.cut() != null && (cut == null || cut < walked.cut())) {
        cut = walked.cut();
      }
    }
    return new Walked(found, cut);
  }

  /**
   * Walks down an index, and looks at no more than some of its rows.
   *
   * @param index what the index is walked by
   * @param filter which of its rows fit
   */
  private static Walked walk(
      Connection connection,
      String table,
      String columns,
      Select.Reading<Row> reading,
      Where index,
      Where filter,
      Query query,
      int rows)
      throws SQLException {
    int wanted = query.limit() + 1;
    String walked = " FROM " + table + " WHERE " + index.sql() + " ORDER BY id DESC";
    List<@Nullable Object> values = new ArrayList<>(index.values());
    List<Row> found;
    if (filter.isAnything()) {
      values.add(Math.min(wanted, rows));
      found =
          Select.list(
              connection, "SELECT " + columns + walked + " LIMIT ?", reading, values.toArray());
    } else {
      values.add(rows);
      values.addAll(filter.values());
      values.add(wanted);
      found =
          Select.list(
              connection,
              "SELECT %s FROM (SELECT *%s LIMIT ?) walked WHERE %s ORDER BY id DESC LIMIT ?"
                  .formatted(columns, walked, filter.sql()),
              reading,
              values.toArray());
    }
    if (found.size() == wanted) {
      return new Walked(found, null);
    }
    List<@Nullable Object> last = new ArrayList<>(index.values());
    last.add(rows - 1);
    List<Long> ends =
        Select.list(
            connection,
            "SELECT id" + walked + " LIMIT 2 OFFSET ?",
            row -> row.getLong(1),
            last.toArray());
    return new Walked(found, ends.size() == 2 ? ends.getFirst() : null);
  }

  private Page ofEvent(
      Connection connection, Query query, EventKey key, Set<Status> wanted, long from, long below)
      throws SQLException {
    EventHead head = eventHead(connection, query.tenant(), key);
    if (head == null || !query.about().covers(head.type(), head.subject())) {
      return new Page(List.of(), null);
    }
    List<MessageSummary> items = new ArrayList<>();
    List<MessageSummary> all = new ArrayList<>(remade(connection, head));
    List<Row> made = made(connection, head, from, below);
    made.forEach(row -> all.add(row.summary(head)));
    all.sort(Comparator.comparingLong(MessageSummary::id).reversed());
    for (MessageSummary each : all) {
      if (each.id() >= from
          && each.id() < below
          && wanted.contains(each.status())
          && (query.endpoint() == null || query.endpoint() == each.endpoint())
          && (query.subscription() == null || query.subscription() == each.subscription())) {
        if (items.size() == query.limit()) {
          return new Page(items, items.getLast().id());
        }
        items.add(each);
      }
    }
    return new Page(items, made.size() < mostRows() ? null : made.getLast().id());
  }

  /** The messages that were made with an event, the newest first; other nodes' are between them. */
  private List<Row> made(Connection connection, EventHead head, long from, long below)
      throws SQLException {
    long first = Math.max(from, head.id() + 1);
    long end = Math.min(below, Summaries.lastMessageOf(head) + 1);
    String range = "tenant = ? AND id >= ? AND id < ? AND event = ? ORDER BY id DESC LIMIT ?";
    List<Row> rows = new ArrayList<>();
    rows.addAll(
        Select.list(
            connection,
            UNFINISHED + range,
            Row::unfinished,
            head.tenant(),
            first,
            end,
            head.id(),
            mostRows()));
    rows.addAll(
        Select.list(
            connection,
            FINISHED + range,
            Row::finished,
            head.tenant(),
            first,
            end,
            head.id(),
            mostRows()));
    rows.sort(Comparator.comparingLong(Row::id).reversed());
    return rows.size() > mostRows() ? rows.subList(0, mostRows()) : rows;
  }

  /** The messages that replays have made of an event's. */
  private List<MessageSummary> remade(Connection connection, EventHead head) throws SQLException {
    Map<Long, Long> originals = new HashMap<>();
    for (Remaking each :
        Select.list(
            connection,
            "SELECT " + Remaking.COLUMNS + " FROM replayed WHERE tenant = ? AND event = ? LIMIT ?",
            Remaking::from,
            head.tenant(),
            head.id(),
            mostRows())) {
      originals.put(each.message(), each.original());
    }
    if (originals.isEmpty()) {
      return List.of();
    }
    Long[] wanted = ids(originals.keySet());
    String byId = "tenant = ? AND id = ANY (?)";
    List<MessageSummary> found = new ArrayList<>();
    for (Row row :
        Select.list(connection, UNFINISHED + byId, Row::unfinished, head.tenant(), wanted)) {
      found.add(row.summary(head).madeOf(originals.getOrDefault(row.id(), 0L)));
      originals.remove(row.id());
    }
    for (Row row : Select.list(connection, FINISHED + byId, Row::finished, head.tenant(), wanted)) {
      found.add(row.summary(head).madeOf(originals.getOrDefault(row.id(), 0L)));
      originals.remove(row.id());
    }
    if (!originals.isEmpty()) {
      throw new Damaged("messages are missing: " + originals.keySet());
    }
    return found;
  }

  /** The same messages with their events, and with what they were made of. */
  private static List<MessageSummary> summaries(
      Connection connection, String tenant, List<Row> rows) throws SQLException {
    Map<Long, EventHead> heads = new HashMap<>();
    if (!rows.isEmpty()) {
      Long[] wanted = rows.stream().map(Row::event).distinct().toArray(Long[]::new);
      for (EventHead head :
          Select.list(
              connection,
              HEAD + "tenant = ? AND id = ANY (?)",
              row -> Rows.eventHead(row, 1),
              tenant,
              wanted)) {
        heads.put(head.id(), head);
      }
    }
    Map<Long, Long> events = new HashMap<>();
    for (Row row : rows) {
      EventHead head = heads.get(row.event());
      if (head != null && row.id() > Summaries.lastMessageOf(head)) {
        events.put(row.id(), row.event());
      }
    }
    Map<Long, Long> originals = originals(connection, tenant, events);
    List<MessageSummary> found = new ArrayList<>();
    for (Row row : rows) {
      EventHead head = heads.get(row.event());
      if (head == null && !kept(connection, List.of(row.event())).isEmpty()) {
        throw new Damaged("event " + row.event() + " is missing");
      }
      if (head != null) {
        MessageSummary summary = row.summary(head);
        Long original = originals.get(row.id());
        found.add(original == null ? summary : summary.madeOf(original));
      }
    }
    return found;
  }

  /**
   * What messages were made of that replays have made: their ids are not by their events'.
   *
   * @param events the events of such messages
   */
  private static Map<Long, Long> originals(
      Connection connection, String tenant, Map<Long, Long> events) throws SQLException {
    Map<Long, Long> originals = new HashMap<>();
    if (events.isEmpty()) {
      return originals;
    }
    for (Remaking each :
        Select.list(
            connection,
            "SELECT "
                + Remaking.COLUMNS
                + " FROM replayed WHERE tenant = ? AND event = ANY (?) AND message = ANY (?)",
            Remaking::from,
            tenant,
            ids(Set.copyOf(events.values())),
            ids(events.keySet()))) {
      originals.put(each.message(), each.original());
    }
    for (Long message : events.keySet()) {
      if (!originals.containsKey(message)) {
        throw new Damaged("what message " + message + " was made of is missing");
      }
    }
    return originals;
  }

  private static boolean isOfAnother(
      Connection connection, String table, @Nullable Long id, String tenant) throws SQLException {
    return id != null
        && !Select.list(
                connection,
                "SELECT 1 FROM " + table + " WHERE id = ? AND tenant <> ?",
                row -> true,
                id,
                tenant)
            .isEmpty();
  }

  private Optional<MessageDetail> message(Connection connection, String tenant, long id)
      throws SQLException {
    String byId = "tenant = ? AND id = ?";
    List<Row> rows = Select.list(connection, UNFINISHED + byId, Row::unfinished, tenant, id);
    if (rows.isEmpty()) {
      rows = Select.list(connection, FINISHED + byId, Row::finished, tenant, id);
    }
    List<MessageSummary> summaries = summaries(connection, tenant, rows);
    return summaries.isEmpty()
        ? Optional.empty()
        : Optional.of(
            detail(connection, tenant, summaries.getFirst(), rows.getFirst().finished() != null));
  }

  private MessageDetail detail(
      Connection connection, String tenant, MessageSummary summary, boolean isFinished)
      throws SQLException {
    long id = summary.id();
    List<Attempt> attempts =
        Select.list(
            connection,
            "SELECT number, "
                + Rows.ATTEMPT_COLUMNS
                + ", sum FROM attempts WHERE tenant = ? AND message = ? ORDER BY number LIMIT ?",
            row -> Rows.attempt(row, 2, 9, id, row.getInt(1)),
            tenant,
            id,
            mostRows());
    if (isFinished) {
      attempts.addAll(
          Select.list(
              connection,
              "SELECT "
                  + Rows.ATTEMPT_COLUMNS
                  + ", attempt_sum FROM messages"
                  + " WHERE tenant = ? AND id = ? AND attempt_sum IS NOT NULL",
              row -> Rows.attempt(row, 1, 8, id, summary.attempts()),
              tenant,
              id));
    }
    if (attempts.size() < Math.min(summary.attempts(), mostRows())) {
      throw new Damaged("attempts of message " + id + " are missing");
    }
    return new MessageDetail(summary, attempts);
  }

  private Optional<EventDetail> event(Connection connection, String tenant, EventKey key)
      throws SQLException {
    EventHead head = eventHead(connection, tenant, key);
    if (head == null) {
      return Optional.empty();
    }
    Event event = event(connection, head);
    List<Row> made = made(connection, head, 0, Long.MAX_VALUE);
    int expected = head.messages() - toBeMade(connection, head.id());
    if (made.size() < Math.min(expected, mostRows())) {
      throw new Damaged("messages of event " + head.id() + " are missing");
    }
    List<MessageSummary> messages = new ArrayList<>();
    made.forEach(row -> messages.add(row.summary(head)));
    messages.addAll(remade(connection, head));
    messages.sort(Comparator.comparingLong(MessageSummary::id));
    return Optional.of(new EventDetail(event, messages));
  }

  private static List<Event> eventAlone(Connection connection, String tenant, EventKey key)
      throws SQLException {
    EventHead head = eventHead(connection, tenant, key);
    return head == null ? List.of() : List.of(event(connection, head));
  }

  private static Event event(Connection connection, EventHead head) throws SQLException {
    return Select.list(
            connection, EVENT + "tenant = ? AND id = ?", Rows::event, head.tenant(), head.id())
        .getFirst();
  }

  /** How many messages of an event are still to be made. */
  private static int toBeMade(Connection connection, long event) throws SQLException {
    return Select.list(connection, FanOutRow.COUNT_OF_EVENT, row -> row.getInt(1), event)
        .getFirst();
  }

  /** The event beside its payload, if the tenant has such an event. */
  private static @Nullable EventHead eventHead(Connection connection, String tenant, EventKey key)
      throws SQLException {
    Long id =
        switch (key) {
          case EventKey.Own own -> own.id();
          case EventKey.Callers callers when callers.id().indexOf('\0') >= 0 -> null;
          case EventKey.Callers callers -> {
            List<Key> known =
                Select.list(
                    connection,
                    "SELECT " + Key.COLUMNS + " FROM keys WHERE tenant = ? AND caller_id = ?",
                    Key::from,
                    tenant,
                    callers.id());
            yield known.isEmpty() ? null : known.getFirst().event();
          }
        };
    if (id == null || id < floor(connection)) {
      return null;
    }
    List<EventHead> heads =
        Select.list(
            connection, HEAD + "tenant = ? AND id = ?", row -> Rows.eventHead(row, 1), tenant, id);
    return heads.isEmpty() ? null : heads.getFirst();
  }

  @Override
  public Optional<EndpointNow> endpoint(String tenant, long id) throws StoreException {
    return read("reading an endpoint", c -> endpoint(c, tenant, id)).stream().findFirst();
  }

  private List<EndpointNow> endpoint(Connection connection, String tenant, long id)
      throws SQLException {
    List<Endpoint> found =
        Select.list(
            connection,
            "SELECT " + EndpointRow.COLUMNS + " FROM endpoints WHERE tenant = ? AND id = ?",
            row -> EndpointRow.read(row, seals),
            tenant,
            id);
    return with(found, counts(connection, inEachStatus(found), MOST_COUNTED));
  }

  @Override
  public List<Outline> outlines(String tenant, int most) throws StoreException {
    return read(
        "reading what endpoints are sorted by",
        connection -> PostgresOutlines.read(connection, tenant, most, MOST_COUNTED, mostRows()));
  }

  @Override
  public List<EndpointNow> endpoints(String tenant, List<Long> wanted) throws StoreException {
    return read(
        "reading endpoints",
        connection -> {
          List<Endpoint> found =
              Select.list(
                  connection,
                  "SELECT "
                      + EndpointRow.COLUMNS
                      + " FROM endpoints WHERE tenant = ? AND id = ANY (?)",
                  row -> EndpointRow.read(row, seals),
                  tenant,
                  ids(wanted));
          return with(found, countsInList(connection, found));
        });
  }

  @Override
  public EndpointPage endpoints(String tenant, Health.@Nullable State state, long before, int limit)
      throws StoreException {
    return read("listing endpoints", c -> endpoints(c, tenant, state, before, limit));
  }

  private EndpointPage endpoints(
      Connection connection, String tenant, Health.@Nullable State state, long before, int limit)
      throws SQLException {
    String all =
        "SELECT * FROM endpoints WHERE tenant = ? AND id < ? ORDER BY id DESC LIMIT " + mostRows();
    List<Endpoint> found =
        Select.list(
            connection,
            "SELECT "
                + EndpointRow.COLUMNS
                + " FROM ("
                + all
                + ") looked WHERE state = coalesce(?, state) ORDER BY id DESC LIMIT ?",
            row -> EndpointRow.read(row, seals),
            tenant,
            before,
            state == null ? null : state.name(),
            limit + 1);
    Long next = null;
    if (found.size() > limit) {
      found = found.subList(0, limit);
      next = found.getLast().id();
    } else if (state != null) {
      List<Long> ends =
          Select.list(
              connection,
              "SELECT id FROM endpoints WHERE tenant = ? AND id < ? ORDER BY id DESC"
                  + " LIMIT 2 OFFSET ?",
              row -> row.getLong(1),
              tenant,
              before,
              mostRows() - 1);
      next = ends.size() == 2 ? ends.getFirst() : null;
    }
    return new EndpointPage(with(found, countsInList(connection, found)), next);
  }

  /** Messages of one endpoint in one status. */
  private record InStatus(long endpoint, short status) {}

  private static List<InStatus> inEachStatus(List<Endpoint> endpoints) {
    return endpoints.stream()
        .flatMap(
            endpoint ->
                Arrays.stream(Message.Status.values())
                    .map(status -> new InStatus(endpoint.id(), (short) Rows.code(status))))
        .toList();
  }

  /**
   * Looks at no more rows than other lists do: half of them for all endpoints alike, and half for
   * those that have more than that.
   */
  private Map<InStatus, Integer> countsInList(Connection connection, List<Endpoint> endpoints)
      throws SQLException {
    int half = mostRows() / 2;
    List<InStatus> groups = inEachStatus(endpoints);
    int each = Math.max(1, half / Math.max(1, groups.size()));
    Map<InStatus, Integer> counts = counts(connection, groups, each);
    List<InStatus> full =
        groups.stream().filter(one -> counts.getOrDefault(one, 0) == each).toList();
    int more = full.isEmpty() ? 0 : half / full.size();
    if (more > each) {
      counts.putAll(counts(connection, full, more));
    }
    return counts;
  }

  /** How many there are of each group that has any, so many of it at most. */
  private static Map<InStatus, Integer> counts(
      Connection connection, List<InStatus> groups, int most) throws SQLException {
    Map<InStatus, Integer> counts = new HashMap<>();
    if (!groups.isEmpty()) {
      Select.list(
          connection,
          COUNT_UNFINISHED,
          row -> counts.put(new InStatus(row.getLong(1), row.getShort(2)), row.getInt(3)),
          groups.stream().map(one -> (short) Shards.of(one.endpoint())).toArray(Short[]::new),
          groups.stream().map(InStatus::endpoint).toArray(Long[]::new),
          groups.stream().map(InStatus::status).toArray(Short[]::new),
          most);
    }
    return counts;
  }

  private static List<EndpointNow> with(List<Endpoint> endpoints, Map<InStatus, Integer> counts)
      throws SQLException {
    Map<Long, Unfinished> unfinished = new HashMap<>();
    for (Map.Entry<InStatus, Integer> each : counts.entrySet()) {
      unfinished.merge(
          each.getKey().endpoint(),
          Unfinished.of(Rows.status(each.getKey().status()), each.getValue()),
          Unfinished::plus);
    }
    return endpoints.stream()
        .map(
            endpoint ->
                new EndpointNow(
                    endpoint, unfinished.getOrDefault(endpoint.id(), Unfinished.NOTHING)))
        .toList();
  }
}
