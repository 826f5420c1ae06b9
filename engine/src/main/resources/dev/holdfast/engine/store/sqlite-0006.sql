-- In which version messages are sent, when subscriptions were changed, and how their URL was
-- written. All of it belongs to the sum of a row only where it is not as it is here.

-- changed_at: absent until it was changed. version: V1 or V2. version_changed_at: since when, if it
-- had the other before.
ALTER TABLE subscriptions ADD COLUMN changed_at INTEGER;

ALTER TABLE subscriptions ADD COLUMN version TEXT NOT NULL DEFAULT 'V2';

ALTER TABLE subscriptions ADD COLUMN version_changed_at INTEGER;

-- The endpoint's URL as the subscription's owner has written it, where that is something else.
ALTER TABLE subscriptions ADD COLUMN written_url TEXT;

-- The version that a message keeps, 1 or 2; absent when it is sent in the one that its subscription
-- has by then. SQLite reads the finished messages once for this.
ALTER TABLE open ADD COLUMN version INTEGER;

ALTER TABLE messages ADD COLUMN version INTEGER;

-- The version that the message for each target keeps, a byte each: 0 none, 1 or 2. Absent when none
-- of them has one.
ALTER TABLE fan_outs ADD COLUMN versions BLOB;
