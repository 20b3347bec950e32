-- Workload dml on SQLite. The statements run in the process: one by one, each a
-- transaction of its own.

-- name: tables
CREATE TABLE {{ident .TableName}} (
  key          INTEGER NOT NULL,
  random_int   INTEGER NOT NULL,
  random_float REAL NOT NULL
);
{{if .Index}}
CREATE UNIQUE INDEX {{ident (print .TableName "_key")}} ON {{ident .TableName}} (key);
{{end}}

-- name: statement-insert
INSERT INTO {{ident .TableName}} (key, random_int, random_float) VALUES (?1, ?2, ?3);

-- name: statement-select
SELECT random_int, random_float FROM {{ident .TableName}} WHERE key = ?1;

-- name: statement-update
UPDATE {{ident .TableName}} SET random_int = ?2 WHERE key = ?1;

-- name: statement-delete
DELETE FROM {{ident .TableName}} WHERE key = ?1;

-- name: check
SELECT count(*), sum(key), sum(random_int), sum(CAST(random_float * {{.FloatSteps}} AS INTEGER)) FROM {{ident .TableName}};
