-- What an inspection asks.

-- Who has locked a table of the catalogue.
-- name: holders
SELECT coalesce(string_agg(DISTINCT relation::regclass || ' is locked by process ' || pid, ', '), '')
  FROM pg_lock_status() WHERE granted AND mode = 'AccessExclusiveLock' AND relation < 16384;

-- name: settings
SELECT name, current_setting(name, true), pg_size_bytes(current_setting('shared_buffers')) FROM unnest(string_to_array($1, ',')) name;

-- The tablespaces with their places, and whether this database's tables lie there that
-- say nothing.
-- name: spaces
SELECT s.spcname::text, pg_tablespace_location(s.oid), has_tablespace_privilege(s.oid, 'CREATE'), s.oid = d.dattablespace
  FROM pg_tablespace s, pg_database d WHERE d.datname = current_database() AND s.spcname <> 'pg_global' ORDER BY s.oid;

-- The size of a database that the account may not connect to is not told.
-- name: sizes
SELECT d.datname::text, d.datistemplate OR d.datname = 'postgres', s.spcname::text,
       CASE WHEN has_database_privilege(d.oid, 'CONNECT') OR pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')
            THEN pg_database_size(d.oid) END
  FROM pg_database d JOIN pg_tablespace s ON s.oid = d.dattablespace
 WHERE d.datname <> current_database() ORDER BY 1;

-- The largest tables with their partitions, each one file (in segments of 1 GB). Where a
-- table is locked exclusively, or there are too many, sizes cannot be asked, and without $1 the one that the
-- catalogue has of its last ANALYZE stands for it. Of all tables nothing else is asked: each
-- function opens or looks up 30,000 of them.
-- name: tables
WITH leaf AS (
  SELECT c.oid, n.nspname, c.relname, s.spcname::text AS space,
         CASE WHEN c.relispartition THEN pg_partition_root(c.oid)::oid ELSE c.oid END AS root,
         CASE WHEN $1 THEN pg_relation_size(c.oid) ELSE c.relpages::bigint * current_setting('block_size')::bigint END AS bytes,
         greatest(c.reltuples, 0)::float8 AS tuples
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
   WHERE c.relkind IN ('r', 'm') AND c.relpersistence <> 't' AND n.nspname NOT IN ('pg_catalog', 'information_schema')
     AND n.nspname NOT LIKE 'pg\_toast%'),
largest AS (SELECT root, sum(bytes) AS bytes FROM leaf GROUP BY root ORDER BY 2 DESC NULLS LAST LIMIT 20)
SELECT rn.nspname || '.' || rc.relname, rc.relkind = 'p', l.nspname || '.' || l.relname, l.space, coalesce(l.bytes, 0)::bigint,
       pg_stat_get_blocks_fetched(l.oid) - pg_stat_get_blocks_hit(l.oid), l.tuples, pg_stat_get_tuples_inserted(l.oid)::float8,
       (pg_stat_get_tuples_updated(l.oid) + pg_stat_get_tuples_deleted(l.oid))::float8,
       coalesce(obj_description(rn.oid, 'pg_namespace'), '') LIKE $2 || '%'
  FROM largest g JOIN leaf l USING (root) JOIN pg_class rc ON rc.oid = g.root JOIN pg_namespace rn ON rn.oid = rc.relnamespace
 ORDER BY g.bytes DESC NULLS LAST, 1, 3 LIMIT 5000;

-- What was never reset has counted as long as the background writer's.
-- name: cache
SELECT sum(blks_hit + blks_read)::float8, sum(blks_read)::float8, sum(temp_files)::float8, sum(temp_bytes)::float8,
       extract(epoch FROM now() - coalesce(min(stats_reset), pg_stat_get_bgwriter_stat_reset_time()))::float8,
       sum(blk_read_time)::float8, sum(blk_write_time)::float8, (sum(numbackends) - 1)::float8 FROM pg_stat_database;

-- PostgreSQL 16's; ms.
-- name: times
SELECT sum(reads)::float8, sum(read_time)::float8, sum(writes)::float8, sum(write_time)::float8, sum(extends)::float8
  FROM pg_stat_io WHERE object = 'relation';

-- A view's one row.
-- name: view
SELECT to_json(v)::text FROM pg_catalog.{{ident .View}} v;

-- name: wal
SELECT count(*), coalesce(sum(size), 0)::bigint FROM pg_ls_waldir();
