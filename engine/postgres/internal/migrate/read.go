package migrate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/postgres/internal/client"
)

// table is one of the user's, with all that is made anew with it.
type table struct {
	oid                          int64
	schema, name, owner, options string
	space                        string // its tablespace; empty: the database's own
	bytes, indexed               int64
	key                          string
	columns                      []string // quoted
	identity                     bool
	indexes                      []index
	parts                        map[string][]string
	fingerprint                  string
}

type index struct {
	name, constraint string
	unique           bool
	on, space        string
}

func (t table) String() string { return t.schema + "." + t.name }

// in is the table's quoted name in a schema.
func in(schema, name string) string { return client.Ident(schema) + "." + client.Ident(name) }

type reader struct {
	link *client.Link
	ctx  context.Context
}

// large is the share of all from which a table is spread that nobody names.
const large = 0.05

// chosen are the tables of these names, or the large ones.
func (r reader) chosen(names []string) ([]table, error) {
	rows, err := r.link.Rows(r.ctx, queries.Text("tables"))
	if err != nil {
		return nil, err
	}
	var all []table
	var sum int64
	for _, row := range rows {
		t := table{schema: client.Text(row[1]), name: client.Text(row[2]), owner: client.Text(row[5]), space: client.Text(row[6]),
			options: client.Text(row[7])}
		t.oid, _ = row[0].(int64)
		t.bytes, _ = row[3].(int64)
		t.indexed, _ = row[4].(int64)
		sum += t.bytes + t.indexed
		all = append(all, t)
	}
	if len(names) == 0 {
		all = slices.DeleteFunc(all, func(t table) bool { return float64(t.bytes+t.indexed) < large*float64(sum) })
		if len(all) == 0 {
			return nil, filewise.Errorf(filewise.CodeUsage, "name another --database", "there is no table of a user's")
		}
		return all, nil
	}
	var named []table
	for _, name := range names {
		found := slices.DeleteFunc(slices.Clone(all), func(t table) bool { return t.String() != name && t.name != name })
		switch {
		case len(found) == 0:
			return nil, filewise.Errorf(filewise.CodeUsage, `give it as SCHEMA.TABLE, without quotes; \dt *.* shows them`,
				"there is no table %s, or the account does not see it", name)
		case len(found) > 1:
			return nil, filewise.Errorf(filewise.CodeUsage, fmt.Sprintf("give it as %s or %s", found[0], found[1]),
				"there are %d tables %s", len(found), name)
		}
		named = append(named, found[0])
	}
	return named, nil
}

// fill reads all of a table; what cannot be spread anew is refused.
func (r reader) fill(t *table) error {
	var why []string
	err := r.each("problems", t.oid, func(row []any) { why = append(why, client.Text(row[0])) })
	var shared []any
	if err == nil {
		err = r.each("key", t.oid, func(row []any) { shared = row })
	}
	if err != nil || len(shared) == 0 {
		return fmt.Errorf("table %s: %w", t, err)
	}
	t.key = client.Text(shared[0])
	switch keys := client.Text(shared[1]); {
	case t.key != "":
	case keys == "":
		why = append(why, "it has no unique key, so that nothing says by what to divide it")
	default:
		why = append(why, "no column is in all of its unique keys ("+keys+"), and a partitioned table's must all contain the partition key")
	}
	if len(why) > 0 {
		return filewise.Errorf(filewise.CodePreflight, "name the tables that are to be spread, without it: --table SCHEMA.TABLE",
			"table %s cannot be spread over partitions: %s: %w", t, strings.Join(why, "; "), filewise.ErrUnsupported)
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

func (r reader) each(section string, oid int64, row func([]any)) error {
	rows, err := r.link.Rows(r.ctx, queries.Text(section), oid)
	for _, x := range rows {
		row(x)
	}
	return err
}
