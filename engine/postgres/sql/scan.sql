-- Workloads scan, backup and dump on PostgreSQL: four tables of the same
-- definition, each spread as the layout says. Keys and indexes come after the load.
--
-- A table has leaves: itself, or partitions. .Values and .Options are a leaf's
-- bounds and tablespace, .Index and .IndexSpace the tablespace of its indexes.

-- name: tables
{{range .Tables}}
{{- if .Partitioned}}
CREATE TABLE {{ident .Name}} (
  id integer NOT NULL, name varchar(300), address varchar(1000), state char(2),
  val1 integer, val2 integer, val3 integer, val4 integer, val5 integer
) PARTITION BY HASH (id);
{{- end}}
{{- range .Leaves}}
{{- if .Of}}
CREATE TABLE {{ident .Name}} PARTITION OF {{ident .Of}} {{.Values}}{{.Options}};
{{- else}}
CREATE TABLE {{ident .Name}} (
  id integer NOT NULL, name varchar(300), address varchar(1000), state char(2),
  val1 integer, val2 integer, val3 integer, val4 integer, val5 integer
){{.Options}};
{{- end}}
{{- end}}
{{end}}

-- Those of partitions first, where each lies is said; the table's then take them over.
-- name: indexes
{{range .Tables}}
{{- range .Leaves}}
ALTER TABLE {{ident .Name}} ADD PRIMARY KEY (id){{.Index}};
CREATE INDEX {{ident (print .Name "_name")}} ON {{ident .Name}} (name){{.IndexSpace}};
CREATE INDEX {{ident (print .Name "_values")}} ON {{ident .Name}} (val1, val2){{.IndexSpace}};
{{- end}}
{{- if .Partitioned}}
ALTER TABLE {{ident .Name}} ADD PRIMARY KEY (id);
CREATE INDEX {{ident (print .Name "_name")}} ON {{ident .Name}} (name);
CREATE INDEX {{ident (print .Name "_values")}} ON {{ident .Name}} (val1, val2);
{{- end}}
{{end}}

-- name: check
{{range .Tables}}
SELECT {{.Number}}::bigint, count(*), sum(id)::bigint, sum(val1)::bigint FROM {{ident .Name}};
{{end}}

-- The key as a text without a type, as published.
-- name: statement-query-1
SELECT * FROM {{frag .Reader 1}} WHERE id = '{{.Key1}}';

-- name: statement-query-2
SELECT * FROM {{frag .Reader 1}} WHERE val1 < 1000 LIMIT 1 OFFSET 1;

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

-- PostgreSQL compares no text with numbers: the text is made one.
-- name: statement-query-8
SELECT count(*), sum(val1), sum(val2), avg(val3) FROM {{frag .Reader 1}}
WHERE state::integer IN (94, 84, 35, 36, 11, 12, 99, 50) GROUP BY state;

-- name: statement-query-9
SELECT * FROM {{frag .Reader 1}}, {{frag .Reader 3}} WHERE {{frag .Reader 3}}.val1 = {{frag .Reader 1}}.id AND {{frag .Reader 3}}.id = {{.Key9}};

-- name: statement-query-10
SELECT * FROM {{frag .Reader 2}}, {{frag .Reader 4}} WHERE {{frag .Reader 2}}.val1 = {{frag .Reader 4}}.id AND {{frag .Reader 4}}.id = {{.Key10}};

-- name: statement-query-11
SELECT sum({{frag .Reader 2}}.val2) FROM {{frag .Reader 2}}, {{frag .Reader 4}} WHERE {{frag .Reader 2}}.val1 = {{frag .Reader 4}}.id AND {{frag .Reader 4}}.id = {{.Key11}};

-- Of the load beside a backup: val5 is in no check and in no index.
-- name: statement-beside
UPDATE frag4 SET val5 = $2 WHERE id = $1;
