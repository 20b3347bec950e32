-- What is asked of a server besides the workloads.

-- What the server and the account are. The session's own process has another number than
-- the driver was told where a pooler stands between.
-- name: about
SELECT current_setting('server_version_num')::integer, version(), current_user::text, current_database()::text,
       coalesce((SELECT setting FROM pg_settings WHERE name = 'data_directory'), ''),
       r.rolsuper, r.rolcreatedb OR r.rolsuper,
       r.rolsuper OR pg_has_role(current_user, 'pg_monitor', 'USAGE'),
       r.rolsuper OR EXISTS (SELECT 1 FROM pg_roles p WHERE p.rolname = 'pg_checkpoint' AND pg_has_role(current_user, p.oid, 'USAGE')),
       pg_is_in_recovery(), current_setting('transaction_read_only') = 'on',
       pg_backend_pid(), inet_server_addr() IS NULL OR inet_server_addr() = inet_client_addr()
  FROM pg_roles r WHERE r.rolname = current_user;

-- The objects under names like Filewise's: databases first, then tablespaces, which can go
-- only after them.
-- name: names
SELECT * FROM (SELECT 'database', datname::text FROM pg_database WHERE datname LIKE 'filewise\_%' ORDER BY 2) d UNION ALL
SELECT * FROM (SELECT 'tablespace', spcname::text FROM pg_tablespace WHERE spcname LIKE 'filewise\_%' ORDER BY 2) s;

-- An object with its comment, whether the account owns it, whose it is, and how many
-- sessions of others are on it (or databases, on a tablespace). Filewise's own sessions come
-- from looking into a database, and end with the look.
-- name: database
SELECT coalesce(shobj_description(d.oid, 'pg_database'), ''), pg_has_role(current_user, d.datdba, 'USAGE'), pg_get_userbyid(d.datdba)::text,
       (SELECT count(*) FROM pg_stat_activity a WHERE a.datid = d.oid
           AND a.usesysid IS NOT NULL AND NOT starts_with(a.application_name, $2))
  FROM pg_database d WHERE d.datname = $1;

-- name: tablespace
SELECT coalesce(shobj_description(s.oid, 'pg_tablespace'), ''), pg_has_role(current_user, s.spcowner, 'USAGE'),
       pg_get_userbyid(s.spcowner)::text,
       (SELECT count(*) FROM pg_tablespace_databases(s.oid))
  FROM pg_tablespace s WHERE s.spcname = $1;

-- Sessions that create an object of that name, and will mark it.
-- name: makers
SELECT count(*) FROM pg_stat_activity
 WHERE application_name LIKE 'filewise ________ creating %' AND application_name LIKE '%' || $1;

-- The sessions of others on a database; what the server does by itself has no user.
-- name: users
SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND usesysid IS NOT NULL AND NOT starts_with(application_name, $2);

-- The limits, of which −1 is none, and what is taken.
-- name: connections
SELECT current_setting('max_connections')::bigint,
       current_setting('superuser_reserved_connections')::bigint + coalesce(current_setting('reserved_connections', true), '0')::bigint,
       (SELECT count(*) FROM pg_stat_activity WHERE datid IS NOT NULL AND usesysid IS NOT NULL), r.rolconnlimit::bigint,
       (SELECT count(*) FROM pg_stat_activity WHERE usesysid = r.oid)
  FROM pg_roles r WHERE r.rolname = current_user;

-- In the tablespace where the database lies anyway, which is that of its template, no right
-- is asked for.
-- name: may-create
SELECT has_tablespace_privilege(oid, 'CREATE') OR oid = (SELECT dattablespace FROM pg_database WHERE datname = 'template0')
  FROM pg_tablespace WHERE spcname = $1;

-- Others' sessions. An account without pg_monitor does not see what those of other roles do,
-- which the last column counts.
-- name: activity
SELECT count(*), count(*) FILTER (WHERE state = 'active' OR state = 'fastpath function call'),
       count(*) FILTER (WHERE state IS NULL OR state = 'disabled')
  FROM pg_stat_activity
 WHERE datid IS NOT NULL AND usesysid IS NOT NULL AND coalesce(backend_type, 'client backend') = 'client backend'
   AND pid <> pg_backend_pid() AND NOT starts_with(application_name, $1);

-- How far the slowest standby lags behind in replaying; NULL: there is none, or the account
-- may not see it.
-- name: lag
SELECT extract(epoch FROM max(replay_lag))::float8 FROM pg_stat_replication;

-- The relations of the build's tables. Of TOAST tables only those that hold something tell
-- anything. A table that comes and goes is no part of a layout.
-- name: relations
WITH t AS (SELECT c.oid, c.reltablespace, c.reltoastrelid, c.relkind,
                  CASE n.nspname WHEN 'public' THEN '' ELSE n.nspname || '.' END || c.relname AS name
             FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE c.relkind = 'r' AND c.relname !~ '^fw_churn_' AND n.nspname <> ALL ('{information_schema,filewise}')
              AND n.nspname !~ '^pg_')
SELECT t.name, 'table', coalesce(s.spcname::text, ''), coalesce(pg_relation_filepath(t.oid), ''), pg_relation_size(t.oid), t.name
  FROM t LEFT JOIN pg_tablespace s ON s.oid = t.reltablespace
UNION ALL
SELECT c.relname::text, 'index', coalesce(s.spcname::text, ''), coalesce(pg_relation_filepath(c.oid), ''), pg_relation_size(c.oid), t.name
  FROM t JOIN pg_index i ON i.indrelid = t.oid JOIN pg_class c ON c.oid = i.indexrelid AND c.relkind = 'i'
  LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
UNION ALL
SELECT c.relname::text, 'toast', coalesce(s.spcname::text, ''), coalesce(pg_relation_filepath(c.oid), ''), pg_relation_size(c.oid), t.name
  FROM t JOIN pg_class c ON c.oid = t.reltoastrelid LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
 WHERE pg_relation_size(c.oid) > 0;

-- What is in a database besides what a new one has, and, with $1, besides what Filewise
-- makes: tables, indexes and routines with its signature (see sign.go), keys of such tables, and
-- the schema for marks of loading. What a new database has lies below
-- FirstNormalObjectId (src/include/access/transam.h).
-- name: others
WITH made AS MATERIALIZED (
  SELECT c.oid, c.reltoastrelid AS toast
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE $1 AND c.relkind IN ('r', 'p') AND n.nspname IN ('public', 'filewise')
     AND c.relowner = (SELECT datdba FROM pg_database WHERE datname = current_database())
     AND obj_description(c.oid, 'pg_class') IN (
       'Filewise 2: ' || substr(encode(sha256(convert_to(current_database() || ' ' || (
           SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod) || CASE WHEN attnotnull THEN ' not null' ELSE '' END, ', '
               ORDER BY attnum)
             FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped
         ), 'UTF8')), 'hex'), 1, 16),
       'Filewise: ' || substr(encode(sha256(convert_to(current_database() || ' ' || (
           SELECT string_agg(attname, ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped
         ), 'UTF8')), 'hex'), 1, 16))
), tables AS (SELECT oid FROM made UNION ALL SELECT toast FROM made WHERE toast <> 0
), relations AS MATERIALIZED (SELECT oid FROM tables UNION ALL SELECT indexrelid FROM pg_index i
    WHERE indrelid IN (SELECT toast FROM made)
       OR indrelid IN (SELECT oid FROM made WHERE obj_description(oid, 'pg_class') LIKE 'Filewise: %')
       OR indrelid IN (SELECT oid FROM made) AND (
         indexrelid IN (SELECT conindid FROM pg_constraint WHERE contype = 'p' AND conrelid = indrelid)
         OR indpred IS NULL AND obj_description(indexrelid, 'pg_class') = 'Filewise 2: ' || substr(encode(sha256(convert_to(
           current_database() || ' ' || CASE WHEN indisunique THEN 'UNIQUE ' ELSE '' END || 'INDEX ' || (
             SELECT relname FROM pg_class WHERE oid = indexrelid) || ' (' || (
             SELECT string_agg(pg_get_indexdef(i.indexrelid, k, true), ', ' ORDER BY k) FROM generate_series(1, i.indnatts::integer) k
           ) || ')', 'UTF8')), 'hex'), 1, 16))
), found (class, id) AS (
  SELECT 'pg_class', oid FROM pg_class WHERE oid NOT IN (SELECT oid FROM relations)
   UNION ALL SELECT 'pg_type', oid FROM pg_type WHERE typrelid = 0 AND typelem = 0 OR typtype = 'd'
   UNION ALL SELECT 'pg_proc', oid FROM pg_proc WHERE NOT ($1 AND pronamespace = 'public'::regnamespace AND
       substr(prosrc, 1, 30) = E'\n-- Filewise: ' ||
         substr(encode(sha256(convert_to(current_database() || ' ' || proname || substr(prosrc, 31), 'UTF8')), 'hex'), 1, 16))
   UNION ALL SELECT 'pg_namespace', oid FROM pg_namespace WHERE NOT ($1 AND (nspname = 'filewise' OR nspname ~ '^pg_(toast_)?temp_\d+$'))
   UNION ALL SELECT 'pg_attrdef', oid FROM pg_attrdef
   UNION ALL SELECT 'pg_trigger', oid FROM pg_trigger WHERE NOT tgisinternal
   UNION ALL SELECT 'pg_constraint', oid FROM pg_constraint WHERE contype IN ('c', 'f', 'x')
   UNION ALL SELECT 'pg_rewrite', oid FROM pg_rewrite
   UNION ALL SELECT 'pg_policy', oid FROM pg_policy
   UNION ALL SELECT 'pg_statistic_ext', oid FROM pg_statistic_ext
   UNION ALL SELECT 'pg_extension', oid FROM pg_extension
   UNION ALL SELECT 'pg_language', oid FROM pg_language
   UNION ALL SELECT 'pg_event_trigger', oid FROM pg_event_trigger
   UNION ALL SELECT 'pg_publication', oid FROM pg_publication
   UNION ALL SELECT 'pg_subscription', oid FROM pg_subscription
    WHERE subdbid = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
   UNION ALL SELECT 'pg_foreign_data_wrapper', oid FROM pg_foreign_data_wrapper
   UNION ALL SELECT 'pg_foreign_server', oid FROM pg_foreign_server
   UNION ALL SELECT 'pg_cast', oid FROM pg_cast
   UNION ALL SELECT 'pg_operator', oid FROM pg_operator
   UNION ALL SELECT 'pg_opclass', oid FROM pg_opclass
   UNION ALL SELECT 'pg_opfamily', oid FROM pg_opfamily
   UNION ALL SELECT 'pg_am', oid FROM pg_am
   UNION ALL SELECT 'pg_collation', oid FROM pg_collation
   UNION ALL SELECT 'pg_conversion', oid FROM pg_conversion
   UNION ALL SELECT 'pg_transform', oid FROM pg_transform
   UNION ALL SELECT 'pg_default_acl', oid FROM pg_default_acl
   UNION ALL SELECT 'pg_ts_config', oid FROM pg_ts_config
   UNION ALL SELECT 'pg_ts_dict', oid FROM pg_ts_dict
   UNION ALL SELECT 'pg_ts_parser', oid FROM pg_ts_parser
   UNION ALL SELECT 'pg_ts_template', oid FROM pg_ts_template
   UNION ALL SELECT 'pg_largeobject', oid FROM pg_largeobject_metadata
), others AS (SELECT class, id FROM found WHERE id >= 16384 OR class = 'pg_largeobject')
SELECT (SELECT count(*) FROM others), coalesce((SELECT string_agg(what, ', ') FROM (
  SELECT coalesce(pg_describe_object(class::regclass, id, 0), class || ' ' || id) AS what
    FROM others ORDER BY class <> 'pg_class', class, id LIMIT 3) s), '');

-- The comment of an object by its name.
-- name: mark-database
SELECT coalesce(shobj_description(oid, 'pg_database'), '') FROM pg_database WHERE datname = $1;

-- name: mark-tablespace
SELECT coalesce(shobj_description(oid, 'pg_tablespace'), '') FROM pg_tablespace WHERE spcname = $1;

-- No table is named: whoever has locked one of the catalogue, even pg_tablespace, which
-- the planner reads for every table, does not hold it up.
-- name: greeting
SELECT current_setting('server_version_num')::integer, version(), current_user::text, current_database()::text,
       pg_has_role(current_user, 'pg_monitor', 'USAGE'),
       CASE WHEN pg_has_role(current_user, 'pg_read_all_settings', 'USAGE') THEN current_setting('data_directory') ELSE '' END,
       inet_server_addr() IS NULL OR inet_server_addr() = inet_client_addr();

-- Those of the whole server, where the probe asks for one database.
-- name: all-waits
SELECT coalesce(backend_type, ''), coalesce(wait_event_type, ''), coalesce(wait_event, ''), count(*)
  FROM pg_stat_get_activity(NULL) WHERE pid <> pg_backend_pid() AND wait_event IS NOT NULL GROUP BY 1, 2, 3;
