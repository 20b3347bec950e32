package sqlserver

import (
	"context"
	"fmt"
	"strings"

	"filewise/engine/internal/spread"
)

// userTable is a table of the user's with what decides whether it can be moved.
type userTable struct {
	spread.Table
	id      int64
	large   bool // it has values outside its rows
	indexes []userIndex
}

// userIndex is an index of the user's; the clustered one, 1, holds the rows.
type userIndex struct {
	id                  int64
	name, space, filter string
	unique              bool
	keys, included      []string
	options             []string
	bytes               int64
}

// The types of indexes (sys.indexes).
const typeHeap, typeNonclustered = 0, 2

// indexes reads the definitions of a table's indexes, and what keeps them where they are.
func (m *migration) indexes(ctx context.Context, t *userTable) error {
	rows, err := m.ask(ctx, "apply-indexes", t.id)
	if err != nil {
		return err
	}
	at := map[int64]int{}
	for _, r := range rows {
		kind, _ := r.Number("index_type")
		name := r.Text("index_name")
		t.RefuseIf(kind == typeHeap, "it has no clustered index, by which its rows could be moved: make one, or name other tables")
		t.RefuseIf(kind > typeNonclustered, "its index "+name+" is "+r.Text("index_kind"))
		t.RefuseIf(strings.TrimSpace(r.Text("space_type")) != "FG", cmpName(name)+" is partitioned, or not in a filegroup of rows")
		if r.Yes("disabled") {
			continue // has no pages, and would be enabled
		}
		x := userIndex{name: name, space: r.Text("space_name"), filter: r.Text("filter"), unique: r.Yes("is_unique"), options: optionsOf(r)}
		x.id, _ = r.Number("index_id")
		pages, _ := r.Number("index_pages")
		x.bytes = pages * page
		at[x.id] = len(t.indexes)
		t.indexes = append(t.indexes, x)
	}
	rows, err = m.ask(ctx, "apply-columns", t.id)
	for _, r := range rows {
		id, _ := r.Number("index_id")
		n, known := at[id]
		if !known {
			continue
		}
		column := ident(r.Text("column_name"))
		switch x := &t.indexes[n]; {
		case r.Yes("included"):
			x.included = append(x.included, column)
		case r.Yes("descending"):
			x.keys = append(x.keys, column+" DESC")
		default:
			x.keys = append(x.keys, column)
		}
	}
	return err
}

func cmpName(index string) string {
	if index == "" {
		return "it"
	}
	return "its index " + index
}

// optionsOf are an index's options that a new build would else set to the usual.
func optionsOf(r row) []string {
	var all []string
	if n, _ := r.Number("filled"); n > 0 && n < 100 {
		all = append(all, fmt.Sprintf("FILLFACTOR = %d", n))
	}
	for _, o := range []struct {
		is   bool
		text string
	}{{r.Yes("padded"), "PAD_INDEX = ON"}, {r.Yes("ignoring"), "IGNORE_DUP_KEY = ON"}, {!r.Yes("row_locks"), "ALLOW_ROW_LOCKS = OFF"},
		{!r.Yes("page_locks"), "ALLOW_PAGE_LOCKS = OFF"}, {r.Yes("sequential"), "OPTIMIZE_FOR_SEQUENTIAL_KEY = ON"}} {
		if o.is {
			all = append(all, o.text)
		}
	}
	if c := r.Text("compressed"); c == "ROW" || c == "PAGE" {
		all = append(all, "DATA_COMPRESSION = "+c)
	}
	return all
}

// create builds the index anew in a filegroup, under its own name and definition: that of a key
// stays a key, and foreign keys to it stay.
func (x userIndex) create(t userTable, group string, online bool) string {
	var b strings.Builder
	b.WriteString("CREATE ")
	if x.unique {
		b.WriteString("UNIQUE ")
	}
	if x.id == 1 {
		b.WriteString("CLUSTERED ")
	} else {
		b.WriteString("NONCLUSTERED ")
	}
	fmt.Fprintf(&b, "INDEX %s ON %s.%s (%s)", ident(x.name), ident(t.Schema), ident(t.Name), strings.Join(x.keys, ", "))
	if len(x.included) > 0 {
		fmt.Fprintf(&b, " INCLUDE (%s)", strings.Join(x.included, ", "))
	}
	if x.filter != "" {
		b.WriteString(" WHERE " + x.filter)
	}
	options := append([]string{"DROP_EXISTING = ON"}, x.options...)
	if online {
		options = append(options, "ONLINE = ON")
	}
	fmt.Fprintf(&b, " WITH (%s) ON %s", strings.Join(options, ", "), ident(group))
	return b.String()
}
