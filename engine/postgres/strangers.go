package postgres

import (
	"context"
	"fmt"
	"strings"
)

// readStrangers describes what is in a database besides what a new one has, and,
// with $1, besides what Filewise makes: tables of its names with exactly its
// columns, what belongs to them, its procedures, and the schema for marks of loading.
// What a new database has lies below FirstNormalObjectId (src/include/access/transam.h).
var readStrangers = `
WITH made AS MATERIALIZED (
  SELECT c.oid, c.reltoastrelid AS toast
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   CROSS JOIN LATERAL (SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum) AS columns
                         FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped) a
   WHERE $1 AND c.relkind IN ('r', 'p') AND (
         n.nspname = 'public' AND c.relname ~ '^fw_rows(_\d{4,})?(_loaded|_new)?(_p\d{4,})?$'
           AND a.columns IN ('id bigint, payload text', 'key integer, random_int integer, random_float double precision', 'worker bigint, last bigint, cycles bigint, total bigint')
      OR n.nspname = 'public' AND c.relname ~ '^frag[1-4](_p\d{4,})?$'
           AND a.columns = 'id integer, name character varying(300), address character varying(1000), state character(2), val1 integer, val2 integer, val3 integer, val4 integer, val5 integer'
      OR n.nspname = 'public' AND c.relname ~ '^fw_churn_\d+$' AND a.columns = 'content character(1000)'
      OR n.nspname = 'public' AND (regexp_replace(c.relname, '_p\d{4,}$', ''), a.columns) IN (` + ordersColumns() + `)
      OR n.nspname = 'filewise' AND c.relname = 'fw_loaded' AND a.columns = 'table_name text, batch bigint'
      OR n.nspname = 'filewise' AND c.relname = 'fw_places' AND a.columns = 'worker bigint, space oid, bytes bigint')
), tables AS (SELECT oid FROM made UNION ALL SELECT toast FROM made WHERE toast <> 0
), relations AS MATERIALIZED (SELECT oid FROM tables UNION ALL SELECT indexrelid FROM pg_index WHERE indrelid IN (SELECT oid FROM tables)
), found (class, id) AS (
  SELECT 'pg_class', oid FROM pg_class WHERE oid NOT IN (SELECT oid FROM relations)
   UNION ALL SELECT 'pg_type', oid FROM pg_type WHERE typrelid = 0 AND typelem = 0 OR typtype = 'd'
   UNION ALL SELECT 'pg_proc', oid FROM pg_proc p WHERE NOT ($1 AND pronamespace = 'public'::regnamespace AND (
       prokind = 'p' AND proname ~ '^(fw_inserts(_\d{4,})?|fw_insert|fw_select|fw_update|fw_delete|fw_cycle)$' AND proargtypes::text = '20 20 20'
       OR (prokind::text, proname::text, proargtypes::text) IN (('p', 'fw_new_order', '23 23 23 23 25 25 25 23 20'),
         ('f', 'fw_customer_by_name', '23 23 25'), ('f', 'fw_payment', '23 23 23 23 23 25 23 23'), ('f', 'fw_order_status', '23 23 23 25'),
         ('f', 'fw_delivery', '23 23 23'), ('f', 'fw_stock_level', '23 23 23'), ('p', 'fw_churn', '20'))))
   UNION ALL SELECT 'pg_namespace', oid FROM pg_namespace WHERE NOT ($1 AND (nspname = 'filewise' OR nspname ~ '^pg_(toast_)?temp_\d+$'))
   UNION ALL SELECT 'pg_trigger', oid FROM pg_trigger WHERE NOT tgisinternal
   UNION ALL SELECT 'pg_constraint', oid FROM pg_constraint WHERE contype IN ('c', 'f', 'x')
   UNION ALL SELECT 'pg_rewrite', oid FROM pg_rewrite
   UNION ALL SELECT 'pg_policy', oid FROM pg_policy
   UNION ALL SELECT 'pg_statistic_ext', oid FROM pg_statistic_ext
   UNION ALL SELECT 'pg_extension', oid FROM pg_extension
   UNION ALL SELECT 'pg_language', oid FROM pg_language
   UNION ALL SELECT 'pg_event_trigger', oid FROM pg_event_trigger
   UNION ALL SELECT 'pg_publication', oid FROM pg_publication
   UNION ALL SELECT 'pg_subscription', oid FROM pg_subscription WHERE subdbid = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
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
), strange AS (SELECT class, id FROM found WHERE id >= 16384 OR class = 'pg_largeobject')
SELECT (SELECT count(*) FROM strange), coalesce((SELECT string_agg(what, ', ') FROM (
  SELECT coalesce(pg_describe_object(class::regclass, id, 0), class || ' ' || id) AS what FROM strange ORDER BY class <> 'pg_class', class, id LIMIT 3) s), '')`

// ordersColumns are the tables of orders with their columns, as the server names
// these, for IN.
func ordersColumns() string {
	named := map[string]table{}
	for _, o := range ordersTables {
		named[o.name] = table{Name: o.name, Leaves: []leaf{{}}}
	}
	create, err := sections[workloadOrders].Statements(sectionTables, map[string]any{"Named": named, "Tables": []table{}})
	if err != nil {
		panic(err) // embedded: the programmer's
	}
	typed := strings.NewReplacer(` NOT NULL`, "", ` COLLATE "C"`, "", "varchar", "character varying", "\n", "", "  ", " ")
	var all []string
	for i, statement := range create {
		_, columns, _ := strings.Cut(strings.TrimSuffix(statement, ")"), "(")
		all = append(all, fmt.Sprintf("(%s, %s)", literal(ordersTables[i].name), literal(strings.TrimSpace(typed.Replace(columns)))))
	}
	return strings.Join(all, ", ")
}

// strangers describes what is in a database that Filewise has not made; empty:
// nothing. Of one without a mark, nothing in it is Filewise's.
func (s *foreignServer) strangers(ctx context.Context, database string, marked bool) (string, error) {
	inside := s.link.to(database)
	defer inside.close()
	var n int64
	var what string
	if err := inside.scan(ctx, readStrangers, []any{marked}, &n, &what); err != nil || n == 0 {
		return "", err
	}
	if more := n - 3; more > 0 {
		what += fmt.Sprintf(", and %d more", more)
	}
	return what, nil
}

// holds says why a database with others' objects stays.
func holds(what string) string { return "it holds what Filewise has not made: " + what }
