-- +goose Up
ALTER TABLE measures ADD COLUMN rest TEXT NOT NULL DEFAULT 'null'; -- JSON: all work and time from rest to rest, if that is judged

PRAGMA user_version = 7;

-- +goose Down
ALTER TABLE measures DROP COLUMN rest;
PRAGMA user_version = 6;
