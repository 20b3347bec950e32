-- What probes read.

-- What the sessions of this database and the server's own processes wait for. The function
-- below pg_stat_activity has had the same columns since PostgreSQL 10, and spares the view's
-- joins.
-- name: waits
SELECT coalesce(backend_type, ''), coalesce(wait_event_type, ''), coalesce(wait_event, ''), count(*)
  FROM pg_stat_get_activity(NULL)
 WHERE pid <> pg_backend_pid() AND (datid IS NULL OR datid = 0 OR datid = (SELECT oid FROM pg_database WHERE datname = current_database()))
   AND wait_event IS NOT NULL
 GROUP BY 1, 2, 3;

-- What the server counts of each file of the build's. Blocks that are read come from the
-- operating system, whose cache may have had them. Writes are not counted by file: of a table
-- there are the rows, and of each file its size.
-- name: files
SELECT c.relname::text, coalesce(s.spcname::text, ''), coalesce(pg_relation_filepath(c.oid), ''), pg_relation_size(c.oid), c.relkind = 'r',
       pg_stat_get_blocks_fetched(c.oid) - pg_stat_get_blocks_hit(c.oid),
       pg_stat_get_tuples_inserted(c.oid) + pg_stat_get_tuples_updated(c.oid) + pg_stat_get_tuples_deleted(c.oid),
       current_setting('block_size')::bigint
  FROM pg_class c LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
 WHERE c.relkind IN ('r', 'i') AND c.relnamespace = 'public'::regnamespace
    OR c.relkind = 't' AND c.oid IN (SELECT reltoastrelid FROM pg_class WHERE relnamespace = 'public'::regnamespace)
       AND pg_relation_size(c.oid) > 0
 ORDER BY 1;

-- name: io
SELECT json_build_object('timed', current_setting('track_io_timing')::boolean, 'wal_timed', current_setting('track_wal_io_timing')::boolean,
       'rows', (SELECT json_agg(v) FROM pg_catalog.pg_stat_io v))::text;
