-- What apply asks, besides the engine's own foreign-keys.

-- The user's tables, but no sequences, which MariaDB lists next to them, with the bytes from the statistics.
-- name: tables
SELECT TABLE_NAME, TABLE_TYPE, COALESCE(ENGINE, ''), COALESCE(CREATE_OPTIONS, ''), COALESCE(DATA_LENGTH, 0) + COALESCE(INDEX_LENGTH, 0)
  FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') ORDER BY 5 DESC, 1;

-- name: definition
SHOW CREATE TABLE {{ident .Schema}}.{{ident .Name}};

-- What InnoDB does not do with partitioned tables: each row is a reason.
-- name: problems
SELECT DISTINCT CONCAT('index ', INDEX_NAME, ' is ', INDEX_TYPE, ', which partitioned tables do not have')
  FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND INDEX_TYPE IN ('FULLTEXT', 'SPATIAL')
UNION ALL SELECT CONCAT('column ', COLUMN_NAME, ' is spatial, which partitioned tables do not have') FROM information_schema.COLUMNS
 WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND DATA_TYPE IN ('geometry', 'point', 'linestring', 'polygon', 'multipoint', 'multilinestring',
       'multipolygon', 'geometrycollection', 'geomcollection');

-- name: integer
SELECT DATA_TYPE LIKE '%int' FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND COLUMN_NAME = ?;

-- name: unique
SELECT INDEX_NAME, COLUMN_NAME, SUB_PART IS NOT NULL, COALESCE(CARDINALITY, 0) FROM information_schema.STATISTICS
 WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND NON_UNIQUE = 0 ORDER BY INDEX_NAME <> 'PRIMARY', INDEX_NAME, SEQ_IN_INDEX;

-- Whether a table lies in the system tablespace.
-- name: shared
SELECT SPACE = 0 FROM information_schema.{{.Catalogue}} WHERE NAME = ?;

-- name: fingerprint
SELECT {{.Sum}};

-- name: triggers
SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = ? AND EVENT_OBJECT_TABLE = ?;

-- Its columns but those that are generated.
-- name: columns
SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND EXTRA NOT LIKE '%GENERATED%'
 ORDER BY ORDINAL_POSITION;
