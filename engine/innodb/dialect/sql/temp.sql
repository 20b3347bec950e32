-- Workload temp on MariaDB. A cycle creates a temporary table, fills it, sorts it
-- into a second one, joins both and drops them, in one transaction; the rows
-- follow from the formula in package workload, numbered by the sequence engine.

-- name: tables
{{range .Tables}}
CREATE TABLE {{in $.Database .Name}} (
  worker BIGINT NOT NULL PRIMARY KEY,
  last   BIGINT NOT NULL,
  cycles BIGINT NOT NULL,
  total  BIGINT NOT NULL
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC{{.Options}};
INSERT INTO {{in $.Database .Name}} SELECT seq - 1, 0, 0, 0 FROM {{in $.Database (print "seq_1_to_" $.Connections)}};
{{end}}

-- What an interrupted call has left of the session's own goes first.
-- name: procedure-cycle whole
CREATE PROCEDURE {{in .Database "fw_cycle"}}(IN me BIGINT, IN first BIGINT, IN amount BIGINT)
  MODIFIES SQL DATA
BEGIN
  DECLARE i BIGINT DEFAULT first;
  DECLARE n, s BIGINT;
  DROP TEMPORARY TABLE IF EXISTS fw_filled, fw_sorted;
  WHILE i < first + amount DO
    START TRANSACTION;
    CREATE TEMPORARY TABLE fw_filled (id BIGINT NOT NULL, x BIGINT NOT NULL, payload {{.PayloadType}} NOT NULL) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;
    INSERT INTO fw_filled
    SELECT r, x, RPAD(MD5(x), {{.RowBytes}}, MD5(x))
      FROM (SELECT seq AS r, (((i * {{.Connections}} + me) MOD {{.Modulus}} * {{.Rows}} + seq) MOD {{.Modulus}} * {{.A}} + {{.B}}) MOD {{.Modulus}} AS x
              FROM seq_0_to_{{.Last}}) made;
{{- if ne .Cycle "fill"}}
    CREATE TEMPORARY TABLE fw_sorted (id BIGINT NOT NULL PRIMARY KEY, x BIGINT NOT NULL, payload {{.PayloadType}} NOT NULL) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;
    INSERT INTO fw_sorted SELECT id, x, payload FROM fw_filled ORDER BY x, id;
{{- end}}
{{- if eq .Cycle "join"}}
    SELECT COUNT(*), SUM(b.x) INTO n, s FROM fw_filled a JOIN fw_sorted b ON a.id = b.id AND a.payload = b.payload;
{{- else if eq .Cycle "sort"}}
    SELECT COUNT(*), SUM(x) INTO n, s FROM fw_sorted WHERE CHAR_LENGTH(payload) = {{.RowBytes}};
{{- else}}
    SELECT COUNT(*), SUM(x) INTO n, s FROM fw_filled WHERE CHAR_LENGTH(payload) = {{.RowBytes}};
{{- end}}
    IF n <> {{.Rows}} THEN
      SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'a temporary table has lost rows';
    END IF;
    DROP TEMPORARY TABLE fw_filled{{if ne .Cycle "fill"}}, fw_sorted{{end}};
    UPDATE {{in .Database .TableName}} SET last = i * {{.Connections}} + me + 1, cycles = cycles + 1, total = (total + s) MOD {{.Modulus}} WHERE worker = me;
    COMMIT;
    SET i = i + 1;
  END WHILE;
END

-- name: call-cycle
CALL {{in .Database "fw_cycle"}}(?, ?, ?)

-- Whether an operation is committed, by its number.
-- name: committed-cycle
SELECT COUNT(*) FROM {{in .Database .TableName}} f JOIN (SELECT ? AS op) o ON f.worker = (o.op - 1) MOD {{.Connections}} AND f.last >= o.op

-- name: check
SELECT worker, cycles, total FROM {{in .Database (index .Tables 0).Name}} ORDER BY worker;
