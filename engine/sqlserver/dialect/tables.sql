-- What is read of a user's database to write the script that takes it to a layout. All of
-- it is catalogue, asked within the database; each batch gives up what a lock would make it wait for.

-- name: apply-database whole
-- The directory of its first file, and what new files mean to others.
SET LOCK_TIMEOUT 1000;
SELECT f.physical_name AS first_path, d.recovery_model_desc AS recovery,
  CASE WHEN d.replica_id IS NULL AND m.mirroring_guid IS NULL THEN 0 ELSE 1 END AS replicated
FROM sys.databases AS d
JOIN sys.database_files AS f ON f.file_id = 1
LEFT JOIN sys.database_mirroring AS m ON m.database_id = d.database_id
WHERE d.database_id = DB_ID();

-- name: apply-tables whole
-- Tables of users with their pages of 8 KiB, indexes included, and what is apart from its rows.
SET LOCK_TIMEOUT 1000;
SELECT CAST(t.object_id AS int) AS id, s.name AS table_schema, t.name AS table_name, CAST(t.is_memory_optimized AS int) AS in_memory,
  CAST(t.is_filetable AS int) AS file_table, CAST(ISNULL(t.lob_data_space_id, 0) AS int) AS lob_space, ISNULL(u.pages, 0) AS table_pages
FROM sys.tables AS t
JOIN sys.schemas AS s ON s.schema_id = t.schema_id
LEFT JOIN (SELECT object_id, SUM(reserved_page_count) AS pages FROM sys.dm_db_partition_stats GROUP BY object_id) AS u ON u.object_id = t.object_id
WHERE t.is_ms_shipped = 0
ORDER BY s.name, t.name;

-- name: apply-indexes whole
-- All that has pages of a table: its rows as a heap (0) or clustered index (1), and other indexes.
SET LOCK_TIMEOUT 1000;
SELECT CAST(i.index_id AS int) AS index_id, i.name AS index_name, CAST(i.type AS int) AS index_type, i.type_desc AS index_kind,
  CAST(i.is_unique AS int) AS is_unique, CAST(i.is_disabled AS int) AS disabled, CAST(i.is_padded AS int) AS padded,
  CAST(i.fill_factor AS int) AS filled, CAST(i.ignore_dup_key AS int) AS ignoring, CAST(i.allow_row_locks AS int) AS row_locks,
  CAST(i.allow_page_locks AS int) AS page_locks, i.filter_definition AS filter, g.name AS space_name, g.type AS space_type,
  p.data_compression_desc AS compressed, u.pages AS index_pages,
  {{if .Sequential}}CAST(i.optimize_for_sequential_key AS int){{else}}0{{end}} AS sequential
FROM sys.indexes AS i
JOIN sys.data_spaces AS g ON g.data_space_id = i.data_space_id
LEFT JOIN sys.partitions AS p ON p.object_id = i.object_id AND p.index_id = i.index_id AND p.partition_number = 1
LEFT JOIN (
  SELECT object_id, index_id, SUM(reserved_page_count) AS pages FROM sys.dm_db_partition_stats WHERE object_id = @p1 GROUP BY object_id, index_id) AS u
  ON u.object_id = i.object_id AND u.index_id = i.index_id
WHERE i.object_id = @p1 AND i.is_hypothetical = 0
ORDER BY i.index_id;

-- name: apply-columns whole
SET LOCK_TIMEOUT 1000;
SELECT CAST(k.index_id AS int) AS index_id, c.name AS column_name, CAST(k.is_descending_key AS int) AS descending,
  CAST(k.is_included_column AS int) AS included
FROM sys.index_columns AS k
JOIN sys.columns AS c ON c.object_id = k.object_id AND c.column_id = k.column_id
WHERE k.object_id = @p1
ORDER BY k.index_id, k.is_included_column, k.key_ordinal, k.index_column_id;
