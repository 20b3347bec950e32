-- What inspect and apply ask: the dictionary and views that every edition has, none of a
-- licence. Sizes are in blocks of each tablespace's size, as the grammar's checker
-- knows no column of the other name.

-- name: inspect-instance
SELECT (SYSDATE - startup_time) * 86400 FROM sys.v_$instance;

-- name: inspect-cores
SELECT stat_name, value FROM sys.v_$osstat WHERE stat_name IN ('NUM_CPUS', 'PHYSICAL_MEMORY_BYTES');

-- name: inspect-files
SELECT t.tablespace_name, t.contents, t.bigfile, f.file_id, f.file_name, f.blocks * t.block_size, f.autoextensible, f.increment_by * t.block_size, f.maxblocks * t.block_size
FROM sys.dba_data_files f JOIN sys.dba_tablespaces t ON t.tablespace_name = f.tablespace_name ORDER BY t.tablespace_name, f.file_id;

-- name: inspect-temp
SELECT t.tablespace_name, t.bigfile, f.file_name, f.blocks * t.block_size, f.autoextensible, f.increment_by * t.block_size
FROM sys.dba_temp_files f JOIN sys.dba_tablespaces t ON t.tablespace_name = f.tablespace_name ORDER BY t.tablespace_name, f.file_id;

-- name: inspect-free
SELECT f.file_id, SUM(f.blocks * t.block_size) FROM sys.dba_free_space f JOIN sys.dba_tablespaces t ON t.tablespace_name = f.tablespace_name GROUP BY f.file_id;

-- Requests, and hundredths of a second.
-- name: inspect-io
SELECT s.file#, s.phyrds, s.phywrts, s.readtim, s.writetim FROM sys.v_$filestat s;

-- name: inspect-log
SELECT f.member, l."BYTES" FROM sys.v_$log l JOIN sys.v_$logfile f ON f.group# = l.group# ORDER BY l.group#, f.member;

-- name: inspect-switches
SELECT COUNT(*) FROM sys.v_$log_history WHERE first_time > SYSDATE - 1;

-- name: inspect-cache
SELECT name, value FROM sys.v_$sysstat WHERE name IN ('physical reads cache', 'db block gets from cache', 'consistent gets from cache');

-- name: migrate-space
-- What apply asks of a user tablespace, and of what lies in it.
SELECT block_size, bigfile, contents, encrypted FROM sys.dba_tablespaces WHERE tablespace_name = :1;

-- name: migrate-segments
SELECT owner, segment_name, segment_type, SUM(blocks) FROM sys.dba_segments WHERE tablespace_name = :1 GROUP BY owner, segment_name, segment_type;

-- name: migrate-tables
-- Those of partitions, and what is ordered by its index, have no tablespace here; "YES" is of nested ones.
SELECT owner, table_name, cluster_name, nested FROM sys.dba_tables WHERE tablespace_name = :1 AND dropped = 'NO' AND iot_type IS NULL;

-- name: migrate-indexes
SELECT i.table_owner, i.table_name, i.owner, i.index_name, i.index_type, i.tablespace_name, i.join_index
FROM sys.dba_indexes i JOIN sys.dba_tables t ON t.owner = i.table_owner AND t.table_name = i.table_name
WHERE t.tablespace_name = :1 AND i.index_type <> 'LOB' ORDER BY i.owner, i.index_name;

-- name: migrate-lobs
SELECT l.owner, l.table_name, l.column_name, l.tablespace_name
FROM sys.dba_lobs l JOIN sys.dba_tables t ON t.owner = l.owner AND t.table_name = l.table_name WHERE t.tablespace_name = :1;

-- name: migrate-longs
SELECT c.owner, c.table_name, c.column_name
FROM sys.dba_tab_columns c JOIN sys.dba_tables t ON t.owner = c.owner AND t.table_name = c.table_name
WHERE t.tablespace_name = :1 AND c.data_type IN ('LONG', 'LONG RAW');
