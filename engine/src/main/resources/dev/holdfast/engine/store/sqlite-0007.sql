-- What nobody but its receiver should know is sealed, keys of the API end and are seen to be used,
-- and what people change is written down.

-- Keys that values are sealed with, each wrapped by a master key that is not in here. master: the
-- master key's id.
CREATE TABLE data_keys (
  id         INTEGER PRIMARY KEY,
  master     TEXT NOT NULL,
  wrapped    BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  sum        INTEGER NOT NULL
) STRICT;

-- Where a row has it, these columns are empty, and what they had is in it: auth_token, headers,
-- secrets, written_url. A sealed value cannot be changed unnoticed, so it is not in the row's sum.
ALTER TABLE subscriptions ADD COLUMN sealed BLOB;

-- Where a row has it, "url" is a keyed digest of the URL, by which it is still known only once, and
-- the URL is in here, with what is special about encrypted connections to it.
ALTER TABLE endpoints ADD COLUMN sealed BLOB;

-- expires_at belongs to the sum of a row only where it is there; last_used_at never does.
ALTER TABLE api_keys ADD COLUMN expires_at INTEGER;

ALTER TABLE api_keys ADD COLUMN last_used_at INTEGER;

-- What people, and keys, have changed. Each chain has its numbers from 1 on without a gap, and each
-- entry the hash of the one before it. chain: the tenant, or empty for what concerns all of them.
-- entry: JSON, with secrets masked. target and actor are in it too; they are here to be found by.
CREATE TABLE audit (
  id      INTEGER PRIMARY KEY,
  chain   TEXT NOT NULL,
  number  INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  action  TEXT NOT NULL,
  actor   TEXT NOT NULL,
  target  TEXT,
  entry   TEXT NOT NULL,
  previous BLOB NOT NULL,
  hash    BLOB NOT NULL,
  UNIQUE (chain, number)
) STRICT;

CREATE INDEX audit_by_target ON audit (chain, target, id);
