-- The first tables. A script that has been released is never changed: what comes later goes into
-- the next one.
--
-- Times are whole microseconds since 1970-01-01T00:00:00Z, except events.occurred_at, which is the
-- sender's own and keeps its nanoseconds as text. Ids are those of the model: they grow with time,
-- so that new rows go to the end of a table.
--
-- Each row has a checksum of all its values (RowSum), which is compared whenever it is read. Where
-- lists read only the first part of a row, that part has a sum of its own.

-- How far the store is, in its only row: transactions committed, and the latest time that any of
-- them tells of.
CREATE TABLE progress (
  id      INTEGER PRIMARY KEY CHECK (id = 0),
  commits INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  sum     INTEGER NOT NULL
) STRICT;

-- Written once. What lists show comes before the payload, so that reading it does not touch the
-- pages that a large payload overflows to. The messages of an event have the ids right after its
-- own, and "messages" says how many they are: they are found by range.
CREATE TABLE events (
  id          INTEGER PRIMARY KEY,
  tenant      TEXT NOT NULL,
  type        TEXT NOT NULL,
  subject     TEXT,
  occurred_at TEXT,
  caller_id   TEXT,
  traceparent TEXT,
  messages    INTEGER NOT NULL,
  sum         INTEGER NOT NULL,
  body_sum    INTEGER NOT NULL,
  data        BLOB NOT NULL,
  previous    BLOB
) STRICT;

-- The ids that callers gave to events, with a digest of what came with them.
CREATE TABLE keys (
  tenant    TEXT NOT NULL,
  caller_id TEXT NOT NULL,
  event     INTEGER NOT NULL,
  content   BLOB NOT NULL,
  sum       INTEGER NOT NULL,
  PRIMARY KEY (tenant, caller_id)
) STRICT, WITHOUT ROWID;

-- Unfinished messages: the only table that is read to find work. It stays small, so its indexes
-- are cheap. status: 0 pending, 1 waiting, 2 parked.
CREATE TABLE open (
  id              INTEGER PRIMARY KEY,
  event           INTEGER NOT NULL,
  subscription    INTEGER NOT NULL,
  endpoint        INTEGER NOT NULL,
  status          INTEGER NOT NULL,
  attempts        INTEGER NOT NULL,
  slot            INTEGER NOT NULL,
  base            INTEGER,
  due             INTEGER,
  not_before      INTEGER,
  last_attempt_at INTEGER,
  size            INTEGER NOT NULL,
  sum             INTEGER NOT NULL
) STRICT;

CREATE INDEX open_by_endpoint ON open (endpoint, status, attempts, id);

CREATE INDEX open_by_due ON open (due, id) WHERE due IS NOT NULL;

-- Finished messages, written once, each with its last attempt: delivered, or dropped when there is
-- a reason. A message that was dropped without a last attempt has no attempt_at. An attempt without
-- an error succeeded.
CREATE TABLE messages (
  id              INTEGER PRIMARY KEY,
  event           INTEGER NOT NULL,
  subscription    INTEGER NOT NULL,
  endpoint        INTEGER NOT NULL,
  reason          TEXT,
  finished_at     INTEGER NOT NULL,
  attempts        INTEGER NOT NULL,
  sum             INTEGER NOT NULL,
  attempt_sum     INTEGER,
  attempt_at      INTEGER,
  duration_millis INTEGER,
  scheduled       INTEGER,
  http_status     INTEGER,
  error           TEXT,
  retry_after     TEXT,
  response        BLOB
) STRICT;

-- The attempts before the last one.
CREATE TABLE attempts (
  message         INTEGER NOT NULL,
  number          INTEGER NOT NULL,
  attempt_at      INTEGER NOT NULL,
  duration_millis INTEGER NOT NULL,
  scheduled       INTEGER NOT NULL,
  http_status     INTEGER,
  error           TEXT,
  retry_after     TEXT,
  response        BLOB,
  sum             INTEGER NOT NULL,
  PRIMARY KEY (message, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE endpoints (
  id                   INTEGER PRIMARY KEY,
  tenant               TEXT NOT NULL,
  url                  TEXT NOT NULL,
  created_at           INTEGER NOT NULL,
  state                TEXT NOT NULL,
  since                INTEGER NOT NULL,
  reason               TEXT NOT NULL,
  successes            INTEGER NOT NULL,
  failures             INTEGER NOT NULL,
  previous_attempts    INTEGER NOT NULL,
  previous_failures    INTEGER NOT NULL,
  current_attempts     INTEGER NOT NULL,
  current_failures     INTEGER NOT NULL,
  consecutive_failures INTEGER NOT NULL,
  last_success_at      INTEGER,
  next_probe_at        INTEGER,
  sum                  INTEGER NOT NULL,
  UNIQUE (tenant, url)
) STRICT;

-- What endpoints have gone through.
CREATE TABLE endpoint_changes (
  id       INTEGER PRIMARY KEY,
  endpoint INTEGER NOT NULL,
  at       INTEGER NOT NULL,
  state    TEXT NOT NULL,
  reason   TEXT NOT NULL,
  sum      INTEGER NOT NULL
) STRICT;

CREATE INDEX endpoint_changes_by_endpoint ON endpoint_changes (endpoint, id);

-- types: one pattern a line. ended_at: deleted, while messages of its were unfinished.
CREATE TABLE subscriptions (
  id         INTEGER PRIMARY KEY,
  tenant     TEXT NOT NULL,
  endpoint   INTEGER NOT NULL,
  types      TEXT NOT NULL,
  subject    TEXT,
  created_at INTEGER NOT NULL,
  ended_at   INTEGER,
  sum        INTEGER NOT NULL
) STRICT;

-- Keys of the API, as digests only. No tenant: for all tenants.
CREATE TABLE api_keys (
  id         INTEGER PRIMARY KEY,
  name       TEXT NOT NULL,
  role       TEXT NOT NULL,
  tenant     TEXT,
  hash       BLOB NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  sum        INTEGER NOT NULL
) STRICT;
