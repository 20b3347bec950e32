-- What a capture asks: statements that the server has counted, and what statistics tell of
-- tables. No view of a licence, and no table of the user's.

-- name: capture-schema
SELECT username FROM all_users WHERE username = :1 OR username = UPPER(:2);

-- Statements in the shared pool, with microseconds; of a text 4,000 letters in pieces that a row
-- of any character set holds. What PL/SQL executes is counted by itself as well.
-- name: capture-statements
SELECT s.sql_id, s.executions, s.elapsed_time, s.plsql_exec_time, s.rows_processed, DBMS_LOB.GETLENGTH(s.sql_fulltext),
  DBMS_LOB.SUBSTR(s.sql_fulltext, 1000, 1), DBMS_LOB.SUBSTR(s.sql_fulltext, 1000, 1001),
  DBMS_LOB.SUBSTR(s.sql_fulltext, 1000, 2001), DBMS_LOB.SUBSTR(s.sql_fulltext, 1000, 3001)
FROM sys.v_$sqlstats s WHERE s.executions > 0
  AND s.sql_id IN (SELECT q.sql_id FROM sys.v_$sql q WHERE q.parsing_schema_name = :1 AND COALESCE(q.module, '-') <> 'Filewise');

-- name: capture-sessions
SELECT SUM(DECODE(status, 'ACTIVE', 1, 0)), COUNT(*) FROM sys.v_$session
WHERE type = 'USER' AND schemaname = :1 AND audsid <> sys_context('USERENV', 'SESSIONID');

-- name: capture-parse whole
-- Whether the server takes a statement of a schema; it is not executed.
DECLARE
  c INTEGER := SYS.DBMS_SQL.OPEN_CURSOR;
BEGIN
  SYS.DBMS_SQL.PARSE(c, :1, SYS.DBMS_SQL.NATIVE, schema => :2);
  SYS.DBMS_SQL.CLOSE_CURSOR(c);
EXCEPTION
  WHEN OTHERS THEN
    SYS.DBMS_SQL.CLOSE_CURSOR(c);
    RAISE;
END;

-- What a name is that no table has.
-- name: capture-object
SELECT object_type FROM sys.dba_objects WHERE owner = :1 AND object_name = :2;

-- name: capture-table
SELECT num_rows, cluster_name, iot_type, "TEMPORARY" FROM sys.dba_tables WHERE owner = :1 AND table_name = :2;

-- name: capture-bytes
SELECT SUM(s.blocks * t.block_size) FROM sys.dba_segments s JOIN sys.dba_tablespaces t ON t.tablespace_name = s.tablespace_name
WHERE s.owner = :1 AND s.segment_name = :2;

-- name: capture-columns
SELECT c.column_name, c.data_type, c.data_length, c.char_length, c.data_precision, c.data_scale, s.num_distinct, s.avg_col_len
FROM sys.dba_tab_columns c LEFT JOIN sys.dba_tab_col_statistics s
  ON s.owner = c.owner AND s.table_name = c.table_name AND s.column_name = c.column_name
WHERE c.owner = :1 AND c.table_name = :2 ORDER BY c.column_id;

-- The ends of columns, as the server stores values.
-- name: capture-ranges
SELECT column_name, RAWTOHEX(low_value), RAWTOHEX(high_value), num_nulls, histogram FROM sys.dba_tab_col_statistics
WHERE owner = :1 AND table_name = :2{{range .Withheld}} AND column_name <> {{literal .}}{{end}};

-- name: capture-histograms
SELECT column_name, endpoint_number, endpoint_value, endpoint_actual_value, endpoint_repeat_count FROM sys.dba_tab_histograms
WHERE owner = :1 AND table_name = :2{{range .Withheld}} AND column_name <> {{literal .}}{{end}} ORDER BY column_name, endpoint_number;

-- name: capture-indexes
SELECT i.index_name, i.uniqueness, i.index_type, c.column_name FROM sys.dba_indexes i
JOIN sys.dba_ind_columns c ON c.index_owner = i.owner AND c.index_name = i.index_name
WHERE i.table_owner = :1 AND i.table_name = :2 ORDER BY i.index_name, c.column_position;
