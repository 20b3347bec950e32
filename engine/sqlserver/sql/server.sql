-- All that the adapter says to SQL Server besides a workload. Nothing here changes
-- a setting of the server, ends a session, or clears caches or statistics; what
-- alters or drops a database reads Filewise's marker in the same batch before.

-- name: identity whole
SELECT
  CAST(SERVERPROPERTY(N'ProductVersion') AS nvarchar(128)) AS version,
  CAST(SERVERPROPERTY(N'ProductLevel') AS nvarchar(128)) AS level,
  CAST(SERVERPROPERTY(N'Edition') AS nvarchar(128)) AS edition,
  CAST(SERVERPROPERTY(N'EngineEdition') AS int) AS engine_edition,
  CAST(SERVERPROPERTY(N'MachineName') AS nvarchar(128)) AS machine,
  CAST(SERVERPROPERTY(N'InstanceName') AS nvarchar(128)) AS instance,
  CAST(@@SERVERNAME AS nvarchar(256)) AS server_name,
  CAST(SERVERPROPERTY(N'InstanceDefaultDataPath') AS nvarchar(260)) AS data_path,
  CAST(SERVERPROPERTY(N'InstanceDefaultLogPath') AS nvarchar(260)) AS log_path,
  CAST(CONNECTIONPROPERTY(N'client_net_address') AS nvarchar(48)) AS client_address,
  CAST(CONNECTIONPROPERTY(N'local_net_address') AS nvarchar(48)) AS server_address,
  CAST(@@MAX_CONNECTIONS AS int) AS max_connections,
  SUSER_SNAME() AS login_name;

-- name: rights whole
SELECT
  HAS_PERMS_BY_NAME(NULL, NULL, N'CREATE ANY DATABASE') AS create_any,
  HAS_PERMS_BY_NAME(NULL, NULL, N'ALTER ANY DATABASE') AS alter_any,
  HAS_PERMS_BY_NAME(N'master', N'DATABASE', N'CREATE DATABASE') AS create_in_master,
  HAS_PERMS_BY_NAME(NULL, NULL, N'VIEW SERVER STATE') AS view_state,
  HAS_PERMS_BY_NAME(NULL, NULL, N'VIEW SERVER PERFORMANCE STATE') AS view_performance,
  HAS_PERMS_BY_NAME(NULL, NULL, N'VIEW SERVER SECURITY STATE') AS view_security;

-- name: configuration whole
SELECT name, CAST(value_in_use AS bigint) AS value
FROM sys.configurations
WHERE name IN (N'max degree of parallelism', N'max server memory (MB)', N'min server memory (MB)', N'max worker threads',
  N'fill factor (%)', N'recovery interval (min)', N'backup compression default', N'user connections', N'priority boost',
  N'lightweight pooling', N'affinity mask', N'network packet size (B)', N'cost threshold for parallelism', N'user options',
  N'optimize for ad hoc workloads')
ORDER BY name;

-- name: machine whole
SELECT cpu_count AS cpus, CAST(physical_memory_kb AS bigint) AS memory_kb, CAST(committed_target_kb AS bigint) AS target_kb,
  CAST(max_workers_count AS bigint) AS workers
FROM sys.dm_os_sys_info;

-- name: inherited whole
-- What a new database has from model, and a build leaves as it is.
SELECT CAST(compatibility_level AS int) AS compatibility, CAST(collation_name AS nvarchar(128)) AS collation,
  CAST(is_auto_create_stats_on AS int) AS statistics_made, CAST(is_parameterization_forced AS int) AS forced_parameters,
  CAST(is_encrypted AS int) AS encrypted,
  {{if .Recovery}}CAST(is_accelerated_database_recovery_on AS int){{else}}0{{end}} AS recovery
FROM sys.databases WHERE name = N'model';

-- name: trace-flags whole
-- Those of the whole server, which any login may see; there is no view of them.
DBCC TRACESTATUS (-1) WITH NO_INFOMSGS;

-- name: in-model whole
-- What of model no new database could be rid of, where this login may look: its tables come along too, and are no obstacle.
SELECT MIN(name COLLATE Latin1_General_BIN2) AS other FROM
-- others model
;

-- name: model whole
SELECT CAST(size AS bigint) AS pages FROM sys.master_files WHERE database_id = 3 AND file_id = 1;

-- name: volumes whole
SELECT DISTINCT v.volume_mount_point AS mount, CAST(v.available_bytes AS bigint) AS available
FROM sys.master_files AS f
CROSS APPLY sys.dm_os_volume_stats(f.database_id, f.file_id) AS v;

-- name: drives whole
SELECT fixed_drive_path AS mount, CAST(free_space_in_bytes AS bigint) AS available
FROM sys.dm_os_enumerate_fixed_drives;

-- name: instant-initialization whole
SELECT instant_file_initialization_enabled AS enabled
FROM sys.dm_server_services
WHERE servicename LIKE N'SQL Server (%';

-- name: create whole
SET NOCOUNT ON;
IF DB_ID({{literal .Name}}) IS NOT NULL
BEGIN;
  THROW 50001, N'there is a database of that name', 1;
END;
CREATE DATABASE {{ident .Name}}
ON PRIMARY
{{- range $i, $f := .DataFiles}}{{if $i}},{{end}}
  (NAME = {{literal $f.Logical}}, FILENAME = {{literal $f.Path}}, SIZE = {{$f.KB}}KB, MAXSIZE = UNLIMITED, FILEGROWTH = {{$f.GrowthKB}}KB)
{{- end}}
{{- if .IndexFiles}},
FILEGROUP {{ident .IndexGroup}}
{{- range $i, $f := .IndexFiles}}{{if $i}},{{end}}
  (NAME = {{literal $f.Logical}}, FILENAME = {{literal $f.Path}}, SIZE = {{$f.KB}}KB, MAXSIZE = UNLIMITED, FILEGROWTH = {{$f.GrowthKB}}KB)
{{- end}}
{{- end}}
LOG ON
{{- range $i, $f := .LogFiles}}
  (NAME = {{literal $f.Logical}}, FILENAME = {{literal $f.Path}}, SIZE = {{$f.KB}}KB, MAXSIZE = UNLIMITED, FILEGROWTH = {{$f.GrowthKB}}KB)
{{- end}};
IF @@ERROR <> 0 RETURN;
EXEC {{ident .Name}}.sys.sp_addextendedproperty @name = N'filewise', @value = {{literal .Mark}};

-- name: from-model whole
-- What a new database has from model cannot be told from what others put in later, and
-- nothing of theirs is dropped: so this database goes at once, with nobody in it.
-- guard
DECLARE @found nvarchar(300) = (SELECT MIN(name COLLATE Latin1_General_BIN2) FROM
-- others there
);
IF @found IS NOT NULL
BEGIN;
  IF EXISTS (SELECT 1 FROM sys.databases WHERE name = {{literal .Name}} AND DATEDIFF(second, create_date, SYSDATETIME()) < 60)
    DROP DATABASE {{ident .Name}};
  SET @found = N'a new database has from database model: ' + @found;
  THROW 50005, @found, 1;
END;

-- name: options whole
-- guard
ALTER DATABASE {{ident .Name}} SET RECOVERY SIMPLE;
ALTER DATABASE {{ident .Name}} SET AUTO_CLOSE OFF;
ALTER DATABASE {{ident .Name}} SET AUTO_SHRINK OFF;
ALTER DATABASE {{ident .Name}} SET QUERY_STORE = OFF;
ALTER DATABASE {{ident .Name}} SET READ_COMMITTED_SNAPSHOT OFF;
ALTER DATABASE {{ident .Name}} SET ALLOW_SNAPSHOT_ISOLATION OFF;
ALTER DATABASE {{ident .Name}} SET AUTO_UPDATE_STATISTICS OFF;
ALTER DATABASE {{ident .Name}} SET PAGE_VERIFY CHECKSUM;
ALTER DATABASE {{ident .Name}} SET TARGET_RECOVERY_TIME = 60 SECONDS;
ALTER DATABASE {{ident .Name}} SET DELAYED_DURABILITY = {{if eq .Durability "normal"}}FORCED{{else}}DISABLED{{end}};
{{- if .MixedPages}}
ALTER DATABASE {{ident .Name}} SET MIXED_PAGE_ALLOCATION ON;
{{- end}}
{{- if .AutogrowAll}}
ALTER DATABASE {{ident .Name}} MODIFY FILEGROUP [PRIMARY] AUTOGROW_ALL_FILES;
{{- if .IndexFiles}}
ALTER DATABASE {{ident .Name}} MODIFY FILEGROUP {{ident .IndexGroup}} AUTOGROW_ALL_FILES;
{{- end}}
{{- end}}

-- name: restored-options whole
-- A copy of a database of the user's: what decides how its own work runs stays as it is there, but that the log
-- is reused, of which nobody makes backups.
-- guard
ALTER DATABASE {{ident .Name}} SET RECOVERY SIMPLE;
ALTER DATABASE {{ident .Name}} SET AUTO_CLOSE OFF;
ALTER DATABASE {{ident .Name}} SET AUTO_SHRINK OFF;
ALTER DATABASE {{ident .Name}} SET DELAYED_DURABILITY = {{if eq .Durability "normal"}}FORCED{{else}}DISABLED{{end}};

-- name: add-files whole
-- guard
{{- if .Restored}}
ALTER DATABASE {{ident .Name}} ADD FILEGROUP {{ident .DataGroup}};
{{- if .MoreIndexFiles}}
ALTER DATABASE {{ident .Name}} ADD FILEGROUP {{ident .IndexGroup}};
{{- end}}
{{- end}}
{{- if .MoreDataFiles}}
ALTER DATABASE {{ident .Name}} ADD FILE
{{- range $i, $f := .MoreDataFiles}}{{if $i}},{{end}}
  (NAME = {{literal $f.Logical}}, FILENAME = {{literal $f.Path}}, SIZE = {{$f.KB}}KB, MAXSIZE = UNLIMITED, FILEGROWTH = {{$f.GrowthKB}}KB)
{{- end}}
TO FILEGROUP {{ident .DataGroup}};
{{- end}}
{{- if .MoreIndexFiles}}
ALTER DATABASE {{ident .Name}} ADD FILE
{{- range $i, $f := .MoreIndexFiles}}{{if $i}},{{end}}
  (NAME = {{literal $f.Logical}}, FILENAME = {{literal $f.Path}}, SIZE = {{$f.KB}}KB, MAXSIZE = UNLIMITED, FILEGROWTH = {{$f.GrowthKB}}KB)
{{- end}}
TO FILEGROUP {{ident .IndexGroup}};
{{- end}}

-- name: files whole
-- The files of the build's database, as the catalogue has them; pages of 8 KiB.
SELECT f.name AS logical, f.physical_name AS path, f.type_desc AS type, CAST(f.size AS bigint) AS pages,
  CAST(f.growth AS bigint) AS growth, CAST(f.is_percent_growth AS int) AS percent_growth,
  CAST(FILEPROPERTY(f.name, N'SpaceUsed') AS bigint) AS used, g.name AS filegroup
FROM sys.database_files AS f
LEFT JOIN sys.filegroups AS g ON g.data_space_id = f.data_space_id
ORDER BY f.file_id;

-- name: tempdb whole
-- The server's own temporary files with rows: as they are now, and of what size the next start makes them.
SELECT f.name AS logical, f.physical_name AS path, CAST(f.size AS bigint) AS pages, CAST(m.size AS bigint) AS startup,
  CAST(f.growth AS bigint) AS growth, CAST(f.is_percent_growth AS int) AS percent_growth
FROM tempdb.sys.database_files AS f
LEFT JOIN sys.master_files AS m ON m.database_id = 2 AND m.file_id = f.file_id
WHERE f.type = 0
ORDER BY f.file_id;

-- name: keep whole
-- Says to other runs that the database is in use, for as long as the session lives.
DECLARE @result int;
EXEC @result = sys.sp_getapplock @Resource = N'filewise keeps', @LockMode = N'Exclusive',
  @LockOwner = N'Session', @LockTimeout = 5000, @DbPrincipal = N'public';
SELECT @result AS result;

-- name: settle whole
{{- if eq .Durability "normal"}}
EXEC sys.sp_flush_log;
{{- end}}
CHECKPOINT;

-- name: cool whole
-- A database's pages leave the buffer pool when it goes offline. The server refuses that while
-- anybody is connected; nobody is thrown out.
-- guard
ALTER DATABASE {{ident .Name}} SET OFFLINE WITH NO_WAIT;
ALTER DATABASE {{ident .Name}} SET ONLINE;

-- name: cycle whole
-- The same, timed by the server's clock: offline, clean, and online until it is there again.
DECLARE @begun datetime2(7), @away datetime2(7);
-- guard
SET @begun = SYSUTCDATETIME();
ALTER DATABASE {{ident .Name}} SET OFFLINE WITH NO_WAIT;
SET @away = SYSUTCDATETIME();
ALTER DATABASE {{ident .Name}} SET ONLINE;
SELECT DATEDIFF_BIG(microsecond, @begun, @away) AS offline_us, DATEDIFF_BIG(microsecond, @away, SYSUTCDATETIME()) AS online_us;

-- name: file-io whole
SELECT f.name AS logical, f.type_desc AS type,
  v.num_of_reads AS reads, v.num_of_bytes_read AS read_bytes, v.io_stall_read_ms AS read_stall,
  v.num_of_writes AS writes, v.num_of_bytes_written AS written_bytes, v.io_stall_write_ms AS write_stall
FROM sys.dm_io_virtual_file_stats(DB_ID(), NULL) AS v
JOIN sys.database_files AS f ON f.file_id = v.file_id
ORDER BY f.file_id;

-- name: session-waits whole
-- What the sessions of the build have waited for, each since it was opened or reset.
SELECT CAST(w.session_id AS int) AS session, w.wait_type AS name, CAST(w.wait_time_ms AS bigint) AS time, CAST(w.waiting_tasks_count AS bigint) AS waits
FROM sys.dm_exec_session_wait_stats AS w
JOIN sys.dm_exec_sessions AS s ON s.session_id = w.session_id
WHERE s.is_user_process = 1 AND s.database_id = DB_ID() AND s.session_id <> @@SPID AND w.waiting_tasks_count > 0;

-- name: page-latches whole
-- The pages of this database whose latch is waited for now; a page is
-- “database:file:page”. PFS pages are 1 and every 8,088th, GAM 2 and SGAM 3 and one
-- after another every 511,232.
SELECT name, kind, COUNT_BIG(*) AS waiting
FROM (
  SELECT name, CASE WHEN page = 1 OR page % 8088 = 0 THEN N'PFS' WHEN page = 2 OR page % 511232 = 0 THEN N'GAM'
    WHEN page = 3 OR page % 511232 = 1 THEN N'SGAM' ELSE N'' END AS kind
  FROM (
    SELECT wait_type AS name,
      TRY_CAST(RIGHT(resource_description, CHARINDEX(N':', REVERSE(resource_description) + N':') - 1) AS bigint) AS page
    FROM sys.dm_os_waiting_tasks
    WHERE wait_type LIKE N'PAGELATCH[_]%'
      AND (resource_description LIKE CAST(DB_ID() AS nvarchar(10)) + N':%'{{if .Temporary}} OR resource_description LIKE N'2:%'{{end}})
  ) AS t
) AS k
GROUP BY name, kind;

-- name: writing whole
-- Counters that only grow, whatever “/sec” they are called. A database with
-- indirect checkpoints has its pages written by the background writer.
SELECT RTRIM(counter_name) AS name, CAST(cntr_value AS bigint) AS value
FROM sys.dm_os_performance_counters
WHERE object_name LIKE N'%:Buffer Manager%' AND counter_name IN (N'Checkpoint pages/sec', N'Background writer pages/sec', N'Lazy writes/sec')
  OR object_name LIKE N'%:Databases%' AND counter_name IN (N'Log Flushes/sec', N'Log Bytes Flushed/sec') AND instance_name = DB_NAME();

-- name: activity whole
-- Sessions of others, and those of them that execute something now. No sum takes
-- in a subquery (error 130), so they are looked up before they are counted.
SELECT COUNT_BIG(*) AS sessions, COUNT_BIG(working) AS active
FROM (
  SELECT CASE WHEN EXISTS (SELECT 1 FROM sys.dm_exec_requests AS r WHERE r.session_id = o.session_id) THEN 1 END AS working
  FROM sys.dm_exec_sessions AS o
  WHERE is_user_process = 1
    AND NOT (ISNULL(host_name, N'') = ISNULL(HOST_NAME(), N'') AND ISNULL(host_process_id, 0) = @p1 AND ISNULL(program_name, N'') LIKE N'filewise%')
) AS s;

-- name: lock whole
DECLARE @result int;
EXEC @result = sys.sp_getapplock @Resource = N'filewise measures', @LockMode = N'Exclusive',
  @LockOwner = N'Session', @LockTimeout = 0, @DbPrincipal = N'public';
SELECT @result AS result;

-- name: held whole
-- Asked on the connection that has taken the lock: Exclusive, or NoLock.
SELECT APPLOCK_MODE(N'public', N'filewise measures', N'Session') AS mode;

-- name: holder whole
SELECT s.program_name AS program, s.host_name AS host, CAST(s.host_process_id AS bigint) AS process
FROM sys.dm_tran_locks AS l
JOIN sys.dm_exec_sessions AS s ON s.session_id = l.request_session_id
WHERE l.resource_type = N'APPLICATION' AND l.request_status = N'GRANT' AND l.resource_database_id = DB_ID(N'master')
  AND s.program_name LIKE N'filewise measures%';

-- name: unlock whole
EXEC sys.sp_releaseapplock @Resource = N'filewise measures', @LockOwner = N'Session', @DbPrincipal = N'public';

-- name: leftovers whole
-- Of one that is offline no mark can be read: it is ours if this account owns it, and all its files have its name.
SELECT d.name, d.state_desc AS state, CAST(ISNULL(HAS_DBACCESS(d.name), 0) AS int) AS access,
  CAST(CASE WHEN d.owner_sid = SUSER_SID() AND EXISTS (SELECT 1 FROM sys.master_files AS f WHERE f.database_id = d.database_id)
    AND NOT EXISTS (SELECT 1 FROM sys.master_files AS g WHERE g.database_id = d.database_id AND CHARINDEX(d.name + N'_', g.physical_name COLLATE Latin1_General_BIN2) = 0)
    THEN 1 ELSE 0 END AS int) AS ours
FROM sys.databases AS d
WHERE d.name LIKE N'filewise[_]%'
ORDER BY d.name;

-- name: wake whole
-- A run that ended while its build was offline has left it so. What tells that it is ours is looked at once more;
-- nothing is dropped before its mark is read.
SET NOCOUNT ON;
IF NOT EXISTS (SELECT 1 FROM sys.databases AS d WHERE d.name = {{literal .Name}} AND d.state_desc = N'OFFLINE' AND d.owner_sid = SUSER_SID())
  OR NOT EXISTS (SELECT 1 FROM sys.master_files AS f WHERE f.database_id = DB_ID({{literal .Name}}))
  OR EXISTS (SELECT 1 FROM sys.master_files AS g WHERE g.database_id = DB_ID({{literal .Name}})
    AND CHARINDEX({{literal .Name}} + N'_', g.physical_name) = 0)
BEGIN;
  THROW 50007, N'it is not offline, or not Filewise''s by its owner and its files', 1;
END;
ALTER DATABASE {{ident .Name}} SET ONLINE;

-- name: look whole
-- Whether a leftover carries the mark, is empty, and is in use; asked within it.
DECLARE @result int;
EXEC @result = sys.sp_getapplock @Resource = N'filewise keeps', @LockMode = N'Exclusive',
  @LockOwner = N'Session', @LockTimeout = 0, @DbPrincipal = N'public';
IF @result >= 0
  EXEC sys.sp_releaseapplock @Resource = N'filewise keeps', @LockOwner = N'Session', @DbPrincipal = N'public';
SELECT
  (SELECT TOP (1) CAST(value AS nvarchar(3500)) FROM sys.extended_properties WHERE class = 0 AND name = N'filewise') AS mark,
  (SELECT COUNT_BIG(*) FROM sys.objects WHERE is_ms_shipped = 0) + (SELECT COUNT_BIG(*) FROM sys.extended_properties WHERE class = 0) AS objects,
  (SELECT COUNT_BIG(*) FROM sys.dm_exec_sessions WHERE database_id = DB_ID() AND session_id <> @@SPID) AS sessions,
  (SELECT CAST(DATEDIFF(minute, create_date, SYSDATETIME()) AS bigint) FROM sys.databases WHERE database_id = DB_ID()) AS age,
  (SELECT COUNT_BIG(*) FROM
-- others
  ) AS others,
  (SELECT MIN(name COLLATE Latin1_General_BIN2) FROM
-- others
  ) AS other,
  @result AS result;

-- name: drop whole
-- The server refuses it while anybody is connected; nobody is thrown out.
SET NOCOUNT ON;
IF DB_ID({{literal .Name}}) IS NULL RETURN;
-- guard
{{- if not .Custom}}
IF EXISTS (SELECT 1 FROM
-- others there
)
BEGIN;
  THROW 50004, N'the database holds what Filewise has not made: nothing of it is changed', 1;
END;
{{- end}}
DROP DATABASE {{ident .Name}};

-- name: drop-restoring whole
-- After a RESTORE of Filewise's that failed half-way, to a name that it made; or that came to its end, but this account
-- may not mark the copy, in which dbo is whoever owns the original.
SET NOCOUNT ON;
IF DB_ID({{literal .Name}}) IS NULL RETURN;
IF ISNULL(CAST(DATABASEPROPERTYEX({{literal .Name}}, N'Status') AS nvarchar(128)), N'') <> N'RESTORING'
  AND (NOT EXISTS (SELECT 1 FROM sys.databases AS d WHERE d.name = {{literal .Name}} AND d.owner_sid = SUSER_SID())
    OR EXISTS (SELECT 1 FROM sys.master_files AS g WHERE g.database_id = DB_ID({{literal .Name}})
      AND CHARINDEX({{literal .Name}} + N'_', g.physical_name) = 0))
BEGIN;
  THROW 50003, N'the database is neither being restored nor a copy of this account''s', 1;
END;
DROP DATABASE {{ident .Name}};

-- name: backup whole
-- COPY_ONLY leaves the user's chain of backups as it is; NOINIT overwrites nothing. Only where files stay, a layout's
-- second backup takes the place of its first: the names are made up in the run.
BACKUP DATABASE {{ident .Source}}
{{- range $i, $g := .Part}}{{if $i}},{{end}} FILEGROUP = {{literal $g}}{{end}} TO
{{- range $i, $s := .Stripes}}{{if $i}},{{end}}
  DISK = {{literal $s}}
{{- end}}
WITH COPY_ONLY, {{if .Again}}FORMAT, INIT{{else}}NOFORMAT, NOINIT{{end}}, CHECKSUM, STATS = 5
{{- if eq .Compression "on"}}, COMPRESSION{{else if eq .Compression "off"}}, NO_COMPRESSION{{end}}
{{- if .BufferCount}}, BUFFERCOUNT = {{.BufferCount}}{{end}}
{{- if .MaxTransferSize}}, MAXTRANSFERSIZE = {{.MaxTransferSize}}{{end}}
{{- if .BlockSize}}, BLOCKSIZE = {{.BlockSize}}{{end}};

-- name: backup-files whole
RESTORE FILELISTONLY FROM
{{- range $i, $s := .Stripes}}{{if $i}},{{end}}
  DISK = {{literal $s}}
{{- end}};

-- name: backup-header whole
-- What the backup's own header says of its size.
RESTORE HEADERONLY FROM
{{- range $i, $s := .Stripes}}{{if $i}},{{end}}
  DISK = {{literal $s}}
{{- end}};

-- name: check-database whole
-- The server's own check of a database that Filewise has restored.
DBCC CHECKDB ({{ident .Name}}) WITH NO_INFOMSGS;

-- name: restore whole
-- To a name that is new and Filewise's, every file moved. The backup may carry
-- another database's mark. One of the user's may have no checksums (error 3187); those that are there are looked at.
SET NOCOUNT ON;
IF DB_ID({{literal .Name}}) IS NOT NULL
BEGIN;
  THROW 50001, N'there is a database of that name', 1;
END;
RESTORE DATABASE {{ident .Name}} FROM
{{- range $i, $s := .Stripes}}{{if $i}},{{end}}
  DISK = {{literal $s}}
{{- end}}
WITH
{{- range .Moves}}
  MOVE {{literal .Logical}} TO {{literal .Path}},
{{- end}}
  {{if not .Theirs}}CHECKSUM, {{end}}RECOVERY, STATS = 5
{{- if .BufferCount}}, BUFFERCOUNT = {{.BufferCount}}{{end}}
{{- if .MaxTransferSize}}, MAXTRANSFERSIZE = {{.MaxTransferSize}}{{end}};
IF @@ERROR <> 0 RETURN;
IF EXISTS (SELECT 1 FROM {{ident .Name}}.sys.extended_properties WHERE class = 0 AND name = N'filewise')
  EXEC {{ident .Name}}.sys.sp_updateextendedproperty @name = N'filewise', @value = {{literal .Mark}};
ELSE
  EXEC {{ident .Name}}.sys.sp_addextendedproperty @name = N'filewise', @value = {{literal .Mark}};

-- name: connection whole
-- What a new connection needs: its transactions end when a call fails, and a
-- lock of the session's by which others learn that the server has ended it.
SET NOCOUNT ON;
SET XACT_ABORT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
DECLARE @result int;
EXEC @result = sys.sp_getapplock @Resource = N'filewise worker {{.Worker}}', @LockMode = N'Exclusive',
  @LockOwner = N'Session', @LockTimeout = 30000, @DbPrincipal = N'public';
SELECT @result AS result;

-- name: end-transaction whole
-- After a call that failed or was cancelled: nothing may stay open.
IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;

-- name: ended whole
-- Waits until the server has ended a broken connection, and rolled back what it
-- had open: a lock of the session's goes last.
DECLARE @result int;
EXEC @result = sys.sp_getapplock @Resource = N'filewise worker {{.Worker}}', @LockMode = N'Exclusive',
  @LockOwner = N'Session', @LockTimeout = 20000, @DbPrincipal = N'public';
IF @result >= 0
  EXEC sys.sp_releaseapplock @Resource = N'filewise worker {{.Worker}}', @LockOwner = N'Session', @DbPrincipal = N'public';
SELECT @result AS result;

-- name: loaded-batches
-- By which a batch of a load is known to be there.
CREATE TABLE dbo.fw_loaded (
  table_name varchar(30) COLLATE Latin1_General_BIN2 NOT NULL,
  batch bigint NOT NULL,
  CONSTRAINT fw_loaded_key PRIMARY KEY CLUSTERED (table_name, batch)
) ON [PRIMARY];

-- name: count whole
-- A server may be set not to count (user options, 512): then a mark that is made looks
-- like one that was there.
SET NOCOUNT OFF;

-- name: made whole
-- What was made, by the whole definition of everything, but of tables that come and go: what is changed or put in later
-- is told by it. A database without it, of an earlier version or of a run that was killed before, is told by names.
DECLARE @made nvarchar(100) =
-- definition
;
EXEC sys.sp_addextendedproperty @name = N'filewise made', @value = @made;

-- name: begin-load
BEGIN TRANSACTION;

-- name: commit-load
COMMIT TRANSACTION;

-- name: mark-loaded
-- Marks a batch in the transaction that loads it; no row: it is loaded already. The
-- client's text is nvarchar: compared as it is, all batches of the table would be
-- read, and with them those of other loaders that are not committed waited for.
INSERT INTO dbo.fw_loaded (table_name, batch)
SELECT @p1, @p2 WHERE NOT EXISTS (SELECT 1 FROM dbo.fw_loaded WHERE table_name = CAST(@p1 AS varchar(30)) AND batch = @p2);

-- Those of the whole server, for inspect.
-- name: inspect-waits whole
SET LOCK_TIMEOUT 1000;
SELECT wait_type AS name, CAST(wait_time_ms AS bigint) AS time, CAST(waiting_tasks_count AS bigint) AS waits
FROM sys.dm_os_wait_stats
WHERE wait_time_ms > 0;
