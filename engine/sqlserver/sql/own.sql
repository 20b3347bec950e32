-- What backups of a database of the user's ask within it; nothing of it is changed.

-- name: own-database whole
SET LOCK_TIMEOUT 1000;
SELECT CAST(SUM(CAST(f.size AS bigint)) AS bigint) AS pages, MIN(CASE WHEN f.file_id = 1 THEN f.physical_name END) AS first_path,
  CAST(ISNULL(HAS_PERMS_BY_NAME(DB_NAME(), N'DATABASE', N'BACKUP DATABASE'), 0) AS int) AS may_back_up,
  -- In a restored copy dbo is the login that it was in the original: without this nobody else may mark the copy.
  CASE WHEN IS_SRVROLEMEMBER(N'sysadmin') = 1
    OR EXISTS (SELECT 1 FROM sys.database_principals AS p WHERE p.name = N'dbo' AND p.sid = SUSER_SID()) THEN 1 ELSE 0 END AS may_mark
FROM sys.database_files AS f;

-- name: own-parts whole
SET LOCK_TIMEOUT 1000;
SELECT g.name AS part, CAST(SUM(CAST(f.size AS bigint)) AS bigint) AS pages,
  CASE WHEN DATABASEPROPERTYEX(DB_NAME(), N'Recovery') = N'SIMPLE' AND g.is_read_only = 0 THEN 1 ELSE 0 END AS refused
FROM sys.filegroups AS g JOIN sys.database_files AS f ON f.data_space_id = g.data_space_id
GROUP BY g.name, g.is_read_only ORDER BY g.name;

-- name: own-last whole
-- What the server has recorded of the last full backup.
SET LOCK_TIMEOUT 1000;
SELECT TOP (1) CAST(DATEDIFF(second, b.backup_start_date, b.backup_finish_date) AS bigint) AS seconds
FROM msdb.dbo.backupset AS b WHERE b.database_name = DB_NAME() AND b.type = 'D' AND b.backup_finish_date IS NOT NULL
ORDER BY b.backup_finish_date DESC;

-- name: own-store whole
-- 2: the Query Store counts what clients do.
SET LOCK_TIMEOUT 1000;
SELECT CAST(actual_state AS int) AS state FROM sys.database_query_store_options;

-- name: own-work whole
SET LOCK_TIMEOUT 1000;
SELECT CAST(ISNULL(SUM(r.count_executions), 0) AS bigint) AS calls,
  CAST(ISNULL(SUM(r.avg_duration * r.count_executions), 0) AS bigint) AS microseconds
FROM sys.query_store_runtime_stats AS r;

-- name: own-columns whole
-- Tables with the columns by whose values rows are compared: not text, image, xml and those of the CLR
-- (34, 35, 99, 240, 241), which have no checksum, nor encrypted ones.
SET LOCK_TIMEOUT 1000;
SELECT s.name AS table_schema, t.name AS table_name, c.name AS column_name
FROM sys.tables AS t
JOIN sys.schemas AS s ON s.schema_id = t.schema_id
LEFT JOIN sys.columns AS c ON c.object_id = t.object_id AND c.system_type_id NOT IN (34, 35, 99, 240, 241) AND c.encryption_type IS NULL
WHERE t.is_ms_shipped = 0 AND t.is_external = 0
ORDER BY s.name, t.name, c.column_id;

-- name: own-sum whole
SET LOCK_TIMEOUT 10000;
SELECT COUNT_BIG(*) AS stored,
  {{if .Columns}}CAST(ISNULL(CHECKSUM_AGG(BINARY_CHECKSUM(
{{- range $i, $c := .Columns}}{{if $i}}, {{end}}{{ident $c}}{{end}})), 0) AS bigint){{else}}CAST(0 AS bigint){{end}} AS total
FROM {{ident .Schema}}.{{ident .Table}};

-- name: own-objects whole
SET LOCK_TIMEOUT 1000;
SELECT type_desc AS kind, COUNT_BIG(*) AS stored FROM sys.objects WHERE is_ms_shipped = 0 GROUP BY type_desc ORDER BY type_desc;
