-- +goose Up
ALTER TABLE runs ADD COLUMN origin TEXT NOT NULL DEFAULT 'null'; -- JSON: where an imported run comes from

PRAGMA user_version = 6;

-- +goose Down
ALTER TABLE runs DROP COLUMN origin;
PRAGMA user_version = 5;
