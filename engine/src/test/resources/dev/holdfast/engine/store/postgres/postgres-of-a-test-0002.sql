-- What a later version may do to the tables.
ALTER TABLE parts ADD COLUMN later integer;
CREATE TABLE later (id integer PRIMARY KEY);
INSERT INTO later (id) VALUES (1);
