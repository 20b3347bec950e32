-- What inspect asks: catalogue and light views, no statistics of indexes, nothing of
-- a licence. Each batch gives up what a lock would make it wait for.

-- name: inspect-server whole
SET LOCK_TIMEOUT 1000;
SELECT CAST(cpu_count AS int) AS cpus, CAST(physical_memory_kb AS bigint) AS memory_kb, CAST(committed_kb AS bigint) AS buffer_kb,
  CAST(DATEDIFF(second, sqlserver_start_time, SYSDATETIME()) AS bigint) AS age
FROM sys.dm_os_sys_info;

-- Pages of 8 KiB; a growth in percent or pages, of −1 no maximum. Every login sees
-- the databases, but of sys.master_files only the files that it has a right on.
-- name: inspect-files whole
SET LOCK_TIMEOUT 1000;
SELECT d.name AS database_name, CAST(d.database_id AS int) AS database_id, CAST(f.file_id AS int) AS file_id, f.type_desc AS type, f.physical_name AS path,
  CAST(f.data_space_id AS int) AS space, CAST(f.size AS bigint) AS pages, CAST(f.growth AS bigint) AS growth, CAST(f.is_percent_growth AS int) AS percent_growth,
  CAST(f.max_size AS bigint) AS max_pages, CAST(ISNULL(HAS_DBACCESS(d.name), 0) AS int) AS access
FROM sys.databases AS d
LEFT JOIN sys.master_files AS f ON f.database_id = d.database_id AND f.type IN (0, 1)
WHERE d.source_database_id IS NULL
ORDER BY d.name, f.file_id;

-- name: inspect-volumes whole
SET LOCK_TIMEOUT 1000;
SELECT CAST(f.database_id AS int) AS database_id, CAST(f.file_id AS int) AS file_id, v.volume_mount_point AS mount
FROM sys.master_files AS f
CROSS APPLY sys.dm_os_volume_stats(f.database_id, f.file_id) AS v
WHERE f.type IN (0, 1);

-- name: inspect-io whole
SET LOCK_TIMEOUT 1000;
SELECT CAST(database_id AS int) AS database_id, CAST(file_id AS int) AS file_id, num_of_reads AS reads, num_of_bytes_read AS read_bytes, io_stall_read_ms AS read_stall,
  num_of_writes AS writes, num_of_bytes_written AS written_bytes, io_stall_write_ms AS write_stall
FROM sys.dm_io_virtual_file_stats(NULL, NULL);

-- The space within the data files of one database, and its filegroups.
-- name: inspect-space whole
SET LOCK_TIMEOUT 1000;
SELECT CAST(u.file_id AS int) AS file_id, CAST(u.total_page_count AS bigint) AS pages, CAST(u.allocated_extent_page_count AS bigint) AS used, g.name AS filegroup,
  CAST(g.is_autogrow_all_files AS int) AS grows_all
FROM {{ident .Name}}.sys.dm_db_file_space_usage AS u
LEFT JOIN {{ident .Name}}.sys.filegroups AS g ON g.data_space_id = u.filegroup_id
ORDER BY u.file_id;

-- Virtual log files, from SQL Server 2016 SP2 on.
-- name: inspect-log whole
SET LOCK_TIMEOUT 1000;
SELECT CAST(d.database_id AS int) AS database_id, CAST(s.total_vlf_count AS bigint) AS fragments
FROM sys.databases AS d
CROSS APPLY sys.dm_db_log_stats(d.database_id) AS s
WHERE d.state = 0;

-- Allocation pages (PFS, GAM, SGAM: 1, 2, 3 and every 8088th or 511232th) that
-- sessions wait for now; “database:file:page”.
-- name: inspect-allocation whole
SET LOCK_TIMEOUT 1000;
SELECT COUNT_BIG(*) AS waiting, CAST(ISNULL(SUM(CASE WHEN page IN (1, 2, 3) OR page % 8088 = 0 OR page % 511232 IN (0, 1) THEN 1 ELSE 0 END), 0) AS bigint) AS allocation
FROM (
  SELECT TRY_CAST(RIGHT(resource_description, CHARINDEX(N':', REVERSE(resource_description) + N':') - 1) AS bigint) AS page
  FROM sys.dm_os_waiting_tasks
  WHERE wait_type LIKE N'PAGELATCH[_]%'
) AS t;
