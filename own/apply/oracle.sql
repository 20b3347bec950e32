-- Questions of apply about a user tablespace and its objects, besides the engine's own tablespace and files.

-- name: migrate-space
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
