-- What Filewise asks of an Oracle server and does on it besides the workload.
-- {{ident}} quotes a name and {{literal}} a text; both refuse what cannot be
-- quoted. Sizes are in K, that is 1024 bytes. No statement here sets anything of
-- the server, and only those from "create" to "drop" change something: what is
-- named with a name that Filewise made up for this build.

-- name: version
SELECT version, product FROM product_component_version WHERE product LIKE 'Oracle%';

-- With the release update; from 18 on.
-- name: version-full
SELECT version_full FROM product_component_version WHERE product LIKE 'Oracle%';

-- name: identity
SELECT sys_context('USERENV', 'SESSION_USER'), sys_context('USERENV', 'CURRENT_SCHEMA'), sys_context('USERENV', 'CON_NAME'),
  sys_context('USERENV', 'CDB_NAME'), sys_context('USERENV', 'DB_NAME'), sys_context('USERENV', 'SERVER_HOST'),
  sys_context('USERENV', 'SERVICE_NAME'), sys_context('USERENV', 'INSTANCE'), sys_context('USERENV', 'INSTANCE_NAME')
FROM dual;

-- name: privileges
SELECT privilege FROM session_privs;

-- Whether a view may be read.
-- name: access
SELECT 1 FROM sys.{{.View}} WHERE 1 = 0;

-- Packages are listed here only for who may execute them.
-- name: may-lock
SELECT COUNT(*) FROM all_procedures WHERE owner = 'SYS' AND object_name = 'DBMS_LOCK';

-- name: instance
SELECT instance_name, host_name, version, parallel, edition FROM sys.v_$instance;

-- name: database
SELECT name, platform_name, log_mode, force_logging, cdb, open_mode, database_role, flashback_on FROM sys.v_$database;

-- name: redo
SELECT COUNT(*), TO_CHAR(MIN("BYTES")), TO_CHAR(MAX("BYTES")) FROM sys.v_$log;

-- Whose job fails if a datafile that it has listed goes (RMAN-06169).
-- name: rman
SELECT COUNT(*) FROM sys.v_$session WHERE LOWER(program) LIKE 'rman%';

-- name: parameters
SELECT name, value FROM sys.v_$parameter WHERE name IN ({{range $i, $n := .Names}}{{if $i}}, {{end}}{{literal $n}}{{end}});

-- Where the redo goes to: a standby is behind a SERVICE, and DG_CONFIG lists all databases of Data Guard.
-- name: standby
SELECT name, value FROM sys.v_$parameter
WHERE name = 'log_archive_config' AND UPPER(value) LIKE '%DG_CONFIG%' OR name LIKE 'log_archive_dest_%' AND UPPER(value) LIKE '%SERVICE%';

-- name: blocks
SELECT block_size FROM sys.dba_tablespaces WHERE tablespace_name = 'SYSTEM';

-- name: files-of-all
SELECT COUNT(*) FROM sys.dba_data_files;

-- Where datafiles are already.
-- name: places
SELECT DISTINCT SUBSTR(file_name, 1, GREATEST(INSTR(file_name, '/', -1), INSTR(file_name, '\', -1))) FROM sys.dba_data_files ORDER BY 1;

-- What the account's profile limits, which every user may see of himself.
-- name: profile
SELECT limit FROM user_resource_limits WHERE resource_name = 'SESSIONS_PER_USER';

-- In blocks of each tablespace's size: what all files of this container hold.
-- name: bytes-of-all
SELECT SUM(f.blocks * t.block_size) FROM sys.dba_data_files f JOIN sys.dba_tablespaces t ON t.tablespace_name = f.tablespace_name;

-- name: storage-limit
SELECT property_value FROM database_properties WHERE property_name = 'MAX_PDB_STORAGE';

-- name: disk-groups
SELECT name, usable_file_mb FROM sys.v_$asm_diskgroup;

-- name: sessions-limit
SELECT limit_value, current_utilization FROM sys.v_$resource_limit WHERE resource_name = 'processes';

-- The tablespace with its first file. A name that exists is refused by the
-- server, and so is a file that exists: REUSE is never said.
-- name: create
CREATE {{.Type}} TABLESPACE {{ident .Tablespace}} DATAFILE {{.File}}
  EXTENT MANAGEMENT LOCAL {{if .Uniform}}UNIFORM SIZE {{.Uniform}}K{{else}}AUTOALLOCATE{{end}} SEGMENT SPACE MANAGEMENT AUTO;

-- The table that carries the mark, alone in the tablespace at first.
-- name: marker
CREATE TABLE {{ident .Tablespace}} (note CHAR(1)) SEGMENT CREATION IMMEDIATE TABLESPACE {{ident .Tablespace}};

-- name: mark
COMMENT ON TABLE {{ident .Tablespace}} IS {{literal .Mark}};

-- Once there is nothing more to make: the sum of all definitions, by which what is changed or put in later is told. It is
-- taken back before the drop.
-- name: made
COMMENT ON COLUMN {{ident .Tablespace}}.NOTE IS {{literal .Sum}};

-- name: read-made
SELECT comments FROM user_col_comments WHERE table_name = :1 AND column_name = 'NOTE';

-- What a build's tables and programs are by the dictionary, but tables that come and go.
-- name: definitions
SELECT table_name AS object, 'column ' || column_id || ' ' || column_name || ' ' || data_type || ' ' || data_length || ' ' || data_precision || ' ' || data_scale || ' ' || nullable || ' ' || default_length AS line FROM user_tab_columns WHERE table_name LIKE :1
UNION ALL
SELECT i.table_name, 'index ' || i.index_name || ' ' || i.uniqueness || ' ' || c.column_position || ' ' || c.column_name || ' ' || c.descend FROM user_indexes i JOIN user_ind_columns c ON c.index_name = i.index_name WHERE i.table_name LIKE :2
UNION ALL
SELECT table_name, 'constraint ' || constraint_name || ' ' || constraint_type FROM user_constraints WHERE table_name LIKE :3
UNION ALL
SELECT table_name, 'trigger ' || trigger_name FROM user_triggers WHERE table_name LIKE :4
UNION ALL
SELECT name, 'source ' || type || ' ' || line || ' ' || ORA_HASH(text) FROM user_source WHERE name LIKE :5;

-- name: add-file
ALTER TABLESPACE {{ident .Tablespace}} ADD DATAFILE {{.File}};

-- The first move finds room in the added files alone, as the rows still lie in the one before
-- them; the second one takes extents from all.
-- name: rebuild
{{range .Tables}}
ALTER TABLE {{ident .Name}} MOVE;
ALTER TABLE {{ident .Name}} MOVE;
ALTER INDEX {{ident .Key}} REBUILD;
{{end}}

-- Going offline writes every changed block of the tablespace to its files; there
-- is no other checkpoint of one tablespace alone.
-- name: offline
ALTER TABLESPACE {{ident .Tablespace}} OFFLINE NORMAL;

-- name: online
ALTER TABLESPACE {{ident .Tablespace}} ONLINE;

-- name: drop-program
DROP {{.Type}} {{ident .Name}};

-- name: drop-table
DROP TABLE {{ident .Name}} PURGE;

-- Without CASCADE CONSTRAINTS: a key of somebody else's that refers to Filewise's stops it.
-- name: drop
DROP TABLESPACE {{ident .Tablespace}} INCLUDING CONTENTS AND DATAFILES;

-- name: tablespace
SELECT status, bigfile, block_size FROM sys.dba_tablespaces WHERE tablespace_name = :1;

-- name: read-mark
SELECT comments FROM user_tab_comments WHERE table_name = :1 AND table_type = 'TABLE';

-- name: segments
SELECT owner, segment_name, segment_type FROM sys.dba_segments WHERE tablespace_name = :1;

-- Tables have no segment before their first row, unless it was asked for.
-- name: tables-without-segment
SELECT owner, table_name FROM sys.dba_tables WHERE tablespace_name = :1 AND segment_created = 'NO';

-- name: marker-rows
SELECT COUNT(*) FROM {{ident .Tablespace}} WHERE ROWNUM = 1;

-- name: programs
SELECT object_type, object_name FROM user_objects WHERE object_type IN ('PROCEDURE', 'PACKAGE', 'FUNCTION', 'VIEW', 'SEQUENCE') AND object_name LIKE :1;

-- name: tables-of
SELECT table_name FROM user_tables WHERE table_name LIKE :1;

-- Foreign keys of tables of the build, which keep their parents from being dropped.
-- name: foreign-keys
SELECT table_name, constraint_name FROM user_constraints WHERE constraint_type = 'R' AND table_name LIKE :1;

-- name: drop-key
ALTER TABLE {{ident .Name}} DROP CONSTRAINT {{ident .Key}};

-- Tablespaces that hold segments of this account with names like this, or indexes of such tables,
-- whose names may be the server's.
-- name: homes
SELECT tablespace_name FROM user_segments WHERE segment_name LIKE :1
UNION SELECT tablespace_name FROM user_indexes WHERE table_name LIKE :2;

-- Tables whose indexes a tablespace holds.
-- name: indexed
SELECT DISTINCT table_name FROM user_indexes WHERE tablespace_name = :1;

-- A program that does not compile is created nevertheless.
-- name: compile-errors
SELECT name, line, text FROM user_errors WHERE name LIKE :1 AND attribute = 'ERROR' ORDER BY name, sequence;

-- name: files
SELECT file_name, file_id, blocks, autoextensible, increment_by, maxblocks, user_blocks
FROM sys.dba_data_files WHERE tablespace_name = :1 ORDER BY file_id;

-- name: free
SELECT file_id, SUM(blocks) FROM sys.dba_free_space WHERE tablespace_name = :1 GROUP BY file_id;

-- name: tablespaces
SELECT tablespace_name FROM sys.dba_tablespaces WHERE tablespace_name LIKE :1 ORDER BY tablespace_name;

-- name: waits
-- All, and those of sessions of users; from a pluggable database the others are not seen.
SELECT event, wait_class, total_waits, time_waited_micro, total_waits_fg, time_waited_micro_fg FROM sys.v_$system_event WHERE wait_class <> 'Idle';

-- Read and written blocks, and the hundredths of a second that took.
-- name: file-io
SELECT f.file_id, s.phyrds, s.phywrts, s.phyblkrd, s.phyblkwrt, s.readtim, s.writetim
FROM sys.v_$filestat s JOIN sys.dba_data_files f ON f.file_id = s.file# WHERE f.tablespace_name = :1;

-- Sessions of users, but for those of one process of one machine; NULL is an empty
-- text here, as everywhere on Oracle.
-- name: activity
SELECT SUM(DECODE(status, 'ACTIVE', 1, 0)), COUNT(*), COUNT(blocking_session)
FROM sys.v_$session WHERE type = 'USER' AND process || ' ' || machine || ' ' || program <> :1;

-- name: alive
SELECT COUNT(*) FROM sys.v_$session WHERE sid = :1 AND serial# = :2;

-- name: this-session
SELECT sys_context('USERENV', 'SID'), sys_context('USERENV', 'SESSIONID'), sys_context('USERENV', 'INSTANCE') FROM dual;

-- name: session-serial
SELECT serial# FROM sys.v_$session WHERE sid = :1 AND audsid = :2;

-- What Filewise's sessions announce of themselves: module, action, client_info.
-- name: announce whole
BEGIN
  DBMS_APPLICATION_INFO.SET_MODULE(:1, :2);
  DBMS_APPLICATION_INFO.SET_CLIENT_INFO(:3);
END;

-- name: announced
SELECT sid, serial#, action, client_info, TO_CHAR(logon_time, 'YYYYMMDDHH24MISS') FROM sys.v_$session WHERE module = :1;

-- 0: held from now on; 1: somebody else holds it; 4: this session holds it.
-- name: lock whole
DECLARE
  answer NUMBER;
BEGIN
  answer := SYS.DBMS_LOCK.REQUEST(id => {{.Lock}}, lockmode => 6, timeout => 0, release_on_commit => FALSE);
  IF answer <> 0 AND answer <> 4 THEN
    RAISE_APPLICATION_ERROR(-20099, 'DBMS_LOCK.REQUEST answers ' || answer);
  END IF;
END;

-- name: parse whole
-- Whether custom SQL can be executed: what names it gives is looked up, and nothing is done.
DECLARE
  c INTEGER := SYS.DBMS_SQL.OPEN_CURSOR;
BEGIN
  SYS.DBMS_SQL.PARSE(c, :1, SYS.DBMS_SQL.NATIVE);
  SYS.DBMS_SQL.CLOSE_CURSOR(c);
END;

-- name: plan whole
-- A parallel plan has coordinators of parallel servers. The query is not executed, and the plan's rows, in a table that is
-- a session's own as a rule, are rolled back.
BEGIN
  EXECUTE IMMEDIATE 'EXPLAIN PLAN SET STATEMENT_ID = ''filewise'' FOR ' || :1;
  SELECT COUNT(*) INTO :2 FROM plan_table WHERE statement_id = 'filewise' AND operation = 'PX COORDINATOR';
  ROLLBACK;
END;

-- name: rollback
ROLLBACK;

-- name: loaded-batches
-- By which a batch of a load is known to be there.
CREATE TABLE {{ident .T.loaded}} (
  table_name VARCHAR2(30 BYTE) NOT NULL,
  batch NUMBER(19) NOT NULL,
  CONSTRAINT {{ident .X.loaded}} PRIMARY KEY (table_name, batch) USING INDEX TABLESPACE {{ident .IndexTablespace}}
) SEGMENT CREATION IMMEDIATE TABLESPACE {{ident .Tablespace}};

-- name: batch-loaded
SELECT COUNT(*) FROM {{ident .T.loaded}} WHERE table_name = :1 AND batch = :2;

-- name: mark-loaded
-- In the transaction that loads the batch.
INSERT INTO {{ident .T.loaded}} (table_name, batch) VALUES (:1, :2);

-- name: load
-- Many rows at a time, by array binding.
INSERT INTO {{ident .Table}} ({{range $i, $c := .Columns}}{{if $i}}, {{end}}{{$c}}{{end}}) VALUES ({{range $i, $c := .Columns}}{{if $i}}, {{end}}:{{bind $i}}{{end}});

-- name: statistics whole
-- Of a table of the build, for the optimizer, once it is loaded.
BEGIN
  DBMS_STATS.GATHER_TABLE_STATS(ownname => USER, tabname => {{literal .Table}});
END;

-- A copy of a schema: a dump of Data Pump is imported into the schema of a user that has the name
-- of the build. What the user may is to connect, and to fill that tablespace: so nothing of the
-- dump comes to lie elsewhere, and the SQL of the workload, which the user executes, changes nothing else.
-- name: copy-user
CREATE USER {{ident .Tablespace}} IDENTIFIED BY {{ident .Password}} DEFAULT TABLESPACE {{ident .Tablespace}} QUOTA UNLIMITED ON {{ident .Tablespace}};

-- name: copy-may-connect
GRANT CREATE SESSION TO {{ident .Tablespace}};

-- name: copy-export copy-import whole
-- Export: the schema as of one moment, to a file that is not there yet. It only reads what it exports.
-- Import: objects and rows of the schema, without what reaches beyond it: users, grants, jobs, links. Without
-- their attributes segments go to the tablespace of the user. The first error is told.
DECLARE
  h NUMBER;
  state VARCHAR2(30) := 'UNDEFINED';
  answer KU$_STATUS;
  wrong KU$_LOGENTRY;
  why VARCHAR2(2000);
  i NUMBER;
BEGIN
  h := SYS.DBMS_DATAPUMP.OPEN(operation => '{{if eq op "export"}}EXPORT{{else}}IMPORT{{end}}', job_mode => 'SCHEMA', job_name => {{literal .Job}});
  SYS.DBMS_DATAPUMP.ADD_FILE(handle => h, filename => {{literal .File}}, directory => {{literal .Directory}});
  SYS.DBMS_DATAPUMP.METADATA_FILTER(handle => h, name => 'SCHEMA_EXPR', value => {{literal (among .Schema)}});
{{- if eq op "export"}}
  SYS.DBMS_DATAPUMP.SET_PARAMETER(handle => h, name => 'FLASHBACK_SCN', value => TIMESTAMP_TO_SCN(SYSTIMESTAMP));
{{- else}}
  SYS.DBMS_DATAPUMP.METADATA_FILTER(handle => h, name => 'EXCLUDE_PATH_EXPR', value => {{literal (among "USER" "GRANT" "ROLE_GRANT" "DEFAULT_ROLE" "TABLESPACE_QUOTA" "DB_LINK" "JOB" "PROCOBJ" "PROCACT_SCHEMA" "REFRESH_GROUP" "AUDIT_OBJ")}});
  SYS.DBMS_DATAPUMP.METADATA_REMAP(handle => h, name => 'REMAP_SCHEMA', old_value => {{literal .Schema}}, value => {{literal .Tablespace}});
  SYS.DBMS_DATAPUMP.METADATA_TRANSFORM(handle => h, name => 'SEGMENT_ATTRIBUTES', value => 0);
  SYS.DBMS_DATAPUMP.METADATA_TRANSFORM(handle => h, name => 'OID', value => 0);
{{- end}}
  SYS.DBMS_DATAPUMP.START_JOB(handle => h, cluster_access => 0); -- the directory is of this instance
  WHILE state <> 'COMPLETED' AND state <> 'STOPPED' LOOP
    SYS.DBMS_DATAPUMP.GET_STATUS(h, SYS.DBMS_DATAPUMP.KU$_STATUS_JOB_ERROR, 5, state, answer);
    wrong := answer.error;
    IF wrong IS NOT NULL AND why IS NULL THEN
      i := wrong.FIRST;
      WHILE i IS NOT NULL LOOP
        why := SUBSTR(why || ' ' || wrong(i).logtext, 1, 1900);
        i := wrong.NEXT(i);
      END LOOP;
    END IF;
  END LOOP;
  SYS.DBMS_DATAPUMP.DETACH(handle => h);
  IF why IS NOT NULL OR state <> 'COMPLETED' THEN
    RAISE_APPLICATION_ERROR(-20011, 'the {{op}} ended as ' || state || why);
  END IF;
END;

-- name: copy-unlink whole
BEGIN
  SYS.UTL_FILE.FREMOVE({{literal .Directory}}, {{literal .File}});
END;

-- An import goes on when Filewise does not.
-- name: copy-jobs
SELECT job_name FROM user_datapump_jobs WHERE job_name = :1;

-- name: copy-stop whole
DECLARE
  h NUMBER;
BEGIN
  h := SYS.DBMS_DATAPUMP.ATTACH(job_name => {{literal .Job}});
  SYS.DBMS_DATAPUMP.STOP_JOB(handle => h, immediate => 1, keep_master => 0);
END;

-- name: copy-users
SELECT username FROM all_users WHERE username = :1;

-- name: copy-drop-user
DROP USER {{ident .Tablespace}} CASCADE;

-- name: copy-role
SELECT role FROM session_roles WHERE role = :1;

-- name: copy-directory
SELECT directory_name FROM all_directories WHERE directory_name = :1;

-- name: copy-dump whole
-- Whether a file is a dump of Data Pump, and not of the old EXP, or of an external table.
DECLARE
  info KU$_DUMPFILE_INFO;
  kind NUMBER;
BEGIN
  SYS.DBMS_DATAPUMP.GET_DUMPFILE_INFO({{literal .File}}, {{literal .Directory}}, info, kind);
  IF kind <> 1 THEN
    RAISE_APPLICATION_ERROR(-20012, 'the file is no dump of Data Pump');
  END IF;
END;

-- name: copy-columns
-- Tables with rows of their own, as their owner sees them.
SELECT c.table_name, c.column_name, c.data_type FROM user_tab_columns c JOIN user_tables t ON t.table_name = c.table_name
WHERE t."TEMPORARY" = 'N' AND t.nested = 'NO' AND t.dropped = 'NO' AND (t.iot_type IS NULL OR t.iot_type = 'IOT')
  AND t.table_name NOT IN (SELECT x.table_name FROM user_external_tables x) ORDER BY c.table_name, c.column_id;

-- name: copy-sum
-- Rows, and the sum over them of the first 32 bits of the hash of the hashes of columns.
SELECT TO_CHAR(COUNT(*)), TO_CHAR(SUM(TO_NUMBER(SUBSTR(h, 1, 8), 'XXXXXXXX')))
FROM (SELECT {{if .Hashed}}RAWTOHEX(STANDARD_HASH({{range $i, $c := .Hashed}}{{if $i}} || {{end}}STANDARD_HASH({{$c}}, 'MD5'){{end}}, 'MD5')){{else}}'0'{{end}} AS h FROM {{longer .Table}});

-- name: copy-elsewhere
SELECT segment_name, tablespace_name FROM sys.dba_segments WHERE owner = :1 AND tablespace_name <> :2;

-- The files of a user's database, for inspect and backups.
-- name: inspect-files
SELECT t.tablespace_name, t.contents, t.bigfile, f.file_id, f.file_name, f.blocks * t.block_size, f.autoextensible, f.increment_by * t.block_size, f.maxblocks * t.block_size
FROM sys.dba_data_files f JOIN sys.dba_tablespaces t ON t.tablespace_name = f.tablespace_name ORDER BY t.tablespace_name, f.file_id;
