package external

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"path"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/internal/spread"
)

// migration is the way of a user's tables to a layout: one ALTER TABLE for each.
type migration struct {
	filewise.Migration
	*server
	ctx    context.Context
	wish   filewise.Wish
	volume []filewise.Volume
	// spaces are general tablespaces that the script makes by makeSpaces, and remaking counts the tables that it makes again.
	spaces, makeSpaces []string
	remaking           int
	foreign            []foreignKey // where tables are divided
}

// userTable is a table of the user's with what decides whether it can be spread.
type userTable struct {
	spread.Table
	kind, engine, options, create string
}

// Migrate reads a user's database and writes the scripts.
func (d Engine) Migrate(ctx context.Context, t filewise.Target, w filewise.Wish) (filewise.Migration, error) {
	database := cmp.Or(w.Database, strings.TrimPrefix(t.Address.Path, "/"))
	s, err := d.open(ctx, withoutPath(t), d.reading)
	if err != nil {
		return filewise.Migration{}, err
	}
	defer s.db.Close()
	m := &migration{server: s, ctx: ctx, wish: w, volume: w.Layout.DataVolumes(t.Volumes)}
	m.Migration = filewise.Migration{Server: d.Title + " " + s.version, Space: map[string]int64{},
		Database: database}
	if err := m.write(); err != nil {
		return m.Migration, s.explain(err)
	}
	m.say()
	return m.Migration, nil
}

// withoutPath returns a target whose URL names no database, for what looks at one without being in it.
func withoutPath(t filewise.Target) filewise.Target {
	address := *t.Address
	address.Path, t.Address = "", &address
	return t
}

// perTable returns the statements there and back for the table of that number.
func (m *migration) perTable(t *userTable, i int) (there, back []string, err error) {
	if v := m.wish.Layout.Data.VolumeOf(i, m.volume); v.Dir != "" {
		return m.whole(t, v)
	}
	return m.apart(t)
}

func (m *migration) write() error {
	step := func(t *userTable, _ int) ([]string, []string, error) { return m.partition(t) }
	switch m.wish.Layout.Kind {
	case filewise.KindPartitions:
		if err := cmp.Or(dialect.CheckPartitions(m.wish.Layout.Data.Files), m.checkKnown(dirsOf(m.volume))); err != nil {
			return err
		}
		var err error
		if m.foreign, err = m.foreignKeys(m.ctx, m.Database); err != nil {
			return err
		}
	case filewise.KindPerTable:
		if err := m.checkKnown(dirsOf(m.volume)); err != nil {
			return err
		}
		step = m.perTable
	default:
		return filewise.Unsupported("change innodb_data_file_path in the server's configuration: further files are added "+
			"behind the last, which must not grow by itself, at the next start; data move only by a dump, a new data directory and a restore. "+
			"Or name another --layout", "layout %q: %s", m.wish.Layout.Name, noSystem)
	}
	if m.Database == "" {
		return filewise.Errorf(filewise.CodeUsage, "give --database NAME", "no database is named")
	}
	tables, err := m.chosen()
	if err != nil {
		return err
	}
	m.Client, m.Input = []string{m.product.Name, "--database=" + m.Database}, true // it stops at the first error then
	m.Opening = settings
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
		guard, err := m.guard(m.ctx, &t)
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
func (m *migration) step(t userTable, sql []string) filewise.MigrationStep {
	if made := slices.IndexFunc(sql, func(s string) bool { return strings.HasPrefix(s, "LOCK TABLES ") }); made >= 0 {
		return filewise.MigrationStep{Title: "table " + t.String() + ", made anew", SQL: sql, Read: t.Bytes, Written: t.Bytes,
			Locks: "the table, and those that it refers to, from LOCK TABLES to UNLOCK TABLES: nobody else reads or writes them",
			Stop: "before DROP TABLE the table is as it was, with those of its foreign keys that are not dropped yet, and a table " +
				"moved_… beside it that can be dropped; after DROP TABLE that table has all rows: rename it"}
	}
	return filewise.MigrationStep{Title: "table " + t.String(), SQL: sql, Read: t.Bytes, Written: t.Bytes,
		Locks: "writing of the table while it is copied, and reading for a moment at the end; it first waits up to 10 s for sessions that use it",
		Stop: "the table is as it was before the step: Ctrl-C in the client, or KILL of its session, undoes the copy; earlier steps stay done, " +
			"and the other script takes them back from its step of that table on"}
}

// readTables are the user's, but no sequences, which MariaDB lists next to them, with the bytes from the statistics.
const readTables = `
SELECT TABLE_NAME, TABLE_TYPE, COALESCE(ENGINE, ''), COALESCE(CREATE_OPTIONS, ''), COALESCE(DATA_LENGTH, 0) + COALESCE(INDEX_LENGTH, 0)
  FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') ORDER BY 5 DESC, 1`

func (m *migration) chosen() ([]userTable, error) {
	var all []userTable
	err := dialect.Each(m.ctx, m.db, func(scan dialect.Scan) error {
		t := userTable{Table: spread.Table{Schema: m.Database}}
		err := scan(&t.Name, &t.kind, &t.engine, &t.options, &t.Bytes)
		all = append(all, t)
		return err
	}, readTables, m.Database)
	if err != nil {
		return nil, err
	}
	tables, err := spread.Choose(all, func(t userTable) spread.Table { return t.Table }, m.wish.Tables)
	for i := range tables {
		t := &tables[i]
		if err == nil && t.kind == "BASE TABLE" {
			t.create, err = m.definition(t.Name)
		}
		t.RefuseIf(t.kind == "SYSTEM VERSIONED", "it is system-versioned, and ALTER TABLE would change its history, which MariaDB refuses")
		t.RefuseIf(!strings.EqualFold(t.engine, "InnoDB"), "its engine is "+t.engine+", whose files Filewise does not place")
		t.RefuseIf(strings.Contains(t.options, "partitioned"), "it is partitioned already")
	}
	return tables, err
}

// What InnoDB does not do with partitioned tables: each row is a reason.
const readProblems = `
SELECT DISTINCT CONCAT('index ', INDEX_NAME, ' is ', INDEX_TYPE, ', which partitioned tables do not have')
  FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND INDEX_TYPE IN ('FULLTEXT', 'SPATIAL')
UNION ALL SELECT CONCAT('column ', COLUMN_NAME, ' is spatial, which partitioned tables do not have') FROM information_schema.COLUMNS
 WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND DATA_TYPE IN ('geometry', 'point', 'linestring', 'polygon', 'multipoint', 'multilinestring',
       'multipolygon', 'geometrycollection', 'geomcollection')`

// partition spreads a table over partitions by the hash of a column of all unique keys.
func (m *migration) partition(t *userTable) (there, back []string, err error) {
	if len(t.Why) == 0 && m.wish.Layout.Data.Files == 1 && m.volume[0].Dir == "" {
		return nil, nil, nil // a table in one piece has it
	}
	for _, k := range m.foreign {
		at := [2]string{m.Database, t.Name}
		t.RefuseIf(k.from == at || k.to == at, fmt.Sprintf("foreign key %s of table %s to %s: InnoDB has none from or to partitioned tables",
			k.name, k.from[1], k.to[1]))
	}
	args := slices.Repeat([]any{m.Database, t.Name}, 2)
	problems, err := dialect.Column(m.ctx, m.db, readProblems, args...)
	if err != nil {
		return nil, nil, err
	}
	t.Why = append(t.Why, problems...)
	t.RefuseIf(strings.Contains(t.create, " DATA DIRECTORY="), "it lies in a directory of its own (DATA DIRECTORY)")
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

// number reports whether a column is an integer, by which HASH divides.
func (m *migration) number(t *userTable, column string) bool {
	var is bool
	err := m.db.QueryRowContext(m.ctx, "SELECT DATA_TYPE LIKE '%int' FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND "+
		"TABLE_NAME = ? AND COLUMN_NAME = ?", t.Schema, t.Name, column).Scan(&is)
	return err == nil && is // by KEY, any column divides
}

const readUnique = `
SELECT INDEX_NAME, COLUMN_NAME, SUB_PART IS NOT NULL, COALESCE(CARDINALITY, 0) FROM information_schema.STATISTICS
 WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND NON_UNIQUE = 0 ORDER BY INDEX_NAME <> 'PRIMARY', INDEX_NAME, SEQ_IN_INDEX`

// key returns the column that all unique keys have, of several the one by which the first of
// these has the most values; refused if there is none.
func (m *migration) key(t *userTable) (string, error) {
	var names []string
	in, values, before, first := map[string]int{}, map[string]float64{}, 1.0, ""
	err := dialect.Each(m.ctx, m.db, func(scan dialect.Scan) error {
		var index string
		var column sql.NullString
		var prefix bool
		var distinct float64
		err := scan(&index, &column, &prefix, &distinct)
		if !slices.Contains(names, index) {
			names, before = append(names, index), 1
		}
		if column.Valid && !prefix {
			in[column.String]++
		}
		if first = cmp.Or(first, index); index == first {
			values[column.String] = distinct / before
		}
		before = max(distinct, 1)
		return err
	}, readUnique, t.Schema, t.Name)
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

// apart gives a table that lies in the system tablespace a file of its own.
func (m *migration) apart(t *userTable) (there, back []string, err error) {
	catalogue := "INNODB_TABLES"
	if m.product == dialect.MariaDB {
		catalogue = "INNODB_SYS_TABLES"
	}
	names := dialect.FileName(m.Database) + "/" + dialect.FileName(t.Name)
	if !dialect.Told(names) {
		m.Stays = append(m.Stays, "table "+t.String()+", whose name identifies no file: should it lie in the system tablespace, ALTER "+
			"TABLE … ENGINE = InnoDB with innodb_file_per_table moves it")
		return nil, nil, nil
	}
	var shared bool
	err = m.db.QueryRowContext(m.ctx, "SELECT SPACE = 0 FROM information_schema."+catalogue+" WHERE NAME = ?", names).Scan(&shared)
	if err != nil {
		return nil, nil, filewise.Errorf(filewise.CodePreflight, "give the account the right PROCESS", "table %s: where it lies: %w", t, err)
	}
	if !shared || len(t.Why) > 0 {
		return nil, nil, nil
	}
	m.Space[m.volume[0].Name] += t.Bytes
	alter := "ALTER TABLE " + dialect.Ident(t.Name)
	if m.product == dialect.MySQL { // whose definition of a table shows it from then on
		return []string{alter + " TABLESPACE = innodb_file_per_table"}, []string{alter + " TABLESPACE = innodb_system"}, nil
	}
	// In place it would stay in its tablespace.
	with := func(value string) []string {
		return []string{"SET @filewise_was = @@GLOBAL.innodb_file_per_table", "SET GLOBAL innodb_file_per_table = " + value,
			alter + " ENGINE = InnoDB, ALGORITHM = COPY", "SET GLOBAL innodb_file_per_table = @filewise_was"}
	}
	return with("ON"), with("OFF"), nil
}

// say notes what else changes, and what does not.
func (m *migration) say() {
	m.Effects = []string{
		"backups: taken before, they restore the old layout. Let none run meanwhile: a physical one waits for ALTER TABLE, or fails",
		"replicas: each executes the same ALTER TABLE when it comes to it in the binary log, and lags behind by about as long",
		"the log: the binary log holds the statements alone, the redo log passes the copy through",
		"the old file of a table is removed at the end of its step: until then there is room for both",
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
		m.Stays = append(m.Stays, "the system tablespace, which does not shrink: only a dump, a new data directory and a restore free its room")
	}
}
