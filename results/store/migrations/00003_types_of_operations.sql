-- +goose Up
ALTER TABLE measures ADD COLUMN types TEXT NOT NULL DEFAULT 'null'; -- JSON: work, latencies and failures by type of operation

PRAGMA user_version = 3;

-- +goose Down
ALTER TABLE measures DROP COLUMN types;
PRAGMA user_version = 2;
