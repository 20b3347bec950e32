-- What has to be known of a user's tables to spread them anew. All is asked with the
-- search path below, so that every definition names its objects in full.

-- The user's tables, the largest first, with the bytes of their indexes.
-- name: tables
SELECT c.oid::bigint, n.nspname::text, c.relname::text, pg_table_size(c.oid)::bigint, pg_indexes_size(c.oid)::bigint,
       pg_get_userbyid(c.relowner)::text, coalesce(s.spcname::text, ''), coalesce(array_to_string(c.reloptions, ', '), ''), c.relkind = 'p'
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
 WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relpersistence <> 't' AND n.nspname <> 'information_schema'
   AND n.nspname NOT LIKE 'pg\_%' AND coalesce(obj_description(n.oid, 'pg_namespace'), '') NOT LIKE $1 || '%'
   AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e')
 ORDER BY pg_table_size(c.oid) + pg_indexes_size(c.oid) DESC, 2, 3;

-- Why a table cannot be spread anew with all that hangs on it.
-- name: problems
SELECT DISTINCT why FROM pg_class c, LATERAL (
  SELECT 'it is partitioned already, ' || pg_get_partkeydef(c.oid) WHERE c.relkind = 'p'
  UNION ALL SELECT 'it is unlogged, which a partitioned table cannot be' WHERE c.relpersistence = 'u'
  UNION ALL SELECT 'it inherits from a table, or another inherits from it' WHERE c.relkind <> 'p' AND EXISTS (SELECT FROM pg_inherits WHERE c.oid IN (inhrelid, inhparent))
  UNION ALL SELECT 'it is made of a type (OF)' WHERE c.reloftype <> 0
  UNION ALL SELECT 'it has row security' WHERE c.relrowsecurity OR EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid)
  UNION ALL SELECT 'its replica identity is not the default' WHERE c.relreplident <> 'd'
  UNION ALL SELECT 'it has security labels' WHERE EXISTS (SELECT FROM pg_seclabel WHERE objoid = c.oid AND classoid = 'pg_class'::regclass)
  UNION ALL SELECT 'it has rule ' || rulename || ', which would stay with the old table' FROM pg_rewrite WHERE ev_class = c.oid
  UNION ALL SELECT 'it is in publication ' || pubname || ', which would stay with the old table' FROM pg_publication p JOIN pg_publication_rel r ON r.prpubid = p.oid
   WHERE r.prrelid = c.oid
  UNION ALL SELECT 'column ' || a.attrelid::regclass || '.' || quote_ident(a.attname) || ' is of type ' || format_type(a.atttypid, a.atttypmod)
      || ': its rows, which name tables by their OIDs, would name the old table'
    FROM pg_attribute a JOIN pg_class h ON h.oid = a.attrelid JOIN pg_type y ON y.oid = a.atttypid
   WHERE h.relkind IN ('r', 'p', 'm') AND a.attnum > 0 AND NOT a.attisdropped AND h.relnamespace NOT IN ('pg_catalog'::regnamespace,
         'information_schema'::regnamespace) AND ARRAY[y.oid, y.typelem, y.typbasetype] && ARRAY['regclass'::regtype, 'regtype'::regtype]::oid[]
  UNION ALL SELECT 'constraint ' || conname || ' excludes, which a partitioned table cannot' FROM pg_constraint
   WHERE conrelid = c.oid AND contype = 'x'
  UNION ALL SELECT 'constraint ' || conname || ' is not validated, as ALTER TABLE … VALIDATE CONSTRAINT does' FROM pg_constraint
   WHERE c.oid IN (conrelid, confrelid) AND NOT convalidated
  UNION ALL SELECT 'trigger ' || tgname || ' is of a kind that partitioned tables do not have' FROM pg_trigger
   WHERE tgrelid = c.oid AND NOT tgisinternal AND tgtype & 1 = 1 AND (tgnewtable IS NOT NULL OR tgoldtable IS NOT NULL)
  UNION ALL SELECT 'trigger ' || tgname || ' of ' || tgrelid::regclass || ' refers to it' FROM pg_trigger
   WHERE tgconstrrelid = c.oid AND NOT tgisinternal
  UNION ALL SELECT 'index ' || indexrelid::regclass || ' is invalid (REINDEX it), or the table is clustered by it (SET WITHOUT CLUSTER)' FROM pg_index
   WHERE indrelid = c.oid AND NOT (indisvalid AND indisready AND NOT indisclustered)
  UNION ALL SELECT CASE v.relkind WHEN 'm' THEN 'materialized view ' || v.oid::regclass ELSE pg_describe_object(d.classid, d.objid, d.objsubid) END
      || ' depends on it, and would stay with the old table'
    FROM pg_depend d LEFT JOIN pg_constraint f ON d.classid = 'pg_constraint'::regclass AND f.oid = d.objid
    LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid LEFT JOIN pg_class v ON v.oid = r.ev_class
    LEFT JOIN pg_trigger t ON d.classid = 'pg_trigger'::regclass AND t.oid = d.objid
    LEFT JOIN pg_attrdef e ON d.classid = 'pg_attrdef'::regclass AND e.oid = d.objid
   WHERE d.deptype = 'n' AND (d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid OR d.refclassid = 'pg_type'::regclass
     AND d.refobjid IN (c.reltype, (SELECT typarray FROM pg_type y WHERE y.oid = c.reltype)))
     AND f.oid IS NULL AND c.oid NOT IN (coalesce(t.tgrelid, 0), coalesce(e.adrelid, 0), coalesce(r.ev_class, 0))
     AND d.classid <> 'pg_policy'::regclass AND NOT (d.classid = 'pg_class'::regclass AND EXISTS (SELECT FROM pg_inherits WHERE inhrelid = d.objid AND inhparent = c.oid))
     AND NOT (v.relkind IS NOT DISTINCT FROM 'v' AND d.refclassid = 'pg_class'::regclass)
) x(why) WHERE c.oid = $1::bigint::oid;

-- The column that all unique keys share, of several the one with the most values; and the keys.
-- name: key
SELECT (SELECT a.attname::text FROM pg_attribute a LEFT JOIN pg_stats s
           ON s.schemaname = n.nspname AND s.tablename = c.relname AND s.attname = a.attname
         WHERE a.attrelid = c.oid AND a.attnum > 0 AND a.attgenerated = '' AND EXISTS (SELECT FROM pg_index WHERE indrelid = c.oid AND indisunique)
           AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique
                              AND a.attnum <> ALL (ARRAY(SELECT i.indkey[k] FROM generate_series(0, i.indnkeyatts - 1) k)))
         ORDER BY CASE WHEN s.n_distinct < 0 THEN -s.n_distinct * greatest(c.reltuples, 1) ELSE s.n_distinct END DESC NULLS LAST,
               array_position((SELECT indkey::smallint[] FROM pg_index WHERE indrelid = c.oid AND indisprimary), a.attnum), a.attnum LIMIT 1),
       (SELECT string_agg(x.relname::text, ', ' ORDER BY x.relname) FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid
         WHERE i.indrelid = c.oid AND i.indisunique)
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $1::bigint::oid;

-- Its columns but those that are generated, and whether one is an identity.
-- name: columns
SELECT quote_ident(attname), attidentity <> '' FROM pg_attribute
 WHERE attrelid = $1::bigint::oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum;

-- Its indexes: quoted name; what stands behind “ADD CONSTRAINT name”, empty: it is no constraint's; whether it is
-- unique; what stands behind “ON table”; its tablespace.
-- name: indexes
SELECT quote_ident(x.relname), coalesce(pg_get_constraintdef(k.oid), ''), i.indisunique,
       substr(pg_get_indexdef(x.oid), length(format('CREATE %sINDEX %I ON %I.%I ', CASE WHEN i.indisunique THEN 'UNIQUE ' END, x.relname,
         n.nspname, c.relname)) + 1), coalesce(s.spcname::text, '')
  FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN pg_constraint k ON k.conindid = x.oid AND k.conrelid = c.oid AND k.contype IN ('p', 'u')
  LEFT JOIN pg_tablespace s ON s.oid = x.reltablespace WHERE i.indrelid = $1::bigint::oid ORDER BY NOT i.indisprimary, x.relname;

-- What goes before the table is moved aside, and comes again afterwards, in the order of $2.
-- name: parts
WITH c AS (SELECT c.*, format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE c.oid = $1::bigint::oid)
SELECT part, def FROM c, LATERAL (
  SELECT 'before', 1, conname::text, format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) FROM pg_constraint
   WHERE contype = 'f' AND c.oid IN (conrelid, confrelid) AND conparentid = 0
  UNION ALL SELECT 'after', 2, conname, format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
    FROM pg_constraint WHERE contype = 'f' AND c.oid IN (conrelid, confrelid) AND conparentid = 0
  UNION ALL SELECT 'before', 1, stxname, 'DROP STATISTICS ' || format('%s.%I', stxnamespace::regnamespace, stxname) FROM pg_statistic_ext
   WHERE stxrelid = c.oid
  UNION ALL SELECT x.part, 0, s.oid::regclass::text, CASE x.part
         WHEN 'before' THEN format('ALTER SEQUENCE %s OWNED BY NONE', s.oid::regclass)
         WHEN 'after' THEN format('ALTER SEQUENCE %s OWNED BY %s.%I', s.oid::regclass, c.name, a.attname) END
    FROM pg_depend d JOIN pg_class s ON d.classid = 'pg_class'::regclass AND s.oid = d.objid AND s.relkind = 'S'
    JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid, (VALUES ('before'), ('after')) x(part)
   WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid AND d.deptype = 'a'
  UNION ALL SELECT 'default', 0, attname, format('ALTER COLUMN %I DROP DEFAULT', attname) FROM pg_attribute
   WHERE attrelid = c.oid AND atthasdef AND attgenerated = '' AND NOT attisdropped
  UNION ALL SELECT 'identity', 0, attname, attname FROM pg_attribute
   WHERE attrelid = c.oid AND attidentity <> '' AND NOT attisdropped
  UNION ALL SELECT 'after', 3, v.relname, format('CREATE OR REPLACE VIEW %s%s AS %s', v.oid::regclass,
         ' WITH (' || array_to_string(v.reloptions, ', ') || ')', rtrim(pg_get_viewdef(v.oid), ';'))
    FROM pg_class v WHERE v.relkind = 'v' AND v.oid IN (SELECT r.ev_class FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid
     WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid AND d.deptype = 'n')
  UNION ALL SELECT 'after', 4, tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal
  UNION ALL SELECT 'after', 5, tgname, format('ALTER TABLE %s %s TRIGGER %I', c.name, CASE tgenabled WHEN 'D' THEN 'DISABLE'
         WHEN 'R' THEN 'ENABLE REPLICA' ELSE 'ENABLE ALWAYS' END, tgname) FROM pg_trigger
   WHERE tgrelid = c.oid AND NOT tgisinternal AND tgenabled <> 'O'
  UNION ALL SELECT 'after', 6, stxname, pg_get_statisticsobjdef(oid) FROM pg_statistic_ext WHERE stxrelid = c.oid
  UNION ALL SELECT 'after', 7, attname, format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS %s', c.name, attname, attstattarget)
    FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND attstattarget >= 0
  UNION ALL SELECT 'after', 7, attname, format('ALTER TABLE %s ALTER COLUMN %I SET (%s)', c.name, attname, array_to_string(attoptions, ', '))
    FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND attoptions IS NOT NULL
  UNION ALL SELECT 'rights', 8, '', format('REVOKE ALL ON %%s FROM %s', CASE x.grantee WHEN 0 THEN 'PUBLIC' ELSE x.grantee::regrole::text END)
    FROM pg_default_acl d, aclexplode(d.defaclacl) x WHERE d.defaclobjtype = 'r' AND x.grantee <> c.relowner
  UNION ALL SELECT 'after', 9, '', format('REVOKE ALL ON %s FROM %s', c.name, c.relowner::regrole) WHERE c.relacl IS NOT NULL
  UNION ALL SELECT 'after', 10, lpad(x.n::text, 9, '0'), format('GRANT %s ON %s TO %s%s', x.privilege_type, c.name,
         CASE x.grantee WHEN 0 THEN 'PUBLIC' ELSE x.grantee::regrole::text END, CASE WHEN x.is_grantable THEN ' WITH GRANT OPTION' END)
    FROM aclexplode(c.relacl) WITH ORDINALITY x(grantor, grantee, privilege_type, is_grantable, n)
  UNION ALL SELECT 'after', 11, a.attname || lpad(x.n::text, 9, '0'), format('GRANT %s (%I) ON %s TO %s%s', x.privilege_type, a.attname, c.name,
         CASE x.grantee WHEN 0 THEN 'PUBLIC' ELSE x.grantee::regrole::text END, CASE WHEN x.is_grantable THEN ' WITH GRANT OPTION' END)
    FROM pg_attribute a, aclexplode(a.attacl) WITH ORDINALITY x(grantor, grantee, privilege_type, is_grantable, n) WHERE a.attrelid = c.oid
  UNION ALL SELECT 'after', 12, '', format('COMMENT ON TABLE %s IS %L', c.name, obj_description(c.oid, 'pg_class'))
   WHERE obj_description(c.oid, 'pg_class') IS NOT NULL
  UNION ALL SELECT 'after', 12, '', format('COMMENT ON INDEX %s IS %L', indexrelid::regclass, obj_description(indexrelid, 'pg_class'))
    FROM pg_index WHERE indrelid = c.oid AND obj_description(indexrelid, 'pg_class') IS NOT NULL
  UNION ALL SELECT 'after', 12, conname, format('COMMENT ON CONSTRAINT %I ON %s IS %L', conname, conrelid::regclass, obj_description(oid, 'pg_constraint'))
    FROM pg_constraint WHERE (conrelid = c.oid AND contype <> 'c' OR confrelid = c.oid) AND conparentid = 0
     AND obj_description(oid, 'pg_constraint') IS NOT NULL
  UNION ALL SELECT 'after', 12, tgname, format('COMMENT ON TRIGGER %I ON %s IS %L', tgname, c.name, obj_description(oid, 'pg_trigger'))
    FROM pg_trigger WHERE tgrelid = c.oid AND obj_description(oid, 'pg_trigger') IS NOT NULL
  UNION ALL SELECT 'after', 12, stxname, format('COMMENT ON STATISTICS %s IS %L', format('%s.%I', stxnamespace::regnamespace, stxname),
         obj_description(oid, 'pg_statistic_ext')) FROM pg_statistic_ext
   WHERE stxrelid = c.oid AND obj_description(oid, 'pg_statistic_ext') IS NOT NULL
) x(part, place, ord, def) ORDER BY place, ord;

-- name: search-path
SELECT 'pg_catalog';

-- name: server
SELECT s.spcname::text, EXISTS (SELECT FROM pg_publication WHERE puballtables) FROM pg_tablespace s JOIN pg_database d
    ON s.oid = d.dattablespace WHERE d.datname = current_database();

-- name: tablespaces
SELECT spcname::text, pg_tablespace_location(oid) FROM pg_tablespace;

-- The highest number of a schema in which scripts of run $1 keep tables.
-- name: aside
SELECT coalesce(max(substring(nspname FROM '\d+$')::bigint), 0) FROM pg_namespace WHERE nspname ~ ('^(back_)?before_' || $1::bigint || '_\d{1,9}$');

-- All of a table that a script was written by, whether it is partitioned or not: first its definition, then its owner and
-- rights. Everything goes by name, so a copy has the same.
-- name: fingerprint
SELECT md5(concat_ws('|',
  (SELECT string_agg(concat_ws(',', attname, format_type(atttypid, atttypmod), attnotnull, attidentity, attgenerated, atthasdef), ';' ORDER BY attnum)
     FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped),
  (SELECT string_agg(conname || contype::text || conrelid::regclass, ';' ORDER BY conname COLLATE "C", conrelid::regclass::text COLLATE "C")
     FROM pg_constraint WHERE c.oid IN (conrelid, confrelid) AND conparentid = 0 AND contype <> 'n'),
  (SELECT string_agg(x.relname, ';' ORDER BY x.relname COLLATE "C") FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid WHERE indrelid = c.oid),
  (SELECT string_agg(tgname || tgenabled::text, ';' ORDER BY tgname COLLATE "C") FROM pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal)))
  || md5(concat_ws('|', pg_get_userbyid(c.relowner),
  (SELECT string_agg(r, ';' ORDER BY r COLLATE "C") FROM (
    SELECT concat_ws(',', n, x.grantee::regrole, x.privilege_type, x.is_grantable) FROM (
      SELECT '' AS n, coalesce(c.relacl, acldefault('r', c.relowner)) AS acl
      UNION ALL SELECT attname::text, attacl FROM pg_attribute WHERE attrelid = c.oid AND attacl IS NOT NULL AND NOT attisdropped
    ) rights, aclexplode(acl) x) y(r))))
  FROM pg_class c WHERE c.oid = {{.OID}};

-- name: unchanged whole
DECLARE now text := ({{.Fingerprint}});
BEGIN
  IF left(now, 32) IS DISTINCT FROM {{literal (slice .Was 0 32)}} THEN
    RAISE EXCEPTION 'table % is not as it was when this script was written: write it again', {{literal .Table}};
  END IF;
  IF now <> {{literal .Was}} THEN
    RAISE EXCEPTION 'table % has another owner or other rights than when this script was written: write it anew, or restore the copy with them',
      {{literal .Table}};
  END IF;
END

-- name: moved whole
DECLARE -- all rows are there, and nothing depends on the old table any more
  held regclass := {{literal .Held}}; what text; was bigint; now bigint;
BEGIN
  SELECT count(*) INTO was FROM {{.Held}};
  SELECT count(*) INTO now FROM {{.Table}};
  IF was <> now THEN RAISE EXCEPTION 'the new table has % rows, the old one %', now, was; END IF;
  SELECT string_agg(pg_describe_object(d.classid, d.objid, d.objsubid), ', ') INTO what
    FROM pg_depend d LEFT JOIN pg_trigger t ON d.classid = 'pg_trigger'::regclass AND t.oid = d.objid
    LEFT JOIN pg_attrdef e ON d.classid = 'pg_attrdef'::regclass AND e.oid = d.objid
    LEFT JOIN pg_constraint k ON d.classid = 'pg_constraint'::regclass AND k.oid = d.objid
   WHERE d.deptype = 'n' AND d.refclassid = 'pg_class'::regclass AND d.refobjid = held
     AND held NOT IN (coalesce(t.tgrelid, 0), coalesce(e.adrelid, 0), coalesce(k.conrelid, 0));
  IF what IS NOT NULL THEN RAISE EXCEPTION '% still depends on the old table', what; END IF;
END
