-- What lists of history go by, and what retention needs.
--
-- Finished messages by whom people ask for: one row in each of three tables. They are written behind
-- the messages, many at a time and sorted, so that they cost the path of a message nothing.
-- They are cut into parts by the message's id: within a part they are sorted by tenant, endpoint or
-- subscription, so that only few pages are written at a time, however many endpoints there are, and
-- what is oldest lies together when it is removed. A list looks into one part after the other.
--
-- These rows have no sums: each leads to a message, whose row has one and says the same.

-- Where each part begins: it has the messages from the id "first" on, up to the next part. The
-- first part begins at 0.
CREATE TABLE parts (
  number INTEGER PRIMARY KEY,
  first  INTEGER NOT NULL,
  sum    INTEGER NOT NULL
) STRICT;

INSERT INTO parts (number, first, sum) VALUES (1, 0, 722747122);

-- How far the three tables are, in its only row: they have every finished message up to the id
-- "through" and none after it. "rows" messages were put into the last part when it was filled.
CREATE TABLE indexed (
  id      INTEGER PRIMARY KEY CHECK (id = 0),
  through INTEGER NOT NULL,
  part    INTEGER NOT NULL,
  rows    INTEGER NOT NULL,
  sum     INTEGER NOT NULL
) STRICT;

INSERT INTO indexed (id, through, part, rows, sum) VALUES (0, 0, 1, 0, 1956719983);

-- dropped: 0 delivered, 1 dropped.
CREATE TABLE finished_by_tenant (
  part    INTEGER NOT NULL,
  tenant  TEXT NOT NULL,
  dropped INTEGER NOT NULL,
  id      INTEGER NOT NULL,
  PRIMARY KEY (part, tenant, dropped, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE finished_by_endpoint (
  part     INTEGER NOT NULL,
  endpoint INTEGER NOT NULL,
  dropped  INTEGER NOT NULL,
  id       INTEGER NOT NULL,
  PRIMARY KEY (part, endpoint, dropped, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE finished_by_subscription (
  part         INTEGER NOT NULL,
  subscription INTEGER NOT NULL,
  dropped      INTEGER NOT NULL,
  id           INTEGER NOT NULL,
  PRIMARY KEY (part, subscription, dropped, id)
) STRICT, WITHOUT ROWID;

-- An event with so many messages that it is removed in several steps. While it stands here nobody
-- sees it or its messages any more.
CREATE TABLE removing (
  event INTEGER PRIMARY KEY,
  sum   INTEGER NOT NULL
) STRICT;
