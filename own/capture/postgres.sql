-- What a capture asks, within the user's database.

-- The schema of what counts statements.
-- name: extension
SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_stat_statements';

-- Releases before 13 count the time of executions alone, and those before 14 count no statement of a function.
-- name: counted
SELECT coalesce(queryid, 0)::text, query, calls::float8, ({{.Took}})::float8 / 1000, rows::float8
  FROM {{.Schema}}.pg_stat_statements WHERE {{.Top}} AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database());

-- What the database has set, else a role in it, else a role that owns tables in it: of several roles the one with the most sessions.
-- name: settings search-path
SELECT DISTINCT ON (name) {{if eq op "path"}}'pg_catalog, ' ||{{else}}name,{{end}} value FROM (
  SELECT split_part(c, '=', 1) AS name, substr(c, strpos(c, '=') + 1) AS value,
         CASE WHEN s.setdatabase <> 0 AND s.setrole = 0 THEN 2 WHEN s.setdatabase <> 0 THEN 1 ELSE 3 END AS rank,
         (SELECT count(*) FROM pg_stat_activity t WHERE t.usesysid = s.setrole AND t.datname = current_database()) AS many
    FROM pg_db_role_setting s CROSS JOIN LATERAL unnest(s.setconfig) c
   WHERE s.setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
      OR s.setdatabase = 0 AND EXISTS (SELECT FROM pg_class r WHERE r.relowner = s.setrole AND r.relkind IN ('r', 'p'))) x
 WHERE name IN ('search_path'{{if ne op "path"}}, 'datestyle', 'DateStyle', 'intervalstyle', 'IntervalStyle', 'timezone', 'TimeZone'{{end}})
   AND value !~ '[$]user' ORDER BY name, rank, many DESC, value;

-- name: sessions
SELECT count(*) FILTER (WHERE state = 'active')::integer, count(*)::integer FROM pg_stat_activity
 WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid();

-- A table's size is that of its partitions. Foreign keys that point to it forbid no partitions,
-- but a unique key without the column does.
-- name: table
SELECT c.relname::text, greatest(c.reltuples, 0)::float8 AS rows,
       (SELECT sum(pg_total_relation_size(coalesce(t.relid, c.oid))) FROM (SELECT relid FROM pg_partition_tree(c.oid) UNION ALL
          SELECT NULL WHERE c.relkind <> 'p') t WHERE t.relid IS NOT NULL OR c.relkind <> 'p')::bigint,
       coalesce((SELECT a.attname::text FROM pg_index i JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
                  WHERE i.indrelid = c.oid AND i.indisprimary), ''),
       coalesce((SELECT string_agg(i.indexrelid::regclass::text, ', ') FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique
                  AND NOT (SELECT p.indkey[0] FROM pg_index p WHERE p.indrelid = c.oid AND p.indisprimary) = ANY (i.indkey)), ''),
       c.relkind::text, n.nspname::text,
       coalesce((SELECT string_agg(inhrelid::regclass::text, ', ') FROM pg_inherits WHERE inhparent = c.oid), ''),
       coalesce((SELECT string_agg(inhparent::regclass::text, ', ') FROM pg_inherits WHERE inhrelid = c.oid), ''),
       (SELECT count(*) FROM pg_rewrite r WHERE r.ev_class = c.oid AND r.ev_type = '3' AND r.is_instead AND r.ev_qual <> '<>')
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass($1) AND c.relkind IN ('r', 'p', 'm', 'v');

-- Domains are as good as what they are made of. The last column of a unique key is what a new row has its own value of.
-- name: columns
SELECT a.attname::text, format_type(a.atttypid, a.atttypmod),
       CASE WHEN b.typtype = 'e' THEN 'text' ELSE b.typname::text END,
       (SELECT array_agg(l.enumlabel::text ORDER BY l.enumsortorder) FROM pg_enum l WHERE l.enumtypid = b.oid),
       CASE WHEN d.typmod > 4 THEN d.typmod - 4 ELSE 0 END,
       u.is_last, u.composite,
       d.checked OR EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = a.attrelid AND k.contype = 'c' AND a.attnum = ANY (k.conkey)),
       coalesce(CASE WHEN s.n_distinct < 0 THEN -s.n_distinct * greatest(c.reltuples, 0) ELSE s.n_distinct END, 0)::float8,
       coalesce(s.avg_width, 0)::float8,
       CASE WHEN a.attname::text <> ALL ($2::text[]) THEN s.most_common_vals::text::text[] END, s.most_common_freqs::float8[],
       CASE WHEN a.attname::text <> ALL ($2::text[]) THEN s.histogram_bounds::text::text[] END,
       (SELECT ARRAY[k.confrelid::regclass::text, quote_ident(f.attname), CASE WHEN pg_table_is_visible(k.confrelid) THEN '' ELSE pn.nspname || '.' END
                 || p.relname, f.attname] FROM pg_constraint k
          JOIN pg_attribute f ON f.attrelid = k.confrelid AND f.attnum = k.confkey[1]
          JOIN pg_class p ON p.oid = k.confrelid JOIN pg_namespace pn ON pn.oid = p.relnamespace
         WHERE k.contype = 'f' AND k.conrelid = a.attrelid AND k.conkey = ARRAY[a.attnum] ORDER BY k.oid LIMIT 1)
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  CROSS JOIN LATERAL (WITH RECURSIVE d AS (SELECT a.atttypid AS oid, a.atttypmod AS typmod, false AS checked, 0 AS depth
          UNION ALL SELECT t.typbasetype, greatest(d.typmod, t.typtypmod), d.checked OR EXISTS (SELECT FROM pg_constraint WHERE contypid = t.oid),
            d.depth + 1 FROM d JOIN pg_type t USING (oid) WHERE t.typtype = 'd') SELECT * FROM d ORDER BY depth DESC LIMIT 1) d
  JOIN pg_type b ON b.oid = d.oid
  CROSS JOIN LATERAL (SELECT count(*) > 0 AS is_last, coalesce(bool_and(i.indnkeyatts > 1), false) AS composite FROM pg_index i
         WHERE i.indrelid = a.attrelid AND i.indisunique AND i.indkey[i.indnkeyatts - 1] = a.attnum) u
  LEFT JOIN LATERAL (SELECT * FROM pg_stats p WHERE p.schemaname = n.nspname AND p.tablename = c.relname AND p.attname = a.attname
                      ORDER BY p.inherited DESC LIMIT 1) s ON true
 WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum;

-- Foreign keys of several columns.
-- name: foreign
SELECT array_agg(a.attname::text ORDER BY k.n), c.confrelid::regclass::text, array_agg(quote_ident(f.attname) ORDER BY k.n)
  FROM pg_constraint c CROSS JOIN LATERAL unnest(c.conkey, c.confkey) WITH ORDINALITY k(own, other, n)
  JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.own JOIN pg_attribute f ON f.attrelid = c.confrelid AND f.attnum = k.other
 WHERE c.contype = 'f' AND c.conrelid = to_regclass($1) AND cardinality(c.conkey) > 1 GROUP BY c.oid, c.confrelid
 ORDER BY c.oid;

-- name: names
SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum;

-- name: sequence
SELECT coalesce(quote_literal(max(oid)::regclass), '') FROM pg_class WHERE relkind = 'S';

-- A name with its schema, else one with a dot in it.
-- name: quoted
SELECT CASE WHEN to_regclass($1) IS NULL THEN $2 ELSE $1 END;

-- name: type
SELECT typname::text, format_type(oid, NULL) FROM pg_type WHERE oid = $1;

-- name: view
SELECT pg_get_viewdef(to_regclass($1));

-- name: shown
SELECT attrelid::regclass::text, attname::text FROM pg_attribute WHERE attrelid = $1 AND attnum = $2;
