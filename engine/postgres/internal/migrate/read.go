package migrate

import (
	"context"
	"fmt"

	"filewise"
	"filewise/engine/postgres/dialect"
	"filewise/engine/postgres/internal/client"
	"filewise/internal/spread"
)

// table is one of the user's, with all that is made again with it.
type table struct {
	spread.Table
	oid            int64
	owner, options string
	space          string // its tablespace. Empty means the database's own
	divided        bool   // into partitions, already
	bytes, indexed int64
	key            string
	columns        []string // quoted
	identity       bool
	indexes        []index
	parts          map[string][]string
	fingerprint    string
}

type index struct {
	name, constraint string
	unique           bool
	on, space        string
}

// in returns the table's quoted name in a schema.
func in(schema, name string) string { return dialect.Ident(schema) + "." + dialect.Ident(name) }

type reader struct {
	link *client.Link
	ctx  context.Context
}

// chosen returns the tables of these names, or the large ones.
func (r reader) chosen(names []string) ([]table, error) {
	rows, err := r.link.Rows(r.ctx, queries.Text("tables"), filewise.Aside)
	if err != nil {
		return nil, err
	}
	var all []table
	for _, row := range rows {
		t := table{Table: spread.Table{Schema: client.Text(row[1]), Name: client.Text(row[2])}, owner: client.Text(row[5]),
			space: client.Text(row[6]), options: client.Text(row[7])}
		t.divided, _ = row[8].(bool)
		t.oid, _ = row[0].(int64)
		t.bytes, _ = row[3].(int64)
		t.indexed, _ = row[4].(int64)
		t.Bytes = t.bytes + t.indexed
		all = append(all, t)
	}
	return spread.Choose(all, func(t table) spread.Table { return t.Table }, names)
}

// fill reads all of a table; what cannot be spread again, or moved as a whole, is refused.
func (r reader) fill(t *table, whole bool) error {
	divisible := r.divisible
	if whole {
		divisible = func(t *table) error {
			t.RefuseIf(t.divided, "it is partitioned already, and its partitions lie each where it was put")
			return nil
		}
	}
	if err := divisible(t); err != nil {
		return fmt.Errorf("table %s: %w", t, err)
	}
	if len(t.Why) > 0 {
		return nil // all that are refused are named together
	}
	t.parts = map[string][]string{}
	for _, read := range []struct {
		section string
		each    func(row []any)
	}{
		{"columns", func(row []any) {
			is, _ := row[1].(bool)
			t.columns, t.identity = append(t.columns, client.Text(row[0])), t.identity || is
		}},
		{"indexes", func(row []any) {
			unique, _ := row[2].(bool)
			t.indexes = append(t.indexes, index{client.Text(row[0]), client.Text(row[1]), unique, client.Text(row[3]), client.Text(row[4])})
		}},
		{"parts", func(row []any) {
			part := client.Text(row[0])
			t.parts[part] = append(t.parts[part], client.Text(row[1]))
		}},
	} {
		if err := r.each(read.section, t.oid, read.each); err != nil {
			return fmt.Errorf("table %s: %w", t, err)
		}
	}
	query, err := queries.Statement("fingerprint", t.oid)
	if err == nil {
		err = r.link.Scan(r.ctx, query, nil, &t.fingerprint)
	}
	return err
}

// divisible notes why a table cannot have partitions, and the column that divides it.
func (r reader) divisible(t *table) error {
	err := r.each("problems", t.oid, func(row []any) { t.RefuseIf(true, client.Text(row[0])) })
	if err == nil {
		err = r.each("key", t.oid, func(row []any) {
			t.key = client.Text(row[0])
			t.CheckKey(t.key, client.Text(row[1]))
		})
	}
	return err
}

func (r reader) each(section string, oid int64, row func([]any)) error {
	rows, err := r.link.Rows(r.ctx, queries.Text(section), oid)
	for _, x := range rows {
		row(x)
	}
	return err
}
