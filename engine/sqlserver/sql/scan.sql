-- Workloads scan and backup on SQL Server: four tables of the same definition.
-- Tables are clustered by their keys from the start, so that they stay interleaved
-- as they are loaded in turns; the other indexes come after the load.

-- name: tables
{{range $i, $name := .Loaded}}
CREATE TABLE dbo.{{ident $name}} (
  id int NOT NULL,
  name varchar(300) COLLATE Latin1_General_BIN2 NULL,
  address varchar(1000) COLLATE Latin1_General_BIN2 NULL,
  state char(2) COLLATE Latin1_General_BIN2 NULL,
  val1 int NULL,
  val2 int NULL,
  val3 int NULL,
  val4 int NULL,
  val5 int NULL,
  CONSTRAINT {{ident (print $name "_key")}} PRIMARY KEY CLUSTERED (id)
) ON [PRIMARY];
{{end}}

-- name: indexes
{{range .Loaded}}
CREATE INDEX {{ident (print . "_name")}} ON dbo.{{ident .}} (name) ON {{ident $.IndexPlace}};
CREATE INDEX {{ident (print . "_values")}} ON dbo.{{ident .}} (val1, val2) ON {{ident $.IndexPlace}};
UPDATE STATISTICS dbo.{{ident .}};
{{end}}

-- name: check
{{range $number, $name := .Loaded}}
SELECT CAST({{$number}} + 1 AS bigint), COUNT_BIG(*), SUM(CAST(id AS bigint)), SUM(CAST(val1 AS bigint)) FROM dbo.{{ident $name}};
{{end}}

-- name: statement-query-1
-- The key as a text, as published: the server makes it a number.
SELECT * FROM dbo.{{frag .Reader 1}} WHERE id = '{{.Key1}}';

-- name: statement-query-2
SELECT * FROM dbo.{{frag .Reader 1}} WHERE val1 < 1000 ORDER BY (SELECT NULL) OFFSET 1 ROWS FETCH NEXT 1 ROWS ONLY;

-- name: statement-query-3
SELECT * FROM dbo.{{frag .Reader 1}} WHERE id = {{.Key3}};

-- name: statement-query-4
-- A sum of int is an int, which would overflow.
SELECT COUNT_BIG(*), SUM(CAST(val1 AS bigint)), SUM(CAST(val2 AS bigint)), AVG(CAST(val3 AS bigint)) FROM dbo.{{frag .Reader 1}} WHERE val4 < 10000;

-- name: statement-query-5
SELECT SUM(CAST(val4 AS bigint) + val5) FROM dbo.{{frag .Reader 2}};

-- name: statement-query-6
SELECT * FROM dbo.{{frag .Reader 3}} WHERE val1 = 5718;

-- name: statement-query-7
SELECT * FROM dbo.{{frag .Reader 4}} WHERE val1 > 5700 AND val2 < 10000 AND val3 = 14242;

-- name: statement-query-8
-- Numbers against a text, as published: the server makes the text a number.
SELECT COUNT_BIG(*), SUM(CAST(val1 AS bigint)), SUM(CAST(val2 AS bigint)), AVG(CAST(val3 AS bigint)) FROM dbo.{{frag .Reader 1}}
WHERE state IN (94, 84, 35, 36, 11, 12, 99, 50) GROUP BY state;

-- name: statement-query-9
SELECT * FROM dbo.{{frag .Reader 1}} JOIN dbo.{{frag .Reader 3}} ON {{frag .Reader 3}}.val1 = {{frag .Reader 1}}.id WHERE {{frag .Reader 3}}.id = {{.Key9}};

-- name: statement-query-10
SELECT * FROM dbo.{{frag .Reader 2}} JOIN dbo.{{frag .Reader 4}} ON {{frag .Reader 2}}.val1 = {{frag .Reader 4}}.id WHERE {{frag .Reader 4}}.id = {{.Key10}};

-- name: statement-query-11
SELECT SUM(CAST({{frag .Reader 2}}.val2 AS bigint)) FROM dbo.{{frag .Reader 2}} JOIN dbo.{{frag .Reader 4}} ON {{frag .Reader 2}}.val1 = {{frag .Reader 4}}.id WHERE {{frag .Reader 4}}.id = {{.Key11}};

-- Of the load beside a backup: val5 is in no check and in no index.
-- name: statement-beside
UPDATE dbo.frag4 SET val5 = CAST(@p2 AS int) WHERE id = CAST(@p1 AS int);
