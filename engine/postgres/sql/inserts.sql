-- Workload inserts on PostgreSQL. The server itself generates the rows, by the
-- formula in package workload: q = i × connections + worker numbers the row, x
-- and y follow from it.
--
-- A table has leaves: itself, or partitions. Each has its primary key in a file
-- beside its own (.Index names a tablespace where that lies elsewhere); .Options
-- are storage parameters and the leaf's tablespace.

-- name: tables
{{range .Tables}}
{{- if .Partitioned}}
CREATE TABLE {{ident .Name}} (id bigint NOT NULL, payload text NOT NULL) PARTITION BY HASH (id);
{{- if $.Wide}}
ALTER TABLE {{ident .Name}} ALTER COLUMN payload SET STORAGE EXTERNAL;
{{- end}}
{{- range .Leaves}}
CREATE TABLE {{ident .Name}} PARTITION OF {{ident .Of}} (PRIMARY KEY (id){{.Index}}) {{.Values}}{{.Options}};
{{- end}}
ALTER TABLE {{ident .Name}} ADD PRIMARY KEY (id);
{{- else}}
{{- range .Leaves}}
CREATE TABLE {{ident .Name}} (id bigint NOT NULL, payload text NOT NULL, PRIMARY KEY (id){{.Index}}){{.Options}};
{{- if $.Wide}}
ALTER TABLE {{ident .Name}} ALTER COLUMN payload SET STORAGE EXTERNAL;
{{- end}}
{{- end}}
{{- end}}
{{end}}

-- One call inserts rows first … first+amount−1 of a worker. A transaction has
-- CommitEvery rows. The pool is bytes, since a text is searched from its start in
-- encodings of several bytes.
-- name: procedure-insert whole
CREATE PROCEDURE {{ident .T.Procedure}}(worker bigint, first bigint, amount bigint) LANGUAGE plpgsql AS $fw$
DECLARE
  i bigint := first; -- FOR counts in integers of 4 bytes
  x bigint;
  y bigint;
  pool bytea := convert_to(current_setting('filewise.pool'), 'UTF8');
{{- if gt .CommitEvery 1}}
  open_rows bigint := 0;
{{- end}}
BEGIN
  WHILE i < first + amount LOOP
    x := ((i * {{.Connections}} + worker) % {{.Modulus}} * {{.A}} + {{.B}}) % {{.Modulus}};
    y := x * x % {{.Modulus}};
    INSERT INTO {{ident .T.Name}} VALUES (
{{- if eq .Key "random"}}
      y * y % {{.Modulus}} * x % {{.Modulus}} + 1,
{{- else}}
      i * {{.Connections}} + worker + 1,
{{- end}}
      convert_from(substr(pool, (y % {{.PoolSpan}})::integer + 1, {{.RowBytes}}), 'UTF8'));
    i := i + 1;
{{- if gt .CommitEvery 1}}
    open_rows := open_rows + 1;
    IF open_rows = {{.CommitEvery}} THEN
      COMMIT;
      open_rows := 0;
    END IF;
  END LOOP;
  COMMIT;
{{- else}}
    COMMIT;
  END LOOP;
{{- end}}
{{- if .Flushes}}
  PERFORM pg_stat_force_next_flush(); -- what was counted is seen at the call's end, not up to a second later
{{- end}}
END
$fw$

-- What a new connection needs: the text that payloads are cut from.
-- name: connection
SET filewise.pool = {{literal .Pool}};

-- name: call-insert
CALL {{ident .T.Procedure}}($1, $2, $3);

-- The same rows in one transaction, a third as long: what is there before the work begins.
-- name: fill-insert
INSERT INTO {{ident .T.Name}}
SELECT {{if eq .Key "random"}}y * y % {{.Modulus}} * x % {{.Modulus}} + 1{{else}}i * {{.Connections}} + $1 + 1{{end}},
  convert_from(substr(pool, (y % {{.PoolSpan}})::integer + 1, {{.RowBytes}}), 'UTF8')
FROM (SELECT convert_to(current_setting('filewise.pool'), 'UTF8') AS pool OFFSET 0) p, (SELECT i, x, x * x % {{.Modulus}} AS y
  FROM (SELECT i, ((i * {{.Connections}} + $1::bigint) % {{.Modulus}} * {{.A}} + {{.B}}) % {{.Modulus}} AS x
    FROM generate_series($2::bigint, $2::bigint + $3::bigint - 1) i OFFSET 0) x OFFSET 0) y;

-- Whether the row of a key is committed, for calls that were interrupted.
-- name: committed-insert
SELECT count(*) FROM {{ident .T.Name}} WHERE id = $1;

-- Rows, and the sum over them of the CRC-32 (IEEE) of "id,payload". Before
-- PostgreSQL 18, which has crc32, the rows come as lines of "id,payload", and
-- Filewise sums them up: SQL would take minutes for what this takes seconds.
-- name: check
{{range .Tables}}
{{- if $.ServerCRC}}
SELECT count(*), sum(crc32(convert_to(id || ',' || payload, 'UTF8')))::bigint FROM {{ident .Name}};
{{- else}}
COPY (SELECT id, payload FROM {{ident .Name}}) TO STDOUT (FORMAT text, DELIMITER ',');
{{- end}}
{{end}}

-- name: last
SELECT greatest(0{{range .Tables}}, (SELECT coalesce(max(id), 0) FROM {{ident .Name}}){{end}})::bigint;

-- Added later, for new data: the loaded table becomes the partition of all keys
-- below From; keys from there on go to the added files by hash. A connection that
-- lags behind the others has a few keys of its own below From.
-- name: new-data
{{range .Tables}}
ALTER TABLE {{ident .Name}} RENAME TO {{ident .Loaded}};
CREATE TABLE {{ident .Name}} (id bigint NOT NULL, payload text NOT NULL, PRIMARY KEY (id)) PARTITION BY RANGE (id);
{{- if $.Wide}}
ALTER TABLE {{ident .Name}} ALTER COLUMN payload SET STORAGE EXTERNAL;
{{- end}}
ALTER TABLE {{ident .Name}} ATTACH PARTITION {{ident .Loaded}} FOR VALUES FROM (MINVALUE) TO ({{$.From}});
CREATE TABLE {{ident .New}} (id bigint NOT NULL, payload text NOT NULL) PARTITION BY HASH (id);
{{- if $.Wide}}
ALTER TABLE {{ident .New}} ALTER COLUMN payload SET STORAGE EXTERNAL;
{{- end}}
{{- range .Added}}
CREATE TABLE {{ident .Name}} PARTITION OF {{ident .Of}} (PRIMARY KEY (id){{.Index}}) {{.Values}}{{.Options}};
{{- end}}
ALTER TABLE {{ident .New}} ADD PRIMARY KEY (id);
ALTER TABLE {{ident .Name}} ATTACH PARTITION {{ident .New}} FOR VALUES FROM ({{$.From}}) TO (MAXVALUE);
{{end}}

-- Added later, and rebuilt: all rows move into partitions by hash.
-- name: rebuilt
{{range .Tables}}
ALTER TABLE {{ident .Name}} RENAME TO {{ident .Loaded}};
CREATE TABLE {{ident .Name}} (id bigint NOT NULL, payload text NOT NULL) PARTITION BY HASH (id);
{{- if $.Wide}}
ALTER TABLE {{ident .Name}} ALTER COLUMN payload SET STORAGE EXTERNAL;
{{- end}}
{{- range .Added}}
CREATE TABLE {{ident .Name}} PARTITION OF {{ident .Of}} (PRIMARY KEY (id){{.Index}}) {{.Values}}{{.Options}};
{{- end}}
ALTER TABLE {{ident .Name}} ADD PRIMARY KEY (id);
INSERT INTO {{ident .Name}} SELECT id, payload FROM {{ident .Loaded}};
DROP TABLE {{ident .Loaded}};
{{end}}
