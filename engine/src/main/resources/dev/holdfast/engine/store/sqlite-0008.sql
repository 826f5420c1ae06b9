-- Browsers that have signed in with a key. hash: the SHA-256 of their cookie. key_hash: that of the
-- key; absent for the key that is set and not stored. For that there is "fixed", the SHA-256 of the
-- cookie and the key's hash together: without the cookie nothing can be found out from it.
CREATE TABLE sessions (
  id         INTEGER PRIMARY KEY,
  hash       BLOB NOT NULL UNIQUE,
  key_hash   BLOB,
  fixed      BLOB,
  began_at   INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  sum        INTEGER NOT NULL
) STRICT;

CREATE INDEX sessions_by_key ON sessions (key_hash, id);

CREATE INDEX sessions_by_end ON sessions (expires_at);
