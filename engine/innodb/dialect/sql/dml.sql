-- Workload dml on MariaDB and MySQL: one table, as published without an index
-- unless --index key. A procedure for each operation loops on the server over the
-- operations First … First+Count−1 of a worker, each a transaction of its own;
-- operation i is on row i × Step + worker + 1, whose values follow from its key by
-- the formula in package workload. In the statements that the client sends, ?1 is
-- the operation's first argument, its key.

-- name: tables
{{range .Tables}}
CREATE TABLE {{in $.Database .Name}} (
  `key`        BIGINT NOT NULL,
  random_int   INT NOT NULL,
  random_float DOUBLE NOT NULL
{{- if $.Index}},
  UNIQUE INDEX fw_key (`key`)
{{- end}}
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC{{.Options}};
{{end}}

-- name: procedure-insert whole
CREATE PROCEDURE {{in .Database "fw_insert"}}(IN worker BIGINT, IN first BIGINT, IN amount BIGINT, IN step BIGINT)
  MODIFIES SQL DATA
BEGIN
  DECLARE i BIGINT DEFAULT first;
  DECLARE k, x BIGINT;
  WHILE i < first + amount DO
    SET k = i * step + worker + 1;
    SET x = (k MOD {{.Modulus}} * {{.A}} + {{.B}}) MOD {{.Modulus}};
    INSERT INTO {{in .Database .TableName}} (`key`, random_int, random_float) VALUES (k, x, x MOD {{.FloatSteps}} / {{.FloatSteps}}e0);
    SET i = i + 1;
  END WHILE;
END

-- name: procedure-select whole
CREATE PROCEDURE {{in .Database "fw_select"}}(IN worker BIGINT, IN first BIGINT, IN amount BIGINT, IN step BIGINT)
  READS SQL DATA
BEGIN
  DECLARE i BIGINT DEFAULT first;
  DECLARE k, x BIGINT;
  DECLARE y DOUBLE;
  WHILE i < first + amount DO
    SET k = (i * step + worker) MOD {{.Rows}} + 1;
    SELECT random_int, random_float INTO x, y FROM {{in .Database .TableName}} WHERE `key` = k;
    SET i = i + 1;
  END WHILE;
END

-- name: procedure-update procedure-delete whole
CREATE PROCEDURE {{in .Database (print "fw_" op)}}(IN worker BIGINT, IN first BIGINT, IN amount BIGINT, IN step BIGINT)
  MODIFIES SQL DATA
BEGIN
  DECLARE i BIGINT DEFAULT first;
  DECLARE k{{if eq op "update"}}, x{{end}} BIGINT;
  WHILE i < first + amount DO
    SET k = i * step + worker + 1;
    {{- if eq op "update"}}
    SET x = (k MOD {{.Modulus}} * {{.A}} + {{.B}}) MOD {{.Modulus}};
    UPDATE {{in .Database .TableName}} SET random_int = {{.Modulus}} - 1 - x WHERE `key` = k;
    {{- else}}
    DELETE FROM {{in .Database .TableName}} WHERE `key` = k;
    {{- end}}
    SET i = i + 1;
  END WHILE;
END

-- name: connection
SET autocommit = 1;

-- name: call-insert call-select call-update call-delete
CALL {{in .Database (print "fw_" op)}}(?, ?, ?, {{.Connections}});

-- Whether the operation on a key is committed, for calls that were interrupted. A
-- select leaves no trace.
-- name: committed-insert
SELECT COUNT(*) FROM {{in .Database .TableName}} WHERE `key` = ?;

-- name: committed-update
SELECT COUNT(*) FROM {{in .Database .TableName}} WHERE `key` = ?
  AND random_int = {{.Modulus}} - 1 - (`key` MOD {{.Modulus}} * {{.A}} + {{.B}}) MOD {{.Modulus}};

-- name: committed-delete
SELECT COUNT(*) = 0 FROM {{in .Database .TableName}} WHERE `key` = ?;

-- name: statement-insert
INSERT INTO {{in .Database .TableName}} (`key`, random_int, random_float) VALUES (?1, ?2, ?3);

-- name: statement-select
SELECT random_int, random_float FROM {{in .Database .TableName}} WHERE `key` = ?1;

-- name: statement-update
UPDATE {{in .Database .TableName}} SET random_int = ?2 WHERE `key` = ?1;

-- name: statement-delete
DELETE FROM {{in .Database .TableName}} WHERE `key` = ?1;

-- name: check
SELECT COUNT(*), SUM(`key`), SUM(random_int), SUM(CAST(random_float * {{.FloatSteps}} AS SIGNED)) FROM {{in .Database .TableName}};
