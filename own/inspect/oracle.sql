-- What inspect asks, besides inspect-files of the engine's own: the dictionary and views that every edition has, none of a
-- licence. Sizes are in blocks of each tablespace's size, as the grammar's checker
-- knows no column of the other name.

-- name: inspect-instance
SELECT (SYSDATE - startup_time) * 86400 FROM sys.v_$instance;

-- name: inspect-cores
SELECT stat_name, value FROM sys.v_$osstat WHERE stat_name IN ('NUM_CPUS', 'PHYSICAL_MEMORY_BYTES');

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
