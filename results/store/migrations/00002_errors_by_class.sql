-- +goose Up
ALTER TABLE measures ADD COLUMN errors TEXT NOT NULL DEFAULT 'null'; -- JSON: failures of operations by class

PRAGMA user_version = 2;

-- +goose Down
ALTER TABLE measures DROP COLUMN errors;
PRAGMA user_version = 1;
