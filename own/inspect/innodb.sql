-- What inspect asks, besides the engine's own foreign-keys.

-- name: status
SHOW GLOBAL STATUS;

-- The number of processors, from which MariaDB computes this default. MySQL has no such table.
-- name: cores
SELECT GLOBAL_VALUE FROM information_schema.SYSTEM_VARIABLES WHERE VARIABLE_NAME = 'THREAD_POOL_SIZE' AND GLOBAL_VALUE_ORIGIN = 'AUTO';

-- name: files
{{files}} WHERE t.NAME LIKE '%/%' ORDER BY t.FILE_SIZE DESC LIMIT 2000;

-- What an account sees of its own tables without the right PROCESS.
-- name: sizes
SELECT TABLE_SCHEMA, TABLE_NAME, PARTITION_NAME, COALESCE(DATA_LENGTH, 0) + COALESCE(INDEX_LENGTH, 0) + COALESCE(DATA_FREE, 0)
  FROM information_schema.PARTITIONS WHERE TABLE_SCHEMA NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema')
    AND DATA_LENGTH IS NOT NULL
 ORDER BY 4 DESC LIMIT 2000;

-- name: plain
SELECT CONVERT(CONVERT(CAST(? AS BINARY) USING filename) USING utf8mb4);

-- Of the files that the server has waited most for.
-- name: file-times
SELECT FILE_NAME, COUNT_READ, SUM_NUMBER_OF_BYTES_READ, SUM_TIMER_READ, COUNT_WRITE, SUM_NUMBER_OF_BYTES_WRITE, SUM_TIMER_WRITE
  FROM performance_schema.file_summary_by_instance WHERE EVENT_NAME LIKE 'wait/io/file/innodb/%' ORDER BY SUM_TIMER_WAIT DESC LIMIT 500;

-- Of a table's last statistics. Who has no right on a table gets no row.
-- name: row-size
SELECT COALESCE(AVG_ROW_LENGTH, 0) FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND TABLE_ROWS > 0;
