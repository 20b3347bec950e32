package apply

import (
	"fmt"

	"filewise"
	"filewise/engine/postgres/dialect"
	"filewise/internal/spread"
)

// table is a table of the user's, with everything that is made again with it.
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

// chosen returns the tables with these names or, if there are no names, the large ones.
func (m *postgres) chosen(names []string) ([]table, error) {
	rows, err := m.rows("tables", filewise.Aside)
	if err != nil {
		return nil, err
	}
	all := filewise.Each(rows, func(r filewise.Row) table {
		return table{Table: spread.Table{Schema: r.Text(1), Name: r.Text(2), Bytes: r.Int(3) + r.Int(4)}, oid: r.Int(0), bytes: r.Int(3),
			indexed: r.Int(4), owner: r.Text(5), space: r.Text(6), options: r.Text(7), divided: r.Yes(8)}
	})
	return spread.Choose(all, func(t table) spread.Table { return t.Table }, names)
}

// fill reads all properties of a table. It refuses a table that cannot be spread or, if whole is set, moved as a whole.
func (m *postgres) fill(t *table, whole bool) error {
	divisible := m.divisible
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
		return nil // the error then names all refused tables at once
	}
	t.parts = map[string][]string{}
	for _, read := range []struct {
		section string
		each    func(filewise.Row)
	}{
		{"columns", func(r filewise.Row) {
			t.columns, t.identity = append(t.columns, r.Text(0)), t.identity || r.Yes(1)
		}},
		{"indexes", func(r filewise.Row) {
			t.indexes = append(t.indexes, index{r.Text(0), r.Text(1), r.Yes(2), r.Text(3), r.Text(4)})
		}},
		{"parts", func(r filewise.Row) { t.parts[r.Text(0)] = append(t.parts[r.Text(0)], r.Text(1)) }},
	} {
		if err := m.each(read.section, read.each, t.oid); err != nil {
			return fmt.Errorf("table %s: %w", t, err)
		}
	}
	rows, err := m.in.Rows(m.ctx, "fingerprint", map[string]any{"OID": t.oid})
	for _, r := range rows {
		t.fingerprint = r.Text(0)
	}
	return err
}

// divisible notes why a table cannot have partitions, and the column that divides it.
func (m *postgres) divisible(t *table) error {
	err := m.each("problems", func(r filewise.Row) { t.RefuseIf(true, r.Text(0)) }, t.oid)
	if err == nil {
		err = m.each("key", func(r filewise.Row) {
			t.key = r.Text(0)
			t.CheckKey(t.key, r.Text(1))
		}, t.oid)
	}
	return err
}
