package dialect

import (
	"fmt"
	"strings"

	"filewise"
)

// Index is an index of a user's table. The clustered index, 1, holds the rows.
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

// Types of indexes (sys.indexes).
const typeHeap, typeNonclustered = 0, 2

// indexes reads the definitions of a table's indexes, and the reasons why they cannot move.
func (m Reader) indexes(t *Table) error {
	rows, err := m("apply-indexes", t.id)
	if err != nil {
		return err
	}
	at := map[int64]int{}
	for _, r := range rows {
		kind, _ := r.Number(2)
		name := r.Text(1)
		t.RefuseIf(kind == typeHeap, "it has no clustered index, by which its rows could be moved: make one, or name other tables")
		t.RefuseIf(kind > typeNonclustered, "its index "+name+" is "+r.Text(3))
		t.RefuseIf(strings.TrimSpace(r.Text(13)) != "FG", cmpName(name)+" is partitioned, or not in a filegroup of rows")
		if r.Yes(5) {
			continue // a disabled index has no pages, and building it would enable it
		}
		x := Index{name: name, Space: r.Text(12), filter: r.Text(11), unique: r.Yes(4), options: optionsOf(r)}
		x.ID, _ = r.Number(0)
		x.Bytes = r.Int(15) * page
		at[x.ID] = len(t.Indexes)
		t.Indexes = append(t.Indexes, x)
	}
	rows, err = m("apply-columns", t.id)
	for _, r := range rows {
		n, known := at[r.Int(0)]
		if !known {
			continue
		}
		x, name, c := &t.Indexes[n], Ident(r.Text(1)), column{name: r.Text(1)}
		switch {
		case r.Yes(3):
			x.included = append(x.included, name)
		case r.Yes(2):
			c.descending, x.keys = true, append(x.keys, name+" DESC")
		default:
			x.keys = append(x.keys, name)
		}
		if !r.Yes(3) {
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

// optionsOf returns an index's options that building it again would otherwise reset to the defaults.
func optionsOf(r filewise.Row) []string {
	var all []string
	if n, _ := r.Number(7); n > 0 && n < 100 {
		all = append(all, fmt.Sprintf("FILLFACTOR = %d", n))
	}
	for _, o := range []struct {
		is   bool
		text string
	}{{r.Yes(6), "PAD_INDEX = ON"}, {r.Yes(8), "IGNORE_DUP_KEY = ON"}, {!r.Yes(9), "ALLOW_ROW_LOCKS = OFF"},
		{!r.Yes(10), "ALLOW_PAGE_LOCKS = OFF"}, {r.Yes(16), "OPTIMIZE_FOR_SEQUENTIAL_KEY = ON"}} {
		if o.is {
			all = append(all, o.text)
		}
	}
	if c := r.Text(14); c == "ROW" || c == "PAGE" {
		all = append(all, "DATA_COMPRESSION = "+c)
	}
	return all
}

// Create returns the statement that builds the index again in a filegroup, with its name and definition. The index of a
// key stays a key, and foreign keys to it stay.
func (t Table) Create(x Index, group string, online bool) string {
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
	fmt.Fprintf(&b, "INDEX %s ON %s.%s (%s)", Ident(x.name), Ident(t.Schema), Ident(t.Name), strings.Join(x.keys, ", "))
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
	fmt.Fprintf(&b, " WITH (%s) ON %s", strings.Join(options, ", "), Ident(group))
	return b.String()
}
