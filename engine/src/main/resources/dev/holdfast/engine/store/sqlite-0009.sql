-- What has happened in each minute, and what endpoints of a tenant have gone through.

-- at: when the minute began. slot: which node has counted it; 0 where nobody shares the store. delays:
-- how long what was delivered took, in buckets: for each that is not empty, how many empty ones are
-- before it and how many are in it, as numbers of seven bits a byte, the lowest first.
CREATE TABLE activity (
  tenant    TEXT NOT NULL,
  at        INTEGER NOT NULL,
  slot      INTEGER NOT NULL,
  accepted  INTEGER NOT NULL,
  delivered INTEGER NOT NULL,
  failed    INTEGER NOT NULL,
  dropped   INTEGER NOT NULL,
  delays    BLOB NOT NULL,
  sum       INTEGER NOT NULL,
  PRIMARY KEY (tenant, at, slot)
) STRICT, WITHOUT ROWID;

CREATE INDEX activity_by_time ON activity (at);

-- The endpoint's; it belongs to no sum, and is here to be found by.
ALTER TABLE endpoint_changes ADD COLUMN tenant TEXT;

UPDATE endpoint_changes
SET tenant = (SELECT e.tenant FROM endpoints e WHERE e.id = endpoint_changes.endpoint);

CREATE INDEX endpoint_changes_by_tenant ON endpoint_changes (tenant, at, id);
