-- Workload dml on Oracle: single rows by key, in a loop on the server with a commit
-- for each, or as blocks that the client sends: a block commits as the durability
-- says, which a statement by itself could not. Row k follows from k by the formula
-- in package workload. The driver takes NO_DATA_FOUND for the end of a query, so it is
-- raised anew.

-- name: tables
CREATE TABLE {{ident .T.dml}} (
  "KEY" NUMBER(10) NOT NULL,
  random_int NUMBER(10) NOT NULL,
  random_float BINARY_DOUBLE NOT NULL
) SEGMENT CREATION IMMEDIATE PCTFREE {{.PctFree}} PCTUSED {{.PctUsed}} TABLESPACE {{ident .Tablespace}};
{{- if .Index}}
CREATE UNIQUE INDEX {{ident .X.dml}} ON {{ident .T.dml}} ("KEY") TABLESPACE {{ident .IndexTablespace}};
{{- end}}

-- name: procedure-insert whole
-- One call does operations p_first … p_first+p_amount−1 of a worker.
CREATE PROCEDURE {{ident .P.insert}} (p_worker IN NUMBER, p_first IN NUMBER, p_amount IN NUMBER) AS
  i NUMBER(20) := p_first;
  k NUMBER(20);
  x NUMBER(20);
BEGIN
  WHILE i < p_first + p_amount LOOP
    k := i * {{.Connections}} + p_worker + 1;
    x := MOD(MOD(k, {{.Modulus}}) * {{.A}} + {{.B}}, {{.Modulus}});
    INSERT INTO {{ident .T.dml}} ("KEY", random_int, random_float) VALUES (k, x, MOD(x, {{.FloatSteps}}) / {{.FloatSteps}});
    {{.Commit}};
    i := i + 1;
  END LOOP;
END;

-- name: procedure-select whole
CREATE PROCEDURE {{ident .P.select}} (p_worker IN NUMBER, p_first IN NUMBER, p_amount IN NUMBER) AS
  i NUMBER(20) := p_first;
  k NUMBER(20);
{{- if .Published}}
BEGIN
  WHILE i < p_first + p_amount LOOP
    k := MOD(i * {{.Connections}} + p_worker, {{.Rows}}) + 1;
    EXECUTE IMMEDIATE 'SELECT random_int, random_float FROM {{ident .T.dml}} WHERE "KEY" = ' || k;
    i := i + 1;
  END LOOP;
END;
{{- else}}
  v_int NUMBER(20);
  v_float BINARY_DOUBLE;
BEGIN
  WHILE i < p_first + p_amount LOOP
    k := MOD(i * {{.Connections}} + p_worker, {{.Rows}}) + 1;
    SELECT random_int, random_float INTO v_int, v_float FROM {{ident .T.dml}} WHERE "KEY" = k;
    i := i + 1;
  END LOOP;
EXCEPTION
  WHEN NO_DATA_FOUND THEN
    RAISE_APPLICATION_ERROR(-20010, 'there is no row with that key');
END;
{{- end}}

-- name: procedure-update procedure-delete whole
CREATE PROCEDURE {{ident (index .P op)}} (p_worker IN NUMBER, p_first IN NUMBER, p_amount IN NUMBER) AS
  i NUMBER(20) := p_first;
  k NUMBER(20);
  {{- if eq op "update"}}
  x NUMBER(20);
  {{- end}}
BEGIN
  WHILE i < p_first + p_amount LOOP
    k := i * {{.Connections}} + p_worker + 1;
    {{- if eq op "update"}}
    x := MOD(MOD(k, {{.Modulus}}) * {{.A}} + {{.B}}, {{.Modulus}});
    UPDATE {{ident .T.dml}} SET random_int = {{.Modulus}} - 1 - x WHERE "KEY" = k;
    {{- else}}
    DELETE FROM {{ident .T.dml}} WHERE "KEY" = k;
    {{- end}}
    IF SQL%ROWCOUNT <> 1 THEN
      RAISE_APPLICATION_ERROR(-20010, 'there is no row with that key');
    END IF;
    {{.Commit}};
    i := i + 1;
  END LOOP;
END;

-- name: call-insert call-select call-update call-delete whole
BEGIN
  {{ident (index .P op)}}(:1, :2, :3);
END;

-- name: statement-insert whole
BEGIN
  INSERT INTO {{ident .T.dml}} ("KEY", random_int, random_float) VALUES (:1, :2, :3);
  {{.Commit}};
END;

-- name: statement-select
SELECT random_int, random_float FROM {{ident .T.dml}} WHERE "KEY" = :1;

-- name: statement-update whole
-- Binds of a block are bound by their places: the key comes first.
DECLARE
  k NUMBER(20) := :1;
BEGIN
  UPDATE {{ident .T.dml}} SET random_int = :2 WHERE "KEY" = k;
  IF SQL%ROWCOUNT <> 1 THEN
    RAISE_APPLICATION_ERROR(-20010, 'there is no row with that key');
  END IF;
  {{.Commit}};
END;

-- name: statement-delete whole
BEGIN
  DELETE FROM {{ident .T.dml}} WHERE "KEY" = :1;
  IF SQL%ROWCOUNT <> 1 THEN
    RAISE_APPLICATION_ERROR(-20010, 'there is no row with that key');
  END IF;
  {{.Commit}};
END;

-- name: committed-insert
-- Whether an operation is committed, by its arguments, for calls that were
-- interrupted. Of a select nothing tells.
SELECT COUNT(*) FROM {{ident .T.dml}} WHERE "KEY" = :1;

-- name: committed-update
SELECT COUNT(*) FROM {{ident .T.dml}} WHERE "KEY" = :1 AND random_int = :2;

-- name: committed-delete
SELECT 1 - COUNT(*) FROM {{ident .T.dml}} WHERE "KEY" = :1;

-- name: check
SELECT TO_CHAR(COUNT(*)), TO_CHAR(SUM("KEY")), TO_CHAR(SUM(random_int)), TO_CHAR(SUM(CAST(random_float * {{.FloatSteps}} AS NUMBER(10)))) FROM {{ident .T.dml}};
