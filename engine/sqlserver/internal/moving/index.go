package moving

import (
	"context"
	"fmt"
	"strings"

	"filewise/engine/sqlserver/internal/result"
)

// Index is an index of the user's; the clustered one, 1, holds the rows.
type Index struct {
	ID             int64
	Space          string // its filegroup
	Bytes          int64
	name, filter   string
	unique         bool
	keys, included []string
	options        []string
	columns        []column
}

// The types of indexes (sys.indexes).
const typeHeap, typeNonclustered = 0, 2

// indexes reads the definitions of a table's indexes, and what keeps them in their place.
func (m Reader) indexes(ctx context.Context, t *Table) error {
	rows, err := m.Ask(ctx, "apply-indexes", t.id)
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
		x := Index{name: name, Space: r.Text("space_name"), filter: r.Text("filter"), unique: r.Yes("is_unique"), options: optionsOf(r)}
		x.ID, _ = r.Number("index_id")
		x.Bytes = r.Int("index_pages") * page
		at[x.ID] = len(t.Indexes)
		t.Indexes = append(t.Indexes, x)
	}
	rows, err = m.Ask(ctx, "apply-columns", t.id)
	for _, r := range rows {
		n, known := at[r.Int("index_id")]
		if !known {
			continue
		}
		x, name, c := &t.Indexes[n], m.Ident(r.Text("column_name")), column{name: r.Text("column_name")}
		switch {
		case r.Yes("included"):
			x.included = append(x.included, name)
		case r.Yes("descending"):
			c.descending, x.keys = true, append(x.keys, name+" DESC")
		default:
			x.keys = append(x.keys, name)
		}
		if !r.Yes("included") {
			c.key = len(x.keys)
		}
		x.columns = append(x.columns, c)
	}
	return err
}

func cmpName(index string) string {
	if index == "" {
		return "it"
	}
	return "its index " + index
}

// optionsOf returns an index's options that a new build would else set to the usual.
func optionsOf(r result.Row) []string {
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

// Create builds the index again in a filegroup, under its own name and definition: the index of a key
// stays a key, and foreign keys to it stay.
func (m Reader) Create(t Table, x Index, group string, online bool) string {
	var b strings.Builder
	b.WriteString("CREATE ")
	if x.unique {
		b.WriteString("UNIQUE ")
	}
	if x.ID == 1 {
		b.WriteString("CLUSTERED ")
	} else {
		b.WriteString("NONCLUSTERED ")
	}
	fmt.Fprintf(&b, "INDEX %s ON %s.%s (%s)", m.Ident(x.name), m.Ident(t.Schema), m.Ident(t.Name), strings.Join(x.keys, ", "))
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
	fmt.Fprintf(&b, " WITH (%s) ON %s", strings.Join(options, ", "), m.Ident(group))
	return b.String()
}
