-- The index of history keeps the ids of messages together: a row for each whom people ask for and
-- each ending, not one for each message.
--
-- The index is made anew from the messages, in the background.

DROP TABLE finished_by_tenant;
DROP TABLE finished_by_endpoint;
DROP TABLE finished_by_subscription;

DELETE FROM parts;
INSERT INTO parts (number, first, sum) VALUES (1, 0, 722747122);
UPDATE indexed SET through = 0, part = 1, rows = 0, sum = 1956719983;

-- ids: those of finished messages in their order, each as its distance from the one before, the
-- first from "first", in groups of 7 bits, the lowest first, all but the last with the 8th bit set.
-- No id of a row is below its "first", and none reaches the next row's of the same owner.
--
-- As before, dropped is 0 for delivered and 1 for dropped, and the rows have no sums: each id leads
-- to a message, whose row has one and says the same.
CREATE TABLE finished_by_tenant (
  part    INTEGER NOT NULL,
  tenant  TEXT NOT NULL,
  dropped INTEGER NOT NULL,
  first   INTEGER NOT NULL,
  ids     BLOB NOT NULL,
  PRIMARY KEY (part, tenant, dropped, first)
) STRICT, WITHOUT ROWID;

CREATE TABLE finished_by_endpoint (
  part     INTEGER NOT NULL,
  endpoint INTEGER NOT NULL,
  dropped  INTEGER NOT NULL,
  first    INTEGER NOT NULL,
  ids      BLOB NOT NULL,
  PRIMARY KEY (part, endpoint, dropped, first)
) STRICT, WITHOUT ROWID;

CREATE TABLE finished_by_subscription (
  part         INTEGER NOT NULL,
  subscription INTEGER NOT NULL,
  dropped      INTEGER NOT NULL,
  first        INTEGER NOT NULL,
  ids          BLOB NOT NULL,
  PRIMARY KEY (part, subscription, dropped, first)
) STRICT, WITHOUT ROWID;

-- SQLite ends each entry of an index with the id of its row, so it need not be among the columns.
DROP INDEX open_by_endpoint;
CREATE INDEX open_by_endpoint ON open (endpoint, status, attempts);

DROP INDEX open_by_due;
CREATE INDEX open_by_due ON open (due) WHERE due IS NOT NULL;
