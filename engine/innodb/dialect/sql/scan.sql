-- Workloads scan, backup and dump on MariaDB and MySQL: the article's four tables. Their
-- indexes are created after the load, from sorted keys.

-- name: tables
{{range .Tables}}
CREATE TABLE {{in $.Database .Name}} (
  id      INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name    VARCHAR(300),
  address VARCHAR(1000),
  state   CHAR(2),
  val1    INT,
  val2    INT,
  val3    INT,
  val4    INT,
  val5    INT
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET latin1 COLLATE latin1_swedish_ci{{.Options}};
{{end}}
-- The batches that are loaded.
CREATE TABLE {{in .Database "fw_loaded"}} (
  table_name VARCHAR(64) NOT NULL,
  batch      BIGINT NOT NULL,
  PRIMARY KEY (table_name, batch)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET latin1 COLLATE latin1_bin;

-- name: indexes
ALTER TABLE {{in .Database .TableName}} ADD INDEX fw_name (name), ADD INDEX fw_values (val1, val2);

-- name: check
{{range .Tables}}
SELECT {{.Number}}, COUNT(*), SUM(id), SUM(val1) FROM {{in $.Database .Name}};
{{end}}

-- name: statement-query-1
SELECT * FROM fw_{{frag .Reader 1}} WHERE id = '{{.Key1}}';

-- name: statement-query-2
SELECT * FROM fw_{{frag .Reader 1}} WHERE val1 < 1000 LIMIT 1, 1;

-- name: statement-query-3
SELECT * FROM fw_{{frag .Reader 1}} WHERE id = {{.Key3}};

-- name: statement-query-4
SELECT COUNT(*), SUM(val1), SUM(val2), AVG(val3) FROM fw_{{frag .Reader 1}} WHERE val4 < 10000;

-- name: statement-query-5
SELECT SUM(val4 + val5) FROM fw_{{frag .Reader 2}};

-- name: statement-query-6
SELECT * FROM fw_{{frag .Reader 3}} WHERE val1 = 5718;

-- name: statement-query-7
SELECT * FROM fw_{{frag .Reader 4}} WHERE val1 > 5700 AND val2 < 10000 AND val3 = 14242;

-- name: statement-query-8
-- state is text, which the article compares with numbers.
SELECT COUNT(*), SUM(val1), SUM(val2), AVG(val3) FROM fw_{{frag .Reader 1}} WHERE state IN (94, 84, 35, 36, 11, 12, 99, 50) GROUP BY state;

-- name: statement-query-9
SELECT * FROM fw_{{frag .Reader 1}}, fw_{{frag .Reader 3}} WHERE fw_{{frag .Reader 3}}.val1 = fw_{{frag .Reader 1}}.id AND fw_{{frag .Reader 3}}.id = {{.Key9}};

-- name: statement-query-10
SELECT * FROM fw_{{frag .Reader 2}}, fw_{{frag .Reader 4}} WHERE fw_{{frag .Reader 2}}.val1 = fw_{{frag .Reader 4}}.id AND fw_{{frag .Reader 4}}.id = {{.Key10}};

-- name: statement-query-11
SELECT SUM(fw_{{frag .Reader 2}}.val2) FROM fw_{{frag .Reader 2}}, fw_{{frag .Reader 4}} WHERE fw_{{frag .Reader 2}}.val1 = fw_{{frag .Reader 4}}.id AND fw_{{frag .Reader 4}}.id = {{.Key11}};

-- Of the load beside a backup: val5 is in no check and in no index.
-- name: statement-beside
UPDATE {{in .Database "fw_frag4"}} SET val5 = ?2 WHERE id = ?1;
