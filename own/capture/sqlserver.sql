-- What a capture asks, within the user's database: catalogue, counters and statistics. Each
-- batch gives up what a lock would make it wait for.

-- name: store whole
-- The Query Store: 2 is READ_WRITE, else it counts nothing now.
SET LOCK_TIMEOUT 1000;
SELECT CAST(actual_state AS int) AS state, query_capture_mode_desc AS mode FROM sys.database_query_store_options;

-- name: counted-store whole
-- What statements with other literals and the same plan otherwise have together, in s; 0 ended regularly.
SET LOCK_TIMEOUT 1000;
SELECT t.query_sql_text AS text, c.calls AS calls, c.microseconds AS microseconds, c.rows_read AS rows_read
FROM (
  SELECT MIN(q.query_text_id) AS text_id, CAST(SUM(s.count_executions) AS bigint) AS calls,
    CAST(SUM(s.avg_duration * s.count_executions) AS bigint) AS microseconds, CAST(SUM(s.avg_rowcount * s.count_executions) AS bigint) AS rows_read
  FROM sys.query_store_query AS q
  JOIN sys.query_store_plan AS p ON p.query_id = q.query_id
  JOIN sys.query_store_runtime_stats AS s ON s.plan_id = p.plan_id
  WHERE q.is_internal_query = 0 AND s.execution_type = 0
  GROUP BY q.query_hash
) AS c
JOIN sys.query_store_query_text AS t ON t.query_text_id = c.text_id
OPTION (MAXDOP 1);

-- name: counted-cache whole
-- The same of the plans that are in the cache, which is read once; an offset is in bytes of two a letter, -1 the end.
SET LOCK_TIMEOUT 1000;
SELECT SUBSTRING(t.text, o.begins / 2 + 1, (CASE WHEN o.ends = -1 THEN DATALENGTH(t.text) ELSE o.ends END - o.begins) / 2 + 1) AS text,
  o.calls AS calls, o.microseconds AS microseconds, o.rows_read AS rows_read
FROM (
  SELECT s.sql_handle AS handle, s.statement_start_offset AS begins, s.statement_end_offset AS ends,
    SUM(s.execution_count) OVER (PARTITION BY s.query_hash) AS calls, SUM(s.total_elapsed_time) OVER (PARTITION BY s.query_hash) AS microseconds,
    SUM(s.total_rows) OVER (PARTITION BY s.query_hash) AS rows_read,
    ROW_NUMBER() OVER (PARTITION BY s.query_hash ORDER BY s.execution_count DESC) AS place
  FROM sys.dm_exec_query_stats AS s
  CROSS APPLY sys.dm_exec_plan_attributes(s.plan_handle) AS a
  WHERE a.attribute = N'dbid' AND a.value = DB_ID()
) AS o
CROSS APPLY sys.dm_exec_sql_text(o.handle) AS t
WHERE o.place = 1
OPTION (MAXDOP 1);

-- name: sessions whole
SET LOCK_TIMEOUT 1000;
SELECT COUNT_BIG(*) AS connected, COUNT_BIG(working) AS active
FROM (
  SELECT CASE WHEN EXISTS (SELECT 1 FROM sys.dm_exec_requests AS r WHERE r.session_id = o.session_id) THEN 1 END AS working
  FROM sys.dm_exec_sessions AS o
  WHERE o.is_user_process = 1 AND o.database_id = DB_ID() AND o.session_id <> @@SPID
) AS s;

-- name: describe whole
-- The server parses a statement, finds its names, and tells what its variables would be. It executes nothing.
SET LOCK_TIMEOUT 1000;
EXEC sys.sp_describe_undeclared_parameters @tsql = @p1;

-- name: table whole
-- A table or view by its name, in a schema or the session's own.
SET LOCK_TIMEOUT 1000;
SELECT CAST(o.object_id AS int) AS id, s.name AS table_schema, o.name AS table_name, RTRIM(o.type) AS kind,
  CAST(ISNULL(u.pages, 0) AS bigint) AS pages, CAST(ISNULL(u.stored, 0) AS bigint) AS stored,
  CAST(ISNULL(t.is_memory_optimized, 0) AS int) AS in_memory, CAST(CASE WHEN h.object_id IS NULL THEN 0 ELSE 1 END AS int) AS heap,
  CAST(CASE WHEN u.parts > 1 THEN 1 ELSE 0 END AS int) AS divided
FROM sys.objects AS o
JOIN sys.schemas AS s ON s.schema_id = o.schema_id
LEFT JOIN sys.tables AS t ON t.object_id = o.object_id
LEFT JOIN sys.indexes AS h ON h.object_id = o.object_id AND h.type = 0
LEFT JOIN (
  SELECT object_id, SUM(reserved_page_count) AS pages, SUM(CASE WHEN index_id IN (0, 1) THEN row_count ELSE 0 END) AS stored,
    MAX(partition_number) AS parts
  FROM sys.dm_db_partition_stats
  WHERE object_id = OBJECT_ID(@p1)
  GROUP BY object_id
) AS u ON u.object_id = o.object_id
WHERE o.object_id = OBJECT_ID(@p1) AND o.type IN ('U', 'V');

-- name: columns whole
-- The columns of a table with what a new row needs: 1 where the server makes the value, where the
-- last column of a unique index wants its own, where it begins the primary key; and where a
-- foreign key of one column takes its values from.
SET LOCK_TIMEOUT 1000;
SELECT CAST(c.column_id AS int) AS id, c.name AS column_name, b.name AS type_name, CAST(c.max_length AS int) AS length,
  CAST(CASE WHEN c.is_identity = 1 OR c.is_computed = 1 OR b.name = N'timestamp' THEN 1 ELSE 0 END AS int) AS made,
  CAST(c.is_identity AS int) AS numbered, CAST(c.is_computed AS int) AS computed, CAST(c.precision AS int) AS digits, CAST(c.scale AS int) AS fraction,
  CAST(CASE WHEN EXISTS (
    SELECT 1 FROM sys.indexes AS i JOIN sys.index_columns AS k ON k.object_id = i.object_id AND k.index_id = i.index_id
    WHERE i.object_id = c.object_id AND i.is_primary_key = 1 AND k.column_id = c.column_id
  ) THEN 1 ELSE 0 END AS int) AS keyed,
  CAST(CASE WHEN EXISTS (
    SELECT 1 FROM sys.indexes AS i JOIN sys.index_columns AS k ON k.object_id = i.object_id AND k.index_id = i.index_id
    WHERE i.object_id = c.object_id AND i.is_unique = 1 AND k.column_id = c.column_id AND k.key_ordinal = (
      SELECT MAX(l.key_ordinal) FROM sys.index_columns AS l WHERE l.object_id = i.object_id AND l.index_id = i.index_id)
  ) THEN 1 ELSE 0 END AS int) AS own,
  CAST(CASE WHEN EXISTS (
    SELECT 1 FROM sys.indexes AS i JOIN sys.index_columns AS k ON k.object_id = i.object_id AND k.index_id = i.index_id
    WHERE i.object_id = c.object_id AND i.is_primary_key = 1 AND k.column_id = c.column_id AND k.key_ordinal = 1
  ) THEN 1 ELSE 0 END AS int) AS first,
  f.parent_schema AS parent_schema, f.parent_table AS parent_table, f.parent_column AS parent_column
FROM sys.columns AS c
LEFT JOIN sys.types AS b ON b.user_type_id = c.system_type_id
OUTER APPLY (
  SELECT TOP (1) s.name AS parent_schema, o.name AS parent_table, r.name AS parent_column
  FROM sys.foreign_key_columns AS x
  JOIN sys.objects AS o ON o.object_id = x.referenced_object_id
  JOIN sys.schemas AS s ON s.schema_id = o.schema_id
  JOIN sys.columns AS r ON r.object_id = x.referenced_object_id AND r.column_id = x.referenced_column_id
  WHERE x.parent_object_id = c.object_id AND x.parent_column_id = c.column_id AND x.referenced_object_id <> c.object_id
    AND NOT EXISTS (SELECT 1 FROM sys.foreign_key_columns AS m WHERE m.constraint_object_id = x.constraint_object_id AND m.constraint_column_id > 1)
  ORDER BY x.constraint_object_id
) AS f
WHERE c.object_id = @p1
ORDER BY c.column_id;

-- name: indexes whole
-- Those of rows (1) and others, with the columns that they are ordered by.
SET LOCK_TIMEOUT 1000;
SELECT CAST(i.index_id AS int) AS index_id, i.name AS index_name, CAST(i.is_unique AS int) AS is_unique, c.name AS column_name,
  CAST(k.is_descending_key AS int) AS descending
FROM sys.indexes AS i
JOIN sys.index_columns AS k ON k.object_id = i.object_id AND k.index_id = i.index_id AND k.key_ordinal > 0
JOIN sys.columns AS c ON c.object_id = k.object_id AND c.column_id = k.column_id
WHERE i.object_id = @p1 AND i.type IN (1, 2) AND i.is_disabled = 0 AND i.is_hypothetical = 0 AND i.filter_definition IS NULL
ORDER BY i.index_id, k.key_ordinal;

-- name: histogram whole
-- The steps of the newest statistics that begin with a column: how many rows have a step's value, and
-- how many other values lie before it. Asked only of columns whose values may be told.
SET LOCK_TIMEOUT 1000;
SELECT {{if .Moments}}CONVERT(nvarchar(40), CAST(h.range_high_key AS datetime2(3)), 120){{else}}CAST(h.range_high_key AS nvarchar(400)){{end}} AS high,
  CAST(h.equal_rows AS bigint) AS same, CAST(h.range_rows AS bigint) AS between_rows, CAST(h.distinct_range_rows AS bigint) AS others
FROM (
  SELECT TOP (1) k.object_id AS table_id, k.stats_id AS number
  FROM sys.stats_columns AS k
  JOIN sys.stats AS s ON s.object_id = k.object_id AND s.stats_id = k.stats_id
  WHERE k.object_id = @p1 AND k.column_id = @p2 AND k.stats_column_id = 1 AND s.has_filter = 0
  ORDER BY STATS_DATE(k.object_id, k.stats_id) DESC
) AS n
CROSS APPLY sys.dm_db_stats_histogram(n.table_id, n.number) AS h
ORDER BY h.step_number;
