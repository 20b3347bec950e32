package dialect

import (
	"cmp"
	"context"
	"database/sql"
	"regexp"
	"slices"
	"strings"

	"filewise/internal/marker"
)

// widths matches display widths of integers, which only some releases report.
var widths = regexp.MustCompile(`(int)\(\d+\)`)

// defined returns the columns, then the primary key, of one of Filewise's CREATE TABLE statements, in the form of
// Things.
func defined(definitions string) []string {
	var all []string
	var key string
	for _, d := range marker.Definitions(definitions) {
		name, rest, _ := strings.Cut(d, " ")
		rest = strings.ToUpper(strings.TrimSpace(rest))
		switch {
		case name == "PRIMARY":
			key = keyOf(marker.Columns(d[strings.Index(d, "(")+1:]))
			continue
		case name == "UNIQUE":
			continue // an index has its own signature
		}
		name = strings.Trim(name, "`\"")
		kind, _, _ := strings.Cut(rest, " ")
		primary := strings.Contains(rest, "PRIMARY KEY")
		if primary {
			key = keyOf([]string{name})
		}
		c := column{name: name, kind: kind, nullable: !primary && !strings.Contains(rest, "NOT NULL")}
		if strings.Contains(rest, "AUTO_INCREMENT") {
			c.extra = "auto_increment"
		}
		all = append(all, c.String())
	}
	if key != "" {
		all = append(all, key)
	}
	return all
}

func keyOf(columns []string) string { return "primary key (" + strings.Join(columns, ", ") + ")" }

func indexOf(name string, unique bool, columns []string) string {
	kind := "index "
	if unique {
		kind = "unique index "
	}
	return kind + name + " (" + strings.Join(columns, ", ") + ")"
}

// column describes a table's column as a server reports it.
type column struct {
	name, kind                string
	nullable                  bool
	fallback, extra, generate string // default value; other attributes; expression
	comment                   string
}

func (c column) String() string {
	s := c.name + " " + widths.ReplaceAllString(strings.ToLower(c.kind), "$1")
	if c.nullable {
		s += " null"
	}
	for _, part := range []struct{ name, text string }{{"default", c.fallback}, {"extra", strings.ToLower(c.extra)}, {"as", c.generate},
		{"comment", c.comment}} {
		if part.text != "" && (part.name != "default" || part.text != "NULL") { // MariaDB writes NULL for no default
			s += " " + part.name + " " + part.text
		}
	}
	return s
}

// generated is the primary key that MySQL adds to a table without one, always as the first column.
const generated = "my_row_id bigint unsigned extra auto_increment invisible"

// columns returns the names of a table's columns.
func (t Thing) columns() []string {
	var all []string
	for _, d := range t.definition {
		if name, rest, _ := strings.Cut(d, " "); !strings.HasPrefix(rest, "key (") || name != "primary" {
			all = append(all, name)
		}
	}
	return all
}

// Things returns all objects in a database with their definitions. A primary key that MySQL has added itself is left
// out.
func Things(ctx context.Context, db Queryer, database string) ([]Thing, error) {
	var all []Thing
	tables := map[string]int{}
	err := Each(ctx, db, func(scan Scan) error {
		var t Thing
		var body sql.NullString // NULL for a procedure of another account
		err := scan(&t.kind, &t.name, &t.comment, &body)
		if t.body = body.String; t.kind == "table" {
			tables[t.name] = len(all)
		}
		all = append(all, t)
		return err
	}, `SELECT CASE TABLE_TYPE WHEN 'BASE TABLE' THEN 'table' ELSE LOWER(TABLE_TYPE) END, TABLE_NAME, TABLE_COMMENT, ''
  FROM information_schema.TABLES WHERE TABLE_SCHEMA = ?
UNION ALL SELECT LOWER(ROUTINE_TYPE), ROUTINE_NAME, ROUTINE_COMMENT, ROUTINE_DEFINITION
  FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = ?
UNION ALL SELECT 'event', EVENT_NAME, '', '' FROM information_schema.EVENTS WHERE EVENT_SCHEMA = ?
UNION ALL SELECT 'trigger', TRIGGER_NAME, '', '' FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = ?
UNION ALL SELECT LOWER(CONSTRAINT_TYPE), CONSTRAINT_NAME, '', '' FROM information_schema.TABLE_CONSTRAINTS
  WHERE TABLE_SCHEMA = ? AND CONSTRAINT_TYPE IN ('CHECK', 'FOREIGN KEY')`,
		database, database, database, database, database)
	if err != nil || len(tables) == 0 {
		return all, err
	}
	if err := readColumns(ctx, db, database, all, tables); err != nil {
		return nil, err
	}
	return readIndexes(ctx, db, database, all, tables)
}

func readColumns(ctx context.Context, db Queryer, database string, all []Thing, tables map[string]int) error {
	return Each(ctx, db, func(scan Scan) error {
		var c column
		var table, null string
		var fallback, generate sql.NullString
		err := scan(&table, &c.name, &c.kind, &null, &fallback, &c.extra, &generate, &c.comment)
		c.nullable, c.fallback, c.generate = null == "YES", fallback.String, generate.String
		if fallback.Valid && fallback.String == "" {
			c.fallback = "''"
		}
		if i, there := tables[table]; there {
			all[i].definition = append(all[i].definition, c.String())
		}
		return err
	}, `SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, EXTRA, GENERATION_EXPRESSION, COLUMN_COMMENT
  FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? ORDER BY TABLE_NAME, ORDINAL_POSITION`, database)
}

// readIndexes adds primary keys to the tables, and appends the other indexes as Things.
func readIndexes(ctx context.Context, db Queryer, database string, all []Thing, tables map[string]int) ([]Thing, error) {
	type index struct {
		table, name, comment string
		unique               bool
		columns              []string
	}
	var found []index
	err := Each(ctx, db, func(scan Scan) error {
		var x index
		var of, kind string
		err := scan(&x.table, &x.name, &x.unique, &of, &kind, &x.comment)
		if n := len(found); n == 0 || found[n-1].table != x.table || found[n-1].name != x.name {
			found = append(found, x)
		}
		if kind != "BTREE" {
			of += " " + kind
		}
		last := &found[len(found)-1]
		last.columns = append(last.columns, of)
		return err
	}, `SELECT TABLE_NAME, INDEX_NAME, NON_UNIQUE = 0, CONCAT(COALESCE(COLUMN_NAME, '?'), CASE WHEN SUB_PART IS NULL THEN '' ELSE
  CONCAT('(', SUB_PART, ')') END, CASE COLLATION WHEN 'D' THEN ' DESC' ELSE '' END), INDEX_TYPE, INDEX_COMMENT
  FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = ? ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`, database)
	for _, x := range found {
		i, there := tables[x.table]
		switch t := &all[max(i, 0)]; {
		case !there || strings.HasPrefix(t.comment, signature1): // until 0.8 indexes had no signature
			continue
		case x.name != "PRIMARY":
			all = append(all, Thing{kind: "index", name: x.name, comment: x.comment,
				definition: []string{indexOf(x.name, x.unique, x.columns), x.table}})
		case slices.Equal(x.columns, []string{"my_row_id"}) && cmp.Or(t.definition...) == generated:
			t.definition = t.definition[1:]
		default:
			t.definition = append(t.definition, keyOf(x.columns))
		}
	}
	return all, err
}
