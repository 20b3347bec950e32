package apply

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/internal/spread"
)

// innodb writes the scripts that take a user's tables to a layout: one ALTER TABLE per table.
type innodb struct {
	*writer
	product *dialect.Product
	volume  []filewise.Volume
	// spaces lists the new general tablespaces, and makeSpaces the statements that create them. remaking counts the tables
	// that the script creates again.
	spaces, makeSpaces []string
	remaking           int
	foreign            []filewise.Row // the foreign keys, where tables are divided
}

func writeInnoDB(of *writer) error {
	m := &innodb{writer: of, product: dialect.MariaDB, volume: of.wish.Layout.DataVolumes(of.target.Volumes)}
	if m.engine == dialect.MySQL.Name {
		m.product = dialect.MySQL
	}
	m.Database = cmp.Or(m.wish.Database, strings.TrimPrefix(m.target.Address.Path, "/"))
	if err := m.write(); err != nil {
		return err
	}
	m.say()
	return nil
}

// userTable is a table of the user's database, with the properties that decide whether it can be spread.
type userTable struct {
	spread.Table
	kind, engine, options, create string
}

// perTable returns the statements that take table number i to its volume, and back. If the volume has no directory, the
// table gets a separate file.
func (m *innodb) perTable(t *userTable, i int) (there, back []string, err error) {
	if v := m.wish.Layout.Data.VolumeOf(i, m.volume); v.Dir != "" {
		return m.whole(t, v)
	}
	return m.apart(t)
}

func (m *innodb) write() error {
	step := func(t *userTable, _ int) ([]string, []string, error) { return m.partition(t) }
	switch m.wish.Layout.Kind {
	case filewise.KindPartitions:
		err := cmp.Or(dialect.CheckPartitions(m.wish.Layout.Data.Files), m.product.CheckKnown(m.about.Settings, dialect.Dirs(m.volume)))
		if err != nil {
			return err
		}
		if m.foreign, err = m.rows("foreign-keys", m.Database); err != nil {
			return err
		}
	case filewise.KindPerTable:
		if err := m.product.CheckKnown(m.about.Settings, dialect.Dirs(m.volume)); err != nil {
			return err
		}
		step = m.perTable
	default:
		return filewise.Unsupported("change innodb_data_file_path in the server's configuration: further files are added "+
			"behind the last, which must not grow by itself, at the next start; data move only by a dump, a new data directory and a restore. "+
			"Or name another --layout", "layout %q: %s", m.wish.Layout.Name, dialect.NoSystem)
	}
	if m.Database == "" {
		return filewise.Errorf(filewise.CodeUsage, "give --database NAME", "no database is named")
	}
	tables, err := m.chosen()
	if err != nil {
		return err
	}
	m.Client, m.Input = []string{m.product.Name, "--database=" + m.Database}, true // it stops at the first error then
	m.Opening = innodbSettings
	there, back := make([][]string, len(tables)), make([][]string, len(tables))
	for i := range tables {
		if there[i], back[i], err = step(&tables[i], i); err != nil {
			return err
		}
	}
	if err := spread.Refused(tables, func(t userTable) spread.Table { return t.Table }); err != nil {
		return err
	}
	for i, t := range tables {
		if there[i] == nil {
			continue
		}
		guard, err := m.guard(&t)
		if err != nil {
			return err
		}
		m.Opening += "\n" + guard
		m.Tables, m.Bytes = append(m.Tables, t.String()), m.Bytes+t.Bytes
		m.Steps = append(m.Steps, m.step(t, there[i]))
		m.Back = append([]filewise.MigrationStep{m.step(t, back[i])}, m.Back...)
	}
	if len(m.Steps) == 0 {
		return filewise.Errorf(filewise.CodeUsage, "name other tables with --table, or another --layout", "nothing is to be done: the "+
			"tables have the layout already")
	}
	m.addSpaces()
	return nil
}

// step returns an ALTER TABLE as a step.
func (m *innodb) step(t userTable, sql []string) filewise.MigrationStep {
	if made := slices.IndexFunc(sql, func(s string) bool { return strings.HasPrefix(s, "LOCK TABLES ") }); made >= 0 {
		return filewise.MigrationStep{Title: "table " + t.String() + ", made again", SQL: sql, Read: t.Bytes, Written: t.Bytes,
			Locks: "the table, and those that it refers to, from LOCK TABLES to UNLOCK TABLES: no one else reads or writes them",
			Stop: "before DROP TABLE the table is as it was, with its foreign keys that are not dropped yet, and a table " +
				"moved_… next to it that can be dropped; after DROP TABLE that table has all rows: rename it"}
	}
	return filewise.MigrationStep{Title: "table " + t.String(), SQL: sql, Read: t.Bytes, Written: t.Bytes,
		Locks: "writing of the table while it is copied, and reading for a moment at the end; it first waits up to 10 s for sessions that use it",
		Stop: "the table is as it was before the step: Ctrl-C in the client, or KILL of its session, undoes the copy; earlier steps stay done, " +
			"and the other script takes them back from its step of that table on"}
}

func (m *innodb) chosen() ([]userTable, error) {
	var all []userTable
	err := m.each("tables", func(r filewise.Row) {
		all = append(all, userTable{Table: spread.Table{Schema: m.Database, Name: r.Text(0), Bytes: r.Int(4)}, kind: r.Text(1),
			engine: r.Text(2), options: r.Text(3)})
	}, m.Database)
	if err != nil {
		return nil, err
	}
	tables, err := spread.Choose(all, func(t userTable) spread.Table { return t.Table }, m.wish.Tables)
	for i := range tables {
		t := &tables[i]
		if err == nil && t.kind == "BASE TABLE" {
			t.create, err = m.definition(t)
		}
		t.RefuseIf(t.kind == "SYSTEM VERSIONED", "it is system-versioned, and ALTER TABLE would change its history, which MariaDB refuses")
		t.RefuseIf(!strings.EqualFold(t.engine, "InnoDB"), "its engine is "+t.engine+", whose files Filewise does not place")
		t.RefuseIf(strings.Contains(t.options, "partitioned"), "it is partitioned already")
	}
	return tables, err
}

// partition spreads a table over partitions by the hash of a column of all unique keys.
func (m *innodb) partition(t *userTable) (there, back []string, err error) {
	if len(t.Why) == 0 && m.wish.Layout.Data.Files == 1 && m.volume[0].Dir == "" {
		return nil, nil, nil // a table in one piece has this layout already
	}
	for _, k := range m.foreign {
		is := func(end int) bool { return k.Text(end) == m.Database && k.Text(end+1) == t.Name }
		t.RefuseIf(is(1) || is(3), fmt.Sprintf("foreign key %s of table %s to %s: InnoDB has none from or to partitioned tables",
			k.Text(0), k.Text(2), k.Text(4)))
	}
	err = m.each("problems", func(r filewise.Row) { t.RefuseIf(true, r.Text(0)) }, m.Database, t.Name, m.Database, t.Name)
	if err != nil {
		return nil, nil, err
	}
	t.RefuseIf(strings.Contains(t.create, " DATA DIRECTORY="), "it is in a separate directory (DATA DIRECTORY)")
	t.RefuseIf(strings.Contains(t.create, " TABLESPACE `"), "it lies in a general tablespace")
	by, err := m.key(t)
	if err != nil || len(t.Why) > 0 {
		return nil, nil, err
	}
	l := m.wish.Layout
	for i := range l.Data.Files {
		m.Space[l.Data.VolumeOf(i, m.volume).Name] += t.Bytes / int64(l.Data.Files)
	}
	clause := dialect.PartitionByHash(by, l.Data.Files, func(i int) string { return dialect.DataDirectory(l.Data.VolumeOf(i, m.volume).Dir) })
	if !m.number(t, by) {
		clause = strings.Replace(clause, " BY HASH ", " BY KEY ", 1)
	}
	alter := "ALTER TABLE " + dialect.Ident(t.Name)
	return []string{alter + clause}, []string{alter + " REMOVE PARTITIONING"}, nil
}

// number reports whether a column is an integer. Integers are divided by HASH, other types by KEY.
func (m *innodb) number(t *userTable, column string) bool {
	rows, err := m.rows("integer", t.Schema, t.Name, column)
	return err == nil && len(rows) == 1 && rows[0].Yes(0) // by KEY, any column divides
}

// key returns the column to partition by, which must be in every unique key. If several are, key chooses the column with
// the most values in the first unique key. If none is, the table is refused.
func (m *innodb) key(t *userTable) (string, error) {
	var names []string
	in, values, before, first := map[string]int{}, map[string]float64{}, 1.0, ""
	err := m.each("unique", func(r filewise.Row) {
		index, column := r.Text(0), r.Text(1) // empty for an expression
		distinct, _ := r.Real(3)
		if !slices.Contains(names, index) {
			names, before = append(names, index), 1
		}
		if column != "" && !r.Yes(2) {
			in[column]++
		}
		if first = cmp.Or(first, index); index == first {
			values[column] = distinct / before
		}
		before = max(distinct, 1)
	}, t.Schema, t.Name)
	if err != nil {
		return "", err
	}
	best := ""
	for column, n := range in {
		if n == len(names) && (best == "" || values[column] > values[best] || values[column] == values[best] && column < best) {
			best = column
		}
	}
	t.CheckKey(best, strings.Join(names, ", "))
	return best, nil
}

// apart gives a table that lies in the system tablespace a separate file.
func (m *innodb) apart(t *userTable) (there, back []string, err error) {
	catalogue := "INNODB_TABLES"
	if m.product == dialect.MariaDB {
		catalogue = "INNODB_SYS_TABLES"
	}
	names := dialect.FileName(m.Database) + "/" + dialect.FileName(t.Name)
	if !dialect.Exact(names) {
		m.Stays = append(m.Stays, "table "+t.String()+", whose name identifies no file: should it lie in the system tablespace, ALTER "+
			"TABLE … ENGINE = InnoDB with innodb_file_per_table moves it")
		return nil, nil, nil
	}
	rows, err := m.in.Rows(m.ctx, "shared", map[string]any{"Catalogue": catalogue}, names)
	if err == nil && len(rows) == 0 {
		err = errors.New("the server does not list it")
	}
	if err != nil {
		return nil, nil, filewise.Errorf(filewise.CodePreflight, "give the account the right PROCESS", "table %s: where it lies: %w", t, err)
	}
	if !rows[0].Yes(0) || len(t.Why) > 0 {
		return nil, nil, nil
	}
	m.Space[m.volume[0].Name] += t.Bytes
	alter := "ALTER TABLE " + dialect.Ident(t.Name)
	if m.product == dialect.MySQL { // a MySQL table's definition names its tablespace from then on
		return []string{alter + " TABLESPACE = innodb_file_per_table"}, []string{alter + " TABLESPACE = innodb_system"}, nil
	}
	// An ALTER TABLE in place would leave the table in its tablespace.
	with := func(value string) []string {
		return []string{"SET @filewise_was = @@GLOBAL.innodb_file_per_table", "SET GLOBAL innodb_file_per_table = " + value,
			alter + " ENGINE = InnoDB, ALGORITHM = COPY", "SET GLOBAL innodb_file_per_table = @filewise_was"}
	}
	return with("ON"), with("OFF"), nil
}

// say notes what else the script changes, and what stays as it is.
func (m *innodb) say() {
	m.Effects = []string{
		"backups: taken before, they restore the old layout. Let none run during this: a physical one waits for ALTER TABLE, or fails",
		"replicas: each executes the same ALTER TABLE when it comes to it in the binary log, and lags behind by about as long",
		"the log: the binary log holds the statements alone, the redo log passes the copy through",
		"the old file of a table is removed at the end of its step: until then both need space",
	}
	if slices.ContainsFunc(m.volume, func(v filewise.Volume) bool { return path.IsAbs(v.Dir) }) {
		m.Effects = append(m.Effects, "volumes: the server's user must be able to write to their directories; MySQL requires each to be in "+
			"innodb_directories, and the account the right FILE")
	}
	m.Stays = append(m.Stays, "tables that are not named above: name them with --table")
	if m.wish.Layout.LogVolume != "" {
		m.Stays = append(m.Stays, fmt.Sprintf("the redo log, which the run had on volume %s: stop the server, set innodb_log_group_home_dir, "+
			"and start it", m.wish.Layout.LogVolume))
	}
	if m.wish.Layout.Kind == filewise.KindPerTable {
		m.Stays = append(m.Stays, "the system tablespace, which does not shrink: only a dump, a new data directory and a restore free its space")
	}
}
