-- What a capture asks, besides the engine's own foreign-keys. The session is in no database, so that its questions are not
-- counted in the user's.

-- name: counted
SELECT COALESCE(DIGEST, ''), COALESCE(DIGEST_TEXT, ''), COUNT_STAR, SUM_TIMER_WAIT, SUM_ROWS_SENT
  FROM performance_schema.events_statements_summary_by_digest WHERE SCHEMA_NAME = ? OR DIGEST IS NULL;

-- name: consumer
SELECT ENABLED FROM performance_schema.setup_consumers WHERE NAME = 'statements_digest';

-- A full statement that MySQL stores of a digest.
-- name: full-text
SELECT COALESCE(QUERY_SAMPLE_TEXT, '') FROM performance_schema.events_statements_summary_by_digest WHERE SCHEMA_NAME = ? AND DIGEST = ?;

-- name: bodies
SELECT ACTION_STATEMENT FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = ?
 UNION ALL SELECT COALESCE(ROUTINE_DEFINITION, '') FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = ?;

-- name: backticks
SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND COLUMN_NAME LIKE '%`%';

-- name: sessions
SELECT COALESCE(SUM(COMMAND NOT IN ('Sleep', 'Daemon')), 0), COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = ? AND ID <> CONNECTION_ID();

-- name: tables
SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ?;

-- name: zero-dates
SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND COLUMN_DEFAULT LIKE '%0000-00-00%' LIMIT 1;

-- name: visible
SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND EXTRA NOT LIKE '%INVISIBLE%'
 ORDER BY ORDINAL_POSITION;

-- name: table
SELECT COALESCE(DATA_LENGTH, 0) + COALESCE(INDEX_LENGTH, 0), COALESCE(TABLE_ROWS, 0), TABLE_TYPE, COALESCE(CREATE_OPTIONS, '')
  FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?;

-- name: columns
SELECT COLUMN_NAME, COLUMN_TYPE, DATA_TYPE, COALESCE(CHARACTER_MAXIMUM_LENGTH, 0) FROM information_schema.COLUMNS
 WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION;

-- name: keys
SELECT INDEX_NAME, NON_UNIQUE, COLUMN_NAME, INDEX_TYPE FROM information_schema.STATISTICS
 WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND COLUMN_NAME IS NOT NULL ORDER BY INDEX_NAME, SEQ_IN_INDEX;

-- name: parents
SELECT CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE
 WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND REFERENCED_TABLE_SCHEMA = TABLE_SCHEMA
 ORDER BY CONSTRAINT_NAME, ORDINAL_POSITION;

-- name: create
SHOW CREATE TABLE {{ident .Database}}.{{ident .Table}};

-- The rows at both ends of a table by its key, or the first ones if it has no key.
-- name: sample-width sample-range sample-common
{{define "value"}}{{ident .Column}}{{if .Bits}} + 0{{/* as a number */}}{{end}}{{end -}}
{{define "rows"}}({{if .Key}}(SELECT {{template "value" .}} AS filewise_v FROM {{ident .Database}}.{{ident .Table}} ORDER BY {{ident .Key}} ASC LIMIT {{.Rows}})
  UNION ALL (SELECT {{template "value" .}} AS filewise_v FROM {{ident .Database}}.{{ident .Table}} ORDER BY {{ident .Key}} DESC LIMIT {{.Rows}})
  {{- else}}SELECT {{template "value" .}} AS filewise_v FROM {{ident .Database}}.{{ident .Table}} LIMIT {{.Rows}}{{end}}) s{{end -}}
{{if eq op "width"}}SELECT AVG(CHAR_LENGTH(filewise_v)) FROM {{template "rows" .}}
{{- else if eq op "range"}}SELECT MIN(filewise_v), MAX(filewise_v) FROM {{template "rows" .}}
{{- else}}SELECT filewise_v, COUNT(*), (SELECT COUNT(*) FROM {{template "rows" .}}) FROM {{template "rows" .}} GROUP BY 1 ORDER BY 2 DESC LIMIT {{.Most}}
{{- end}};
