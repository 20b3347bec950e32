-- Workload inserts on MariaDB and MySQL. The server itself generates the rows, by
-- the formula in package workload: q = i × connections + worker numbers the row,
-- x and y follow from it. {{own}} quotes a name within a database.

-- name: tables
{{range .Tables}}
CREATE TABLE {{in $.Database .Name}} (
  id      BIGINT NOT NULL PRIMARY KEY,
  payload {{$.PayloadType}} CHARACTER SET latin1 COLLATE latin1_bin NOT NULL
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC{{.Options}};
{{end}}

-- One call inserts rows First … First+Count−1 of a worker. A transaction has
-- CommitEvery rows; with one row each, autocommit is on and saves two statements.
-- Cut: a server whose binary log may hold statements logs with each the variables
-- that it reads. The payload is cut first then, or every row would log the pool.
-- name: procedure-insert whole
CREATE PROCEDURE {{in $.Database .Procedure}}(IN worker BIGINT, IN first BIGINT, IN amount BIGINT)
  MODIFIES SQL DATA
BEGIN
  DECLARE i BIGINT DEFAULT first;
  DECLARE x BIGINT;
{{- if .Cut}}
  DECLARE cut {{.PayloadType}} CHARACTER SET latin1 COLLATE latin1_bin;
{{- end}}
{{- if eq .Key "random"}}
  DECLARE y BIGINT;
{{- end}}
{{- if gt .CommitEvery 1}}
  DECLARE open_rows BIGINT DEFAULT 0;
{{- end}}
  WHILE i < first + amount DO
    SET x = ((i * {{.Connections}} + worker) MOD {{.Modulus}} * {{.A}} + {{.B}}) MOD {{.Modulus}};
{{- if eq .Key "random"}}
    SET y = x * x MOD {{.Modulus}};
{{- if .Cut}}
    SET cut = SUBSTRING(@fw_pool, y MOD {{.PoolSpan}} + 1, {{.RowBytes}});
{{- end}}
    INSERT INTO {{in $.Database .TableName}} VALUES (
      y * y MOD {{.Modulus}} * x MOD {{.Modulus}} + 1,
      {{if .Cut}}cut{{else}}SUBSTRING(@fw_pool, y MOD {{.PoolSpan}} + 1, {{.RowBytes}}){{end}});
{{- else}}
{{- if .Cut}}
    SET cut = SUBSTRING(@fw_pool, x * x MOD {{.Modulus}} MOD {{.PoolSpan}} + 1, {{.RowBytes}});
{{- end}}
    INSERT INTO {{in $.Database .TableName}} VALUES (
      i * {{.Connections}} + worker + 1,
      {{if .Cut}}cut{{else}}SUBSTRING(@fw_pool, x * x MOD {{.Modulus}} MOD {{.PoolSpan}} + 1, {{.RowBytes}}){{end}});
{{- end}}
    SET i = i + 1;
{{- if gt .CommitEvery 1}}
    SET open_rows = open_rows + 1;
    IF open_rows = {{.CommitEvery}} THEN
      COMMIT;
      SET open_rows = 0;
    END IF;
{{- end}}
  END WHILE;
{{- if gt .CommitEvery 1}}
  COMMIT;
{{- end}}
END

-- What a new connection needs: the text that payloads are cut from. In pieces,
-- since the driver keeps the largest statement's buffer for each connection.
-- name: connection
SET autocommit = {{if gt .CommitEvery 1}}0{{else}}1{{end}};
SET @fw_pool = CONVERT('' USING latin1);
{{- range pieces .Pool}}
SET @fw_pool = CONCAT(@fw_pool, CONVERT({{literal .}} USING latin1));
{{- end}}

-- name: call-insert
CALL {{in $.Database .Procedure}}(?, ?, ?);

-- Whether the row of a key is committed, for calls that were interrupted.
-- name: committed-insert
SELECT COUNT(*) FROM {{in $.Database .TableName}} WHERE id = ?;

-- Rows, and the sum over them of the CRC-32 (IEEE) of "id,payload".
-- name: check
{{range .Tables}}
SELECT COUNT(*), SUM(CRC32(CONCAT(id, ',', payload))) FROM {{in $.Database .Name}};
{{end}}
