-- +goose Up
ALTER TABLE measures ADD COLUMN connections INTEGER NOT NULL DEFAULT 0; -- 0: not known
ALTER TABLE measures ADD COLUMN paced INTEGER NOT NULL DEFAULT 0; -- 1: they also rested, or were held to a rate

PRAGMA user_version = 5;

-- +goose Down
ALTER TABLE measures DROP COLUMN paced;
ALTER TABLE measures DROP COLUMN connections;
PRAGMA user_version = 4;
