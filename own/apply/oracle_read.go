package apply

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"filewise"
	"filewise/internal/spread"
)

// look reads the tablespace's properties, and refuses one that its tables cannot leave.
func (m *oracle) look() error {
	found, err := m.asked("migrate-space")
	if err != nil {
		return err
	}
	if len(found) != 1 {
		return filewise.Errorf(filewise.CodeNotFound, "filewise inspect lists them: --database TABLESPACE", "there is no tablespace %s",
			m.Database)
	}
	refuse := func(why string, args ...any) error {
		return filewise.Unsupported("name another with --database", "tablespace %s cannot have the layout: "+why,
			append([]any{m.Database}, args...)...)
	}
	space := found[0]
	block := space.Int(0)
	switch {
	case m.Database == "SYSTEM" || m.Database == "SYSAUX" || space.Text(2) != "PERMANENT":
		return refuse("it is the server's own")
	case space.Text(3) == "YES":
		return refuse("it is encrypted, and a new one would not be")
	case block != m.block:
		return refuse("its blocks have %d bytes, and the new ones %d", block, m.block)
	}
	if there, err := m.rows("tablespace", m.name); err != nil {
		return err
	} else if len(there) > 0 {
		return filewise.Errorf(filewise.CodeUsage, "the script was executed already: go its way back first", "there is a tablespace %s", m.name)
	}
	files, err := m.asked("files")
	if err != nil {
		return err
	}
	even := len(files) == m.wish.Layout.Data.Files && (space.Text(1) == "YES") == (m.wish.Layout.Kind == filewise.KindBigfile)
	for _, r := range files {
		m.old = append(m.old, r.Text(0))
		even = even && r.Int(2) == files[0].Int(2)
	}
	if even {
		return filewise.Errorf(filewise.CodeUsage, "name another --layout, or another tablespace", "nothing is to be done: tablespace %s has %s "+
			"of one size already", m.Database, filewise.FilesName(len(files)))
	}
	return nil
}

// movedTable is a table of the user's, with the indexes that move with it.
type movedTable struct {
	spread.Table
	indexes []movedIndex
}

type movedIndex struct{ owner, name, tablespace string }

// chosen returns the tables to move, with their indexes.
func (m *oracle) chosen() ([]movedTable, error) {
	found, err := m.asked("migrate-tables")
	if err != nil {
		return nil, err
	}
	all, place := make([]movedTable, len(found)), map[[2]string]int{}
	for i, r := range found {
		all[i].Table = spread.Table{Schema: r.Text(0), Name: r.Text(1)}
		place[[2]string{r.Text(0), r.Text(1)}] = i
		all[i].RefuseIf(r.Text(2) != "", "it lies in cluster "+r.Text(2))
		all[i].RefuseIf(r.Text(3) == "YES", "it holds the rows of a nested table")
	}
	each := func(section string, do func(t *movedTable, r filewise.Row)) {
		var rows []filewise.Row
		if err == nil {
			rows, err = m.asked(section)
		}
		for _, r := range rows {
			if i, ok := place[[2]string{r.Text(0), r.Text(1)}]; ok {
				do(&all[i], r)
			}
		}
	}
	at := map[[2]string]int{}
	each("migrate-indexes", func(t *movedTable, r filewise.Row) {
		x := movedIndex{r.Text(2), r.Text(3), r.Text(5)}
		t.RefuseIf(r.Text(4) == "DOMAIN", "index "+x.name+" is a domain index")
		t.RefuseIf(r.Text(6) == "YES", "index "+x.name+" is a join index")
		t.RefuseIf(x.tablespace == "", "index "+x.name+" has partitions")
		t.RefuseIf(x.owner != t.Schema, "index "+x.name+" belongs to another schema, "+x.owner)
		t.indexes = append(t.indexes, x)
		at[[2]string{x.owner, x.name}] = place[[2]string{t.Schema, t.Name}]
	})
	each("migrate-longs", func(t *movedTable, r filewise.Row) {
		t.RefuseIf(true, "column "+r.Text(2)+" is LONG, which nothing moves (ORA-00997)")
	})
	segments, err := m.sizes(err)
	for key, bytes := range segments {
		i, ok := place[key]
		if !ok {
			i, ok = at[key]
		}
		if ok {
			all[i].Bytes += bytes
		}
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b movedTable) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.String(), b.String()))
	})
	tables, err := spread.Choose(all, func(t movedTable) spread.Table { return t.Table }, m.wish.Tables)
	each("migrate-lobs", func(t *movedTable, r filewise.Row) { m.lob(tables, *t, r.Text(2), r.Text(3)) })
	return tables, err
}

// sizes returns the bytes of tables and indexes by owner and name. Other segments of the tablespace are named as
// staying.
func (m *oracle) sizes(err error) (map[[2]string]int64, error) {
	out, others := map[[2]string]int64{}, map[string]int{}
	if err != nil {
		return out, err
	}
	found, err := m.asked("migrate-segments")
	for _, r := range found {
		switch kind := r.Text(2); kind {
		case "TABLE", "INDEX":
			out[[2]string{r.Text(0), r.Text(1)}] += r.Int(3) * m.block
		case "LOBINDEX": // goes with its LOB
		default:
			others[kind]++
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(others)) {
		m.Stays = append(m.Stays, fmt.Sprintf("objects of kind %s in tablespace %s (%d): move each by a separate ALTER TABLE … MOVE", kind,
			m.Database, others[kind]))
	}
	return out, err
}

// lob notes that a LOB outside the tablespace stays, and the statement that moves it, if its table is to move.
func (m *oracle) lob(tables []movedTable, t movedTable, column, where string) {
	if !slices.ContainsFunc(tables, func(o movedTable) bool { return o.String() == t.String() }) {
		return
	}
	way := ""
	if table, err := named(t.Name); err == nil && !strings.ContainsAny(column, `"`) {
		way = fmt.Sprintf(`: ALTER TABLE %s MOVE LOB ("%s") STORE AS (TABLESPACE "%s"), and then its indexes again`, table, column, m.name)
	}
	m.Stays = append(m.Stays, fmt.Sprintf("LOB %s of table %s, in tablespace %s%s", column, t, where, way))
}
