-- What every workload on SQLite's shards executes.

-- name: create
-- The file is new and empty: nothing can be lost while it is being laid out, so
-- nothing is synced before Settle does it.
PRAGMA page_size = {{.PageBytes}};
PRAGMA journal_mode = WAL;
PRAGMA synchronous = OFF;

-- name: connection
PRAGMA busy_timeout = {{.BusyMillis}};
PRAGMA synchronous = {{.Synchronous}};
PRAGMA wal_autocheckpoint = {{.AutoCheckpoint}};
{{- range .Settings}}
PRAGMA {{.}};
{{- end}}

-- name: begin
BEGIN IMMEDIATE;

-- name: begin-read
BEGIN;

-- name: commit
COMMIT;

-- name: rollback
ROLLBACK;

-- name: attach
ATTACH DATABASE ?1 AS fw_rebuilt;

-- name: detach
DETACH DATABASE fw_rebuilt;

-- name: empty
PRAGMA wal_checkpoint(TRUNCATE);

-- name: settle
-- Not TRUNCATE: the log keeps its size, and the next writer starts it anew.
PRAGMA wal_checkpoint(RESTART);

-- name: close
-- Closing the last connection checkpoints: needless for files about to go.
PRAGMA synchronous = OFF;
