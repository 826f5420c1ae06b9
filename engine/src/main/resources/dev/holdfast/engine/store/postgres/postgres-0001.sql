-- The tables of a store that several nodes share. A script that has been released is never changed:
-- what comes later goes into the next one.
--
-- What the embedded store has too has the same names, columns and encodings here, so that rows are
-- read by the same code and can be moved: times are whole microseconds since
-- 1970-01-01T00:00:00Z, ids are those of the model and grow with time, and each row has a checksum of
-- its values. Beyond that:
--
-- tenant   in every table of a tenant's things, and in every key, so that a database that spreads
--          tables over many servers can do so by tenant.
-- shard    which node decides for it (Shards): that of the endpoint for messages, of its own id for
--          the rest.
-- changed  the version of what everyone knows in which the row was last changed.
--
-- Tables that grow with history are cut into partitions by id, that is by time, all in the same
-- places. Upkeep makes them ahead and drops those whose time is over. What none was made for in time goes to the
-- partition "_rest", which upkeep then makes a common one.

-- Who takes part. A row is a process from its start to its end; the id is never used again. slot: the
-- node's number in the ids that it gives out, which nobody else has while the row is there. What a
-- node writes holds a share of its row's lock, and whoever takes its shards deletes the row: so
-- nothing of it is written after that.
CREATE TABLE nodes (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  slot       integer NOT NULL UNIQUE CHECK (slot BETWEEN 0 AND 1023),
  name       text NOT NULL,
  version    text NOT NULL,
  started_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- What nodes tell of themselves from time to time, for people: JSON.
CREATE TABLE node_reports (
  node   bigint PRIMARY KEY,
  at     timestamptz NOT NULL,
  report text NOT NULL
) WITH (fillfactor = 50);

-- Who decides for which shard; nobody when node is absent. epoch: grows with each change of node.
CREATE TABLE shards (
  shard smallint PRIMARY KEY CHECK (shard BETWEEN 0 AND 255),
  node  bigint,
  epoch bigint NOT NULL DEFAULT 0,
  since timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);

CREATE INDEX shards_by_node ON shards (node);

INSERT INTO shards (shard) SELECT generate_series(0, 255);

-- The last batch of each node that was committed: tells whether a commit that was not answered has
-- happened. latest: the latest time that any batch tells of. highest: the highest id in any of them.
CREATE TABLE batches (
  node    bigint PRIMARY KEY,
  batch   bigint NOT NULL,
  latest  bigint NOT NULL,
  highest bigint NOT NULL
) WITH (fillfactor = 20);

-- Begins the transaction of a batch: it is one of a node that takes part, and of no number that was
-- given up.
CREATE FUNCTION holdfast_begin(me bigint, this bigint, until bigint, top bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM nodes WHERE id = me FOR KEY SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'node % takes part no longer', me USING ERRCODE = 'HF001';
  END IF;
  UPDATE batches SET batch = this, latest = greatest(latest, until), highest = greatest(highest, top)
    WHERE node = me AND batch < this;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'batch % of node % was given up', this, me USING ERRCODE = 'HF001';
  END IF;
END $$;

-- Refuses a batch that does not touch as many rows as it should.
CREATE FUNCTION holdfast_all(touched bigint, wanted bigint, otherwise text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF touched <> wanted THEN
    RAISE EXCEPTION '%', otherwise USING ERRCODE = 'HF002';
  END IF;
END $$;

-- Refuses a batch that was decided by what tenants had before; the detail names them, in JSON.
CREATE FUNCTION holdfast_stale(tenants text[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'another node has changed something of tenant %', tenants[1]
    USING ERRCODE = 'HF003', DETAIL = to_json(tenants)::text;
END $$;

-- What everyone knows: the version, in its only row, and the version in which something of a tenant
-- was last changed. Whoever changes something holds the lock of the first from then on to the end of
-- the transaction, so versions are committed in their order.
CREATE TABLE known (
  id      smallint PRIMARY KEY CHECK (id = 0),
  version bigint NOT NULL
) WITH (fillfactor = 50);

INSERT INTO known (id, version) VALUES (0, 0);

CREATE TABLE known_of_tenants (
  tenant  text PRIMARY KEY,
  version bigint NOT NULL
) WITH (fillfactor = 50);

-- What was left for the node of a shard. kind: 0 messages, each with the endpoint and the status that
-- it was left at; 1 the event of steps in which messages are to be made; 2 a replay.
CREATE TABLE handovers (
  id       bigint GENERATED ALWAYS AS IDENTITY,
  shard    smallint NOT NULL,
  kind     smallint NOT NULL,
  ids      bigint[] NOT NULL,
  endpoints bigint[],
  statuses smallint[],
  at       timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (shard, id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- What somebody has asked of a node that another decides for, and what it was answered. answered_at:
-- absent until then.
CREATE TABLE calls (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  shard       smallint NOT NULL,
  asked_by    bigint NOT NULL,
  asked_at    timestamptz NOT NULL,
  request     text NOT NULL,
  answered_at timestamptz,
  answer      text
);

CREATE INDEX calls_to_answer ON calls (shard, id) WHERE answered_at IS NULL;

-- Where the tables are cut, each part from its first id to that of the next one. Where one was
-- dropped there is a gap: what was in it was removed. latest_finish: when the last message in the
-- part has finished, as far as that has been looked up.
CREATE TABLE parts (
  first         bigint PRIMARY KEY,
  until         bigint NOT NULL,
  latest_finish bigint
);

-- Whether an event is kept: its part is there, or it is above all of them, that is in the rest.
CREATE FUNCTION holdfast_is_kept(event bigint) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT until > event FROM parts WHERE first <= event ORDER BY first DESC LIMIT 1), false)
    OR event >= coalesce((SELECT until FROM parts ORDER BY first DESC LIMIT 1), 0)
$$;

CREATE TABLE events (
  id          bigint NOT NULL,
  tenant      text NOT NULL,
  type        text NOT NULL,
  subject     text,
  occurred_at text,
  caller_id   text,
  traceparent text,
  messages    bigint NOT NULL,
  sum         bigint NOT NULL,
  body_sum    bigint NOT NULL,
  data        bytea NOT NULL,
  previous    bytea,
  PRIMARY KEY (tenant, id)
) PARTITION BY RANGE (id);

-- The path finds an event by its id alone.
CREATE INDEX events_by_id ON events (id);

CREATE TABLE events_rest PARTITION OF events DEFAULT;

CREATE TABLE keys (
  tenant    text NOT NULL,
  caller_id text NOT NULL,
  event     bigint NOT NULL,
  content   bytea NOT NULL,
  sum       bigint NOT NULL,
  PRIMARY KEY (tenant, caller_id)
);

CREATE INDEX keys_by_event ON keys (event);

-- status: 0 pending, 1 waiting, 2 parked, 3 paused. The sum is that of the embedded store's columns.
CREATE TABLE open (
  id              bigint NOT NULL,
  tenant          text NOT NULL,
  shard           smallint NOT NULL,
  event           bigint NOT NULL,
  subscription    bigint NOT NULL,
  endpoint        bigint NOT NULL,
  status          smallint NOT NULL,
  attempts        integer NOT NULL,
  slot            integer NOT NULL,
  base            bigint,
  due             bigint,
  not_before      bigint,
  last_attempt_at bigint,
  size            bigint NOT NULL,
  sum             bigint NOT NULL,
  version         smallint,
  PRIMARY KEY (id, tenant)
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.5);

-- What people list.
CREATE INDEX open_by_tenant ON open (tenant, id);

CREATE INDEX open_by_endpoint ON open (shard, endpoint, status, attempts, id);

-- A node walks it for each of its shards.
CREATE INDEX open_by_due ON open (shard, due, id) WHERE due IS NOT NULL;

-- Which events still have unfinished messages: partitions with one are kept.
CREATE INDEX open_by_event ON open (event);

CREATE TABLE messages (
  id              bigint NOT NULL,
  tenant          text NOT NULL,
  event           bigint NOT NULL,
  subscription    bigint NOT NULL,
  endpoint        bigint NOT NULL,
  reason          text,
  finished_at     bigint NOT NULL,
  attempts        integer NOT NULL,
  sum             bigint NOT NULL,
  attempt_sum     bigint,
  attempt_at      bigint,
  duration_millis bigint,
  scheduled       smallint,
  http_status     integer,
  error           text,
  retry_after     text,
  response        bytea,
  version         smallint,
  PRIMARY KEY (tenant, id)
) PARTITION BY RANGE (id);

CREATE INDEX messages_by_endpoint ON messages (tenant, endpoint, id);

CREATE INDEX messages_by_subscription ON messages (tenant, subscription, id);

-- Few are dropped, and they are what people look for.
CREATE INDEX messages_dropped ON messages (tenant, id) WHERE reason IS NOT NULL;

CREATE TABLE messages_rest PARTITION OF messages DEFAULT;

CREATE TABLE attempts (
  tenant          text NOT NULL,
  message         bigint NOT NULL,
  number          integer NOT NULL,
  attempt_at      bigint NOT NULL,
  duration_millis bigint NOT NULL,
  scheduled       smallint NOT NULL,
  http_status     integer,
  error           text,
  retry_after     text,
  response        bytea,
  sum             bigint NOT NULL,
  PRIMARY KEY (tenant, message, number)
) PARTITION BY RANGE (message);

CREATE TABLE attempts_rest PARTITION OF attempts DEFAULT;

-- Which messages were made of which by replays; cut by the event's id.
CREATE TABLE replayed (
  tenant   text NOT NULL,
  event    bigint NOT NULL,
  original bigint NOT NULL,
  message  bigint NOT NULL,
  sum      bigint NOT NULL,
  PRIMARY KEY (tenant, event, original, message)
) PARTITION BY RANGE (event);

-- Which parts have messages of events that are in others.
CREATE INDEX replayed_by_message ON replayed (message);

CREATE TABLE replayed_rest PARTITION OF replayed DEFAULT;

-- The settings (rate_limit, sealed) are everyone's to change, the rest is the shard's node's alone. So
-- the sum is that of the embedded store's columns without a rate limit.
CREATE TABLE endpoints (
  id                   bigint NOT NULL,
  tenant               text NOT NULL,
  shard                smallint NOT NULL,
  changed              bigint NOT NULL DEFAULT 0,
  url                  text NOT NULL,
  created_at           bigint NOT NULL,
  state                text NOT NULL,
  since                bigint NOT NULL,
  reason               text NOT NULL,
  successes            bigint NOT NULL,
  failures             bigint NOT NULL,
  previous_attempts    bigint NOT NULL,
  previous_failures    bigint NOT NULL,
  current_attempts     bigint NOT NULL,
  current_failures     bigint NOT NULL,
  consecutive_failures bigint NOT NULL,
  last_success_at      bigint,
  next_probe_at        bigint,
  sum                  bigint NOT NULL,
  rate_limit           double precision,
  gone_at              bigint,
  sealed               bytea,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, url)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000);

CREATE INDEX endpoints_by_id ON endpoints (id);

CREATE INDEX endpoints_by_changed ON endpoints (changed);

CREATE TABLE endpoint_changes (
  id       bigint GENERATED ALWAYS AS IDENTITY,
  tenant   text NOT NULL,
  endpoint bigint NOT NULL,
  at       bigint NOT NULL,
  state    text NOT NULL,
  reason   text NOT NULL,
  sum      bigint NOT NULL,
  PRIMARY KEY (tenant, endpoint, id)
);

CREATE INDEX endpoint_changes_by_tenant ON endpoint_changes (tenant, at, id);

-- ended_at: deleted, while messages of its were unfinished. forgotten: since none is; the row stays
-- for a while so that every node learns of it.
CREATE TABLE subscriptions (
  id                 bigint NOT NULL,
  tenant             text NOT NULL,
  changed            bigint NOT NULL DEFAULT 0,
  endpoint           bigint NOT NULL,
  types              text NOT NULL,
  subject            text,
  created_at         bigint NOT NULL,
  ended_at           bigint,
  sum                bigint NOT NULL,
  paused             bigint NOT NULL DEFAULT 0,
  unsettled          text NOT NULL DEFAULT '',
  connector          text NOT NULL DEFAULT 'AND',
  filters            text NOT NULL DEFAULT '[]',
  format             text NOT NULL DEFAULT 'HOLDFAST',
  base64             bigint NOT NULL DEFAULT 0,
  auth_token         text,
  headers            text NOT NULL DEFAULT '',
  secrets            text NOT NULL DEFAULT '',
  changed_at         bigint,
  version            text NOT NULL DEFAULT 'V2',
  version_changed_at bigint,
  written_url        text,
  sealed             bytea,
  forgotten          timestamptz,
  PRIMARY KEY (tenant, id)
);

CREATE INDEX subscriptions_by_id ON subscriptions (id);

CREATE INDEX subscriptions_by_changed ON subscriptions (changed);

-- shard: that of the event's id.
CREATE TABLE fan_outs (
  tenant     text NOT NULL,
  event      bigint NOT NULL,
  first      bigint NOT NULL,
  shard      smallint NOT NULL,
  event_size bigint NOT NULL,
  targets    bytea NOT NULL,
  sum        bigint NOT NULL,
  versions   bytea,
  PRIMARY KEY (event, first, tenant)
);

CREATE INDEX fan_outs_by_shard ON fan_outs (shard);

-- shard: that of the replay's id.
CREATE TABLE replays (
  id           bigint NOT NULL,
  tenant       text NOT NULL,
  shard        smallint NOT NULL,
  endpoint     bigint,
  subscription bigint,
  endings      text NOT NULL,
  since        bigint,
  until        bigint,
  again        bigint NOT NULL,
  state        text NOT NULL,
  total        bigint,
  done         bigint NOT NULL,
  skipped      bigint NOT NULL,
  through      bigint NOT NULL,
  sum          bigint NOT NULL,
  below        bigint,
  PRIMARY KEY (tenant, id)
);

CREATE INDEX replays_by_id ON replays (id);

CREATE INDEX replays_running ON replays (shard) WHERE state = 'RUNNING';

-- What is kept of each tenant's events, as counted by the nodes with this slot. Each node has rows of
-- its own, so that none waits for another; a row may be below nothing, and their sum is what counts.
CREATE TABLE tenants (
  tenant text NOT NULL,
  slot   integer NOT NULL,
  events bigint NOT NULL,
  bytes  bigint NOT NULL,
  PRIMARY KEY (tenant, slot)
) WITH (fillfactor = 20);

-- What has happened in each minute. Each node writes rows of its own.
CREATE TABLE activity (
  tenant    text NOT NULL,
  at        bigint NOT NULL,
  slot      integer NOT NULL,
  accepted  bigint NOT NULL,
  delivered bigint NOT NULL,
  failed    bigint NOT NULL,
  dropped   bigint NOT NULL,
  delays    bytea NOT NULL,
  sum       bigint NOT NULL,
  PRIMARY KEY (tenant, at, slot)
);

CREATE INDEX activity_by_time ON activity (at, tenant, slot);

CREATE TABLE api_keys (
  id           bigint PRIMARY KEY,
  name         text NOT NULL,
  role         text NOT NULL,
  tenant       text,
  hash         bytea NOT NULL UNIQUE,
  created_at   bigint NOT NULL,
  sum          bigint NOT NULL,
  expires_at   bigint,
  last_used_at bigint
);

CREATE TABLE sessions (
  id         bigint PRIMARY KEY,
  hash       bytea NOT NULL UNIQUE,
  key_hash   bytea,
  fixed      bytea,
  began_at   bigint NOT NULL,
  expires_at bigint NOT NULL,
  sum        bigint NOT NULL
);

CREATE INDEX sessions_by_key ON sessions (key_hash, id);

CREATE INDEX sessions_by_end ON sessions (expires_at);

CREATE TABLE data_keys (
  id         bigint PRIMARY KEY,
  master     text NOT NULL,
  wrapped    bytea NOT NULL,
  created_at bigint NOT NULL,
  sum        bigint NOT NULL
);

CREATE TABLE audit (
  id       bigint GENERATED BY DEFAULT AS IDENTITY,
  chain    text NOT NULL,
  number   bigint NOT NULL,
  at       bigint NOT NULL,
  action   text NOT NULL,
  actor    text NOT NULL,
  target   text,
  entry    text NOT NULL,
  previous bytea NOT NULL,
  hash     bytea NOT NULL,
  PRIMARY KEY (chain, number)
);

CREATE UNIQUE INDEX audit_by_id ON audit (id);

CREATE INDEX audit_by_target ON audit (chain, target, id);

-- The embedded store that was moved in here, if one was, and in "moved" how far each of its tables
-- is. No node starts while finished_at is absent. source: what tells the store from others. commits:
-- how many transactions it had seen. origin: its directory. through: the key of the last row.
CREATE TABLE moves (
  id          smallint PRIMARY KEY CHECK (id = 0),
  source      text NOT NULL,
  commits     bigint NOT NULL,
  origin      text NOT NULL,
  began_at    timestamptz NOT NULL,
  finished_at timestamptz
);

CREATE TABLE moved (
  name    text PRIMARY KEY,
  rows    bigint NOT NULL,
  through text[],
  is_done boolean NOT NULL
) WITH (fillfactor = 50);
