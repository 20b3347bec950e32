-- Workloads scan and backup on SQLite: four tables, each whole in one file. A
-- connection of scan has the other files attached, so that names need no file.

-- name: tables
CREATE TABLE {{ident .TableName}} (
  id      INTEGER PRIMARY KEY,
  name    VARCHAR(300),
  address VARCHAR(1000),
  state   CHAR(2),
  val1    INTEGER,
  val2    INTEGER,
  val3    INTEGER,
  val4    INTEGER,
  val5    INTEGER
);

-- name: indexes
CREATE INDEX {{ident (print .TableName "_name")}} ON {{ident .TableName}} (name);
CREATE INDEX {{ident (print .TableName "_values")}} ON {{ident .TableName}} (val1, val2);

-- name: check
SELECT {{.TableNumber}}, count(*), sum(id), sum(val1) FROM {{ident .TableName}};

-- name: statement-query-1
SELECT * FROM {{frag .Reader 1}} WHERE id = '{{.Key1}}';

-- name: statement-query-2
SELECT * FROM {{frag .Reader 1}} WHERE val1 < 1000 LIMIT 1, 1;

-- name: statement-query-3
SELECT * FROM {{frag .Reader 1}} WHERE id = {{.Key3}};

-- name: statement-query-4
SELECT count(*), sum(val1), sum(val2), avg(val3) FROM {{frag .Reader 1}} WHERE val4 < 10000;

-- name: statement-query-5
SELECT sum(val4 + val5) FROM {{frag .Reader 2}};

-- name: statement-query-6
SELECT * FROM {{frag .Reader 3}} WHERE val1 = 5718;

-- name: statement-query-7
SELECT * FROM {{frag .Reader 4}} WHERE val1 > 5700 AND val2 < 10000 AND val3 = 14242;

-- name: statement-query-8
-- state is text: the article's numbers are compared with it as numbers.
SELECT count(*), sum(val1), sum(val2), avg(val3) FROM {{frag .Reader 1}}
WHERE CAST(state AS INTEGER) IN (94, 84, 35, 36, 11, 12, 99, 50) GROUP BY state;

-- name: statement-query-9
SELECT * FROM {{frag .Reader 1}}, {{frag .Reader 3}} WHERE {{frag .Reader 3}}.val1 = {{frag .Reader 1}}.id AND {{frag .Reader 3}}.id = {{.Key9}};

-- name: statement-query-10
SELECT * FROM {{frag .Reader 2}}, {{frag .Reader 4}} WHERE {{frag .Reader 2}}.val1 = {{frag .Reader 4}}.id AND {{frag .Reader 4}}.id = {{.Key10}};

-- name: statement-query-11
SELECT sum({{frag .Reader 2}}.val2) FROM {{frag .Reader 2}}, {{frag .Reader 4}} WHERE {{frag .Reader 2}}.val1 = {{frag .Reader 4}}.id AND {{frag .Reader 4}}.id = {{.Key11}};

-- Of the load beside a backup: val5 is in no check and in no index.
-- name: statement-beside
UPDATE frag4 SET val5 = ?2 WHERE id = ?1;
