-- +goose Up
ALTER TABLE measures ADD COLUMN turns TEXT NOT NULL DEFAULT 'null'; -- JSON: work of each turn of a session in which layouts took turns

PRAGMA user_version = 4;

-- +goose Down
ALTER TABLE measures DROP COLUMN turns;
PRAGMA user_version = 3;
