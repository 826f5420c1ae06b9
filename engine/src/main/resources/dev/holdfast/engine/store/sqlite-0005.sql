-- What subscriptions ask of a payload, how their messages are sent, and what was before them.

-- connector: AND or OR. filters: a JSON array as callers give it. headers: one a line. secrets: one
-- a line, the newest first: when it was made, until when it is valid if there is a newer one, text.
-- All of it belongs to the sum of a row only where it is not as it is here.
ALTER TABLE subscriptions ADD COLUMN connector TEXT NOT NULL DEFAULT 'AND';

ALTER TABLE subscriptions ADD COLUMN filters TEXT NOT NULL DEFAULT '[]';

ALTER TABLE subscriptions ADD COLUMN format TEXT NOT NULL DEFAULT 'HOLDFAST';

ALTER TABLE subscriptions ADD COLUMN base64 INTEGER NOT NULL DEFAULT 0;

ALTER TABLE subscriptions ADD COLUMN auth_token TEXT;

ALTER TABLE subscriptions ADD COLUMN headers TEXT NOT NULL DEFAULT '';

ALTER TABLE subscriptions ADD COLUMN secrets TEXT NOT NULL DEFAULT '';

-- The id below which a replay looks; its own when absent, or not known yet when "endings" is empty:
-- then events are brought to a subscription that was not there, and "original" in "replayed" is 0.
ALTER TABLE replays ADD COLUMN below INTEGER;
