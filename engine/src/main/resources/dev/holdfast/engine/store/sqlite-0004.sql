-- How often an endpoint wants to be called at most, in requests per second, and when it last
-- answered 410 Gone. Both belong to the sum of a row only where they are there.
ALTER TABLE endpoints ADD COLUMN rate_limit REAL;

ALTER TABLE endpoints ADD COLUMN gone_at INTEGER;

-- What is kept of each tenant's events: how many, and the bytes that they are reckoned at. The rows
-- are counted when the table is made, since their sums cannot be reckoned here.
CREATE TABLE tenants (
  tenant TEXT NOT NULL PRIMARY KEY,
  events INTEGER NOT NULL,
  bytes  INTEGER NOT NULL,
  sum    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
