package apply

import (
	"cmp"

	"filewise"
	"filewise/engine/postgres/dialect"
)

// whole reports whether tables stay in one piece, each in the tablespace of a volume.
func (m *postgres) whole() bool { return m.wish.Layout.Kind == filewise.KindSingle }

// move takes the tables, each with its indexes, to the volumes' tablespaces in turn, as the run did. No table is made
// again, so tables without a key can be moved too.
func (m *postgres) move() error {
	volumes := m.wish.Layout.DataVolumes(m.target.Volumes)
	var back []filewise.MigrationStep
	moved := m.Tables[:0]
	m.Bytes = 0
	for i, t := range m.tables {
		v := m.wish.Layout.Data.VolumeOf(i, volumes)
		keys := v
		for _, other := range m.target.Volumes {
			if other.Name == m.wish.Layout.IndexVolume {
				keys = other
			}
		}
		there, home, err := t.moves(m.spaces[v.Name], m.spaces[keys.Name], m.usual)
		if err != nil {
			return err
		}
		if there == nil {
			continue
		}
		moved, m.Bytes = append(moved, t.String()), m.Bytes+t.Bytes
		m.Space[v.Name] += t.bytes
		m.Space[keys.Name] += t.indexed
		m.Steps = append(m.Steps, t.moving("to "+v.Name, there))
		back = append([]filewise.MigrationStep{t.moving("back", home)}, back...)
	}
	if len(moved) == 0 {
		return filewise.Errorf(filewise.CodeUsage, "give volumes by --volume NAME=tablespace:NAME, name other tables with --table, or another "+
			"--layout", "nothing is to be done for layout %q: the tables lie there already", m.wish.Layout.Name)
	}
	m.Tables, m.Back = moved, back
	m.removeSpaces()
	return nil
}

func (t table) moving(where string, sql []string) filewise.MigrationStep {
	return filewise.MigrationStep{Title: "table " + t.String() + " " + where, Read: t.Bytes, Written: 2 * t.Bytes, // the log has it again
		Locks: "ACCESS EXCLUSIVE: no one else reads or writes the table from LOCK TABLE to COMMIT; where others keep it for more than 10 s, " +
			"the step gives up",
		Stop: "nothing has changed: the step is one transaction, which a lost connection, Ctrl-C or an error undoes", SQL: sql}
}

// moves returns two transactions: one takes a table to tablespace to and its indexes to tablespace keys, the other
// takes them back. Both are nil if everything is there already. An empty name leaves the table or indexes in place.
func (t table) moves(to, keys, usual string) (there, back []string, err error) {
	guard, err := t.guard()
	if err != nil {
		return nil, nil, err
	}
	name := in(t.Schema, t.Name)
	begin := []string{"BEGIN", "SET LOCAL lock_timeout = '10s'", "SET LOCAL statement_timeout = 0",
		"LOCK TABLE ONLY " + name + " IN ACCESS EXCLUSIVE MODE", "SET LOCAL search_path = pg_catalog", guard}
	there, back = begin, append([]string(nil), begin...)
	add := func(what, from, to string) {
		from = cmp.Or(from, usual)
		if to = cmp.Or(to, from); to != from {
			there = append(there, "ALTER "+what+" SET TABLESPACE "+dialect.Ident(to))
			back = append(back, "ALTER "+what+" SET TABLESPACE "+dialect.Ident(from))
		}
	}
	add("TABLE ONLY "+name, t.space, to)
	for _, x := range t.indexes {
		add("INDEX "+dialect.Ident(t.Schema)+"."+x.name, x.space, keys)
	}
	if len(there) == len(begin) {
		return nil, nil, nil
	}
	return append(there, "COMMIT"), append(back, "COMMIT"), nil
}
