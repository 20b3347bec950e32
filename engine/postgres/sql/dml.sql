-- Workload dml on PostgreSQL: single rows by key, in a loop on the server with a
-- commit for each, or as statements of the client's. Row k follows from k by the
-- formula in package workload.
--
-- A table has leaves: itself, or partitions. .Values and .Options are a leaf's
-- bounds and tablespace, .IndexSpace the tablespace of its index.

-- name: tables
{{range .Tables}}
{{- if .Partitioned}}
CREATE TABLE {{ident .Name}} (key integer NOT NULL, random_int integer NOT NULL, random_float double precision NOT NULL) PARTITION BY HASH (key);
{{- end}}
{{- range .Leaves}}
{{- if .Of}}
CREATE TABLE {{ident .Name}} PARTITION OF {{ident .Of}} {{.Values}}{{.Options}};
{{- else}}
CREATE TABLE {{ident .Name}} (key integer NOT NULL, random_int integer NOT NULL, random_float double precision NOT NULL){{.Options}};
{{- end}}
{{- if $.Index}}
CREATE UNIQUE INDEX {{ident (print .Name "_key")}} ON {{ident .Name}} (key){{.IndexSpace}};
{{- end}}
{{- end}}
{{- if and .Partitioned $.Index}}
CREATE UNIQUE INDEX {{ident (print .Name "_key")}} ON {{ident .Name}} (key);
{{- end}}
{{end}}

-- One call does operations first … first+amount−1 of a worker, each committed.
-- name: procedure-insert whole
CREATE PROCEDURE fw_insert(worker bigint, first bigint, amount bigint) LANGUAGE plpgsql AS $fw$
DECLARE
  i bigint := first;
  k bigint;
  x bigint;
BEGIN
  WHILE i < first + amount LOOP
    k := i * {{.Connections}} + worker + 1;
    x := (k % {{.Modulus}} * {{.A}} + {{.B}}) % {{.Modulus}};
    INSERT INTO {{ident .T.Name}} VALUES (k, x, (x % {{.FloatSteps}})::double precision / {{.FloatSteps}});
    COMMIT;
    i := i + 1;
  END LOOP;
END
$fw$

-- name: procedure-select whole
CREATE PROCEDURE fw_select(worker bigint, first bigint, amount bigint) LANGUAGE plpgsql AS $fw$
DECLARE
  i bigint := first;
  k integer;
  x integer;
  y double precision;
BEGIN
  WHILE i < first + amount LOOP
    k := (i * {{.Connections}} + worker) % {{.Rows}} + 1;
    SELECT random_int, random_float INTO STRICT x, y FROM {{ident .T.Name}} WHERE key = k;
    COMMIT;
    i := i + 1;
  END LOOP;
END
$fw$

-- name: procedure-update procedure-delete whole
CREATE PROCEDURE fw_{{op}}(worker bigint, first bigint, amount bigint) LANGUAGE plpgsql AS $fw$
DECLARE
  i bigint := first;
  k integer;
BEGIN
  WHILE i < first + amount LOOP
    k := i * {{.Connections}} + worker + 1;
    {{- if eq op "update"}}
    UPDATE {{ident .T.Name}} SET random_int = {{.Modulus}} - 1 - (k::bigint % {{.Modulus}} * {{.A}} + {{.B}}) % {{.Modulus}} WHERE key = k;
    {{- else}}
    DELETE FROM {{ident .T.Name}} WHERE key = k;
    {{- end}}
    IF NOT FOUND THEN
      RAISE EXCEPTION 'there is no row with key %', k;
    END IF;
    COMMIT;
    i := i + 1;
  END LOOP;
END
$fw$

-- name: call-insert call-select call-update call-delete
CALL fw_{{op}}($1, $2, $3);

-- name: statement-insert
INSERT INTO {{ident .T.Name}} VALUES ($1, $2, $3);

-- name: statement-select
SELECT random_int, random_float FROM {{ident .T.Name}} WHERE key = $1;

-- name: statement-update
UPDATE {{ident .T.Name}} SET random_int = $2 WHERE key = $1;

-- name: statement-delete
DELETE FROM {{ident .T.Name}} WHERE key = $1;

-- Whether an operation is committed, by its arguments, for calls that were
-- interrupted. Of a select nothing tells.
-- name: committed-insert
SELECT count(*) FROM {{ident .T.Name}} WHERE key = $1 AND random_int = $2 AND random_float = $3;

-- name: committed-update
SELECT count(*) FROM {{ident .T.Name}} WHERE key = $1 AND random_int = $2;

-- name: committed-delete
SELECT 1 - count(*) FROM {{ident .T.Name}} WHERE key = $1;

-- name: check
{{range .Tables}}
SELECT count(*), sum(key)::bigint, sum(random_int)::bigint, sum((random_float * {{$.FloatSteps}})::bigint)::bigint FROM {{ident .Name}};
{{end}}
