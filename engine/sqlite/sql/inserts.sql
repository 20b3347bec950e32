-- Workload inserts on SQLite. TableName is a table of one file.

-- name: tables
CREATE TABLE {{ident .TableName}} (
  id      INTEGER PRIMARY KEY,
  payload TEXT NOT NULL
);

-- name: insert
INSERT INTO {{ident .TableName}} (id, payload) VALUES (?1, ?2);

-- name: rebuild
-- The rows of a loaded table that belong into file Part, from 0, of the Of files
-- that have the table: by key.
INSERT INTO fw_rebuilt.{{ident .TableName}} (id, payload)
SELECT id, payload FROM main.{{ident .TableName}} WHERE (id - 1) / {{.Step}} % {{.Of}} = {{.Part}} ORDER BY id;

-- name: check
-- Rows, and the sum over them of the CRC-32 (IEEE) of "id,payload". Rows are
-- handed over page by page: a call of Filewise's function for each row would
-- cost more than reading them.
WITH RECURSIVE page (last, crc) AS (
  SELECT -9223372036854775808, 0
  UNION ALL
  SELECT (SELECT max(id) FROM (
            SELECT id FROM {{ident .TableName}} WHERE id > page.last ORDER BY id LIMIT {{.PageRows}})),
         (SELECT filewise_crc32_lines(coalesce(group_concat(id || ',' || payload, char(10)), '')) FROM (
            SELECT id, payload FROM {{ident .TableName}} WHERE id > page.last ORDER BY id LIMIT {{.PageRows}}))
  FROM page WHERE page.last IS NOT NULL)
SELECT (SELECT count(*) FROM {{ident .TableName}}), sum(crc) FROM page;
