-- Workload temp on PostgreSQL. A cycle creates a temporary table, fills it, sorts
-- it into a second one, joins both and drops them, in one transaction; the rows
-- follow from the formula in package workload. Where the tables lay goes into
-- fw_places: PostgreSQL gives each new one the next of temp_tablespaces. Sorts and
-- joins that do not fit into work_mem write there too.

-- name: tables
{{range .Tables}}{{range .Leaves}}
CREATE TABLE {{ident .Name}} (worker bigint NOT NULL, last bigint NOT NULL, cycles bigint NOT NULL, total bigint NOT NULL) WITH (fillfactor = 10);
INSERT INTO {{ident .Name}} SELECT w, 0, 0, 0 FROM generate_series(0, {{$.Connections}} - 1) w;
{{- end}}{{end}}
CREATE SCHEMA filewise;
CREATE UNLOGGED TABLE filewise.fw_places (worker bigint NOT NULL, space oid NOT NULL, bytes bigint NOT NULL, PRIMARY KEY (worker, space)) WITH (fillfactor = 10);

-- name: procedure-cycle whole
CREATE PROCEDURE fw_cycle(worker bigint, first bigint, amount bigint) LANGUAGE plpgsql AS $fw$
#variable_conflict use_column
DECLARE
  i bigint := first;
  me bigint := worker;
  n bigint;
  s bigint;
BEGIN
  WHILE i < first + amount LOOP
    CREATE TEMPORARY TABLE fw_filled (id bigint NOT NULL, x bigint NOT NULL, payload text NOT NULL) ON COMMIT DROP;
    INSERT INTO fw_filled
    SELECT r, x, rpad(md5(x::text), {{.RowBytes}}, md5(x::text))
      FROM (SELECT r, (((i * {{.Connections}} + me) % {{.Modulus}} * {{.Rows}} + r) % {{.Modulus}} * {{.A}} + {{.B}}) % {{.Modulus}} AS x
              FROM generate_series(0::bigint, {{.Rows}} - 1) r) made;
    INSERT INTO filewise.fw_places SELECT me, reltablespace, pg_table_size(oid) FROM pg_class WHERE oid = 'fw_filled'::regclass
    ON CONFLICT (worker, space) DO UPDATE SET bytes = fw_places.bytes + excluded.bytes;
{{- if ne .Cycle "fill"}}
    CREATE TEMPORARY TABLE fw_sorted (id bigint NOT NULL, x bigint NOT NULL, payload text NOT NULL) ON COMMIT DROP;
    INSERT INTO fw_sorted SELECT id, x, payload FROM fw_filled ORDER BY x, id;
    INSERT INTO filewise.fw_places SELECT me, reltablespace, pg_table_size(oid) FROM pg_class WHERE oid = 'fw_sorted'::regclass
    ON CONFLICT (worker, space) DO UPDATE SET bytes = fw_places.bytes + excluded.bytes;
{{- end}}
{{- if eq .Cycle "join"}}
    SELECT count(*), sum(b.x) INTO n, s FROM fw_filled a JOIN fw_sorted b ON a.id = b.id AND a.payload = b.payload;
{{- else if eq .Cycle "sort"}}
    SELECT count(*), sum(x) INTO n, s FROM fw_sorted WHERE length(payload) = {{.RowBytes}};
{{- else}}
    SELECT count(*), sum(x) INTO n, s FROM fw_filled WHERE length(payload) = {{.RowBytes}};
{{- end}}
    IF n <> {{.Rows}} THEN
      RAISE EXCEPTION 'a temporary table of {{.Rows}} rows gave %', n;
    END IF;
    UPDATE {{ident .T.Name}} SET last = i * {{.Connections}} + me + 1, cycles = cycles + 1, total = (total + s) % {{.Modulus}} WHERE worker = me;
    COMMIT;
    i := i + 1;
  END LOOP;
END
$fw$

-- name: call-cycle
CALL fw_cycle($1, $2, $3);

-- Whether an operation is committed, by its number.
-- name: committed-cycle
SELECT count(*) FROM {{ident .T.Name}} WHERE worker = ($1::bigint - 1) % {{.Connections}} AND last >= $1::bigint;

-- name: check
SELECT worker, cycles, total FROM {{ident (index .Tables 0).Name}} ORDER BY worker;

-- What tables have taken in each tablespace, all together, in bytes.
-- name: places
SELECT coalesce(s.spcname::text, ''), sum(p.bytes)::bigint FROM filewise.fw_places p LEFT JOIN pg_tablespace s ON s.oid = p.space GROUP BY s.spcname;

-- Which tablespaces a session's temporary tables really go to: PostgreSQL begins
-- with any of temp_tablespaces and takes the next for each further table of a
-- transaction.
-- name: witness
CREATE TEMPORARY TABLE fw_witness_{{.T.Number}} (x integer) ON COMMIT DROP;

-- name: witnessed
SELECT coalesce(s.spcname::text, ''), coalesce(pg_relation_filepath(c.oid), '')
  FROM pg_class c LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace WHERE c.relname LIKE 'fw\_witness\_%' AND c.relpersistence = 't';
