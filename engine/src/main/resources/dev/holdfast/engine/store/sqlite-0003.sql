-- Subscriptions that change, events for very many, and replays.

-- paused: 1 while it is. unsettled: endpoints where messages of it may stand otherwise than it says
-- now, their ids separated by spaces.
ALTER TABLE subscriptions ADD COLUMN paused INTEGER NOT NULL DEFAULT 0;

ALTER TABLE subscriptions ADD COLUMN unsettled TEXT NOT NULL DEFAULT '';

-- Messages of events that are still to be made, a step a row, deleted when they are made. targets:
-- the subscription and the endpoint of each, 8 bytes each.
CREATE TABLE fan_outs (
  event      INTEGER NOT NULL,
  first      INTEGER NOT NULL,
  event_size INTEGER NOT NULL,
  targets    BLOB NOT NULL,
  sum        INTEGER NOT NULL,
  PRIMARY KEY (event, first)
) STRICT, WITHOUT ROWID;

-- endings: DELIVERED, DROPPED, or both separated by a space. total is absent until the messages are
-- counted. through: the last message that was looked at.
CREATE TABLE replays (
  id           INTEGER PRIMARY KEY,
  tenant       TEXT NOT NULL,
  endpoint     INTEGER,
  subscription INTEGER,
  endings      TEXT NOT NULL,
  since        INTEGER,
  until        INTEGER,
  again        INTEGER NOT NULL,
  state        TEXT NOT NULL,
  total        INTEGER,
  done         INTEGER NOT NULL,
  skipped      INTEGER NOT NULL,
  through      INTEGER NOT NULL,
  sum          INTEGER NOT NULL
) STRICT;

CREATE INDEX replays_by_tenant ON replays (tenant, id);

CREATE INDEX replays_running ON replays (id) WHERE state = 'RUNNING';

-- Which messages were made of which by replays. Their ids do not follow their event's.
CREATE TABLE replayed (
  event    INTEGER NOT NULL,
  original INTEGER NOT NULL,
  message  INTEGER NOT NULL,
  sum      INTEGER NOT NULL,
  PRIMARY KEY (event, original, message)
) STRICT, WITHOUT ROWID;
