-- +goose Up
ALTER TABLE runs ADD COLUMN decisions TEXT NOT NULL DEFAULT 'null'; -- JSON: what each family comes to; null of runs before

PRAGMA user_version = 8;

-- +goose Down
ALTER TABLE runs DROP COLUMN decisions;
PRAGMA user_version = 7;
