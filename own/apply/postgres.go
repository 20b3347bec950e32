package apply

import (
	"fmt"
	"path"
	"strings"
	"text/template"

	"filewise"
	"filewise/engine/postgres/dialect"
	"filewise/internal/spread"
	"filewise/internal/sqlfile"
)

var postgresText = sqlfile.Must(sqlfile.Parse("postgres.sql", postgresSQL, template.FuncMap{"literal": dialect.Literal}))

// postgres writes the scripts that spread tables of a user's database over partitions and tablespaces. A table that is
// not partitioned cannot become so in place: it is moved aside, made again, and filled, all in one transaction.
type postgres struct {
	*writer
	spaces map[string]string // tablespace by volume. Empty means each table's own
	tables []table
	usual  string          // the database's own tablespace
	later  []string        // statements that remove the tablespaces
	made   map[string]bool // tablespaces that an earlier script of the run made
	aside  int64           // the highest number of a schema in which an earlier script keeps a table
}

func writePostgres(of *writer) error {
	m := &postgres{writer: of, spaces: map[string]string{}}
	m.Database = m.about.Settings["database"]
	if err := m.fits(); err != nil {
		return err
	}
	published := false
	err := m.each("server", func(r filewise.Row) { m.usual, published = r.Text(0), r.Yes(1) })
	if err != nil {
		return err
	}
	if m.tables, err = m.chosen(m.wish.Tables); err != nil {
		return err
	}
	for i := range m.tables {
		if err := m.fill(&m.tables[i], m.whole()); err != nil {
			return err
		}
		m.Tables = append(m.Tables, m.tables[i].String())
		m.Bytes += m.tables[i].Bytes
	}
	if err := spread.Refused(m.tables, func(t table) spread.Table { return t.Table }); err != nil {
		return err
	}
	if err := m.earlier(); err != nil {
		return err
	}
	if err := m.write(); err != nil {
		return err
	}
	m.say(published && !m.whole())
	return nil
}

// fits refuses layouts to which no script takes an existing database.
func (m *postgres) fits() error {
	if l := m.wish.Layout; l.Kind != filewise.KindPartitions && !m.whole() {
		return filewise.Unsupported("name another --layout of the run", "layout %q is of kind %s", l.Name, l.Kind)
	}
	for _, v := range m.target.Volumes {
		name, existing := strings.CutPrefix(v.Dir, dialect.TablespacePrefix)
		switch {
		case existing:
			m.spaces[v.Name] = name
		case v.Dir == "":
			m.spaces[v.Name] = ""
		case path.IsAbs(v.Dir):
			m.spaces[v.Name] = fmt.Sprintf("volume_%s_%d", v.Name, m.wish.Run)
		default:
			return filewise.Unsupported("give it as --volume "+v.Name+"=tablespace:NAME, or an absolute path on the server", "volume %s: %q",
				v.Name, v.Dir)
		}
		if err := dialect.CheckName("tablespace", m.spaces[v.Name]); err != nil && m.spaces[v.Name] != "" {
			return err
		}
	}
	return nil
}

// earlier reads what the run's earlier scripts, for other tables, have left: kept tables and tablespaces.
func (m *postgres) earlier() error {
	m.made = map[string]bool{}
	if err := m.each("aside", func(r filewise.Row) { m.aside = r.Int(0) }, m.wish.Run); err != nil {
		return err
	}
	rows, err := m.rows("tablespaces")
	for _, r := range rows {
		for _, v := range m.target.Volumes {
			name, at := r.Text(0), r.Text(1)
			if !path.IsAbs(v.Dir) || m.spaces[v.Name] != name {
				continue
			}
			if at != path.Clean(v.Dir) {
				return filewise.Errorf(filewise.CodeUsage, "give it as --volume "+v.Name+"=tablespace:"+name+", or drop it", "tablespace %s is there "+
					"already, in %s, not %s", name, at, v.Dir)
			}
			m.made[name] = true
		}
	}
	return err
}

// held returns the name of the schema that keeps the old form of table number i.
func (m *postgres) held(i int) string {
	return fmt.Sprintf("before_%d_%d", m.wish.Run, m.aside+int64(i)+1)
}

func (m *postgres) write() error {
	m.Client = []string{"psql", "--no-psqlrc", "--dbname=" + m.Database, "--file="}
	if err := m.open(); err != nil {
		return err
	}
	m.makeSpaces()
	if m.whole() {
		return m.move()
	}
	var back []filewise.MigrationStep
	for i, t := range m.tables {
		to := m.shape(t)
		held := m.held(i)
		forth := rebuild{table: t, from: whole(t), to: to, held: held}
		step, err := forth.step("spread over " + filewise.Counted(len(to), "partition"))
		if err != nil {
			return err
		}
		m.Steps = append(m.Steps, step)
		home := rebuild{table: t, from: to, to: whole(t), held: "back_" + held}
		if step, err = home.step("in one piece again"); err != nil {
			return err
		}
		back = append([]filewise.MigrationStep{step}, back...)
	}
	m.Back = back
	m.finish(&m.Steps, "")
	m.finish(&m.Back, "back_", "")
	m.removeSpaces()
	return nil
}

// removeSpaces adds a last step to the way back, which removes the tablespaces that the way there makes.
func (m *postgres) removeSpaces() {
	if len(m.later) > 0 {
		m.Back = append(m.Back, filewise.MigrationStep{Title: "remove the tablespaces that the script made", Locks: "nothing", Later: true,
			Stop: "those that are not removed stay, empty", SQL: m.later})
	}
}

// open writes the script's opening: psql stops at the first error, and the server refuses a database in which a table
// differs, before anything is altered. The database's name is not checked, so the script can be rehearsed on a copy.
func (m *postgres) open() error {
	m.Opening = "\\set ON_ERROR_STOP on\nBEGIN;\nSET LOCAL search_path = pg_catalog;\n"
	for _, t := range m.tables {
		guard, err := t.guard()
		if err != nil {
			return err
		}
		m.Opening += guard + ";\n"
	}
	m.Opening += "COMMIT;"
	return nil
}

// makeSpaces makes the tablespaces of volumes that are directories. A tablespace belongs to all databases of a server,
// so one that a rehearsal on a copy made is there already.
func (m *postgres) makeSpaces() {
	var sql []string
	for _, v := range m.wish.Layout.DataVolumes(m.target.Volumes) {
		if path.IsAbs(v.Dir) && !m.made[m.spaces[v.Name]] {
			name := dialect.Ident(m.spaces[v.Name])
			create := "CREATE TABLESPACE " + name + " LOCATION " + dialect.Literal(v.Dir)
			sql = append(sql, fmt.Sprintf("SELECT %s WHERE NOT EXISTS\n  (SELECT FROM pg_tablespace WHERE spcname = %s AND "+
				"pg_tablespace_location(oid) = %s) \\gexec", dialect.Literal(create), dialect.Literal(m.spaces[v.Name]),
				dialect.Literal(path.Clean(v.Dir))))
			m.later = append(m.later, "DROP TABLESPACE "+name)
		}
	}
	if len(sql) > 0 {
		m.Steps = append(m.Steps, filewise.MigrationStep{Title: "make tablespaces, as a superuser, in empty directories of the server's user",
			Locks: "nothing", Stop: "the tablespaces stay, empty: DROP TABLESPACE removes one", SQL: sql})
	}
}

// shape returns the partitions into which the layout divides a table, with their tablespaces.
func (m *postgres) shape(t table) shape {
	l := m.wish.Layout
	volumes := l.DataVolumes(m.target.Volumes)
	s := make(shape, l.Data.Files)
	for i := range s {
		v := l.Data.VolumeOf(i, volumes)
		s[i] = leaf{name: dialect.PartitionName(t.Name, i), space: m.spaces[v.Name], index: m.spaces[v.Name]}
		if v.Dir == "" {
			s[i].space, s[i].keep = t.space, true
		}
		if l.IndexVolume != "" {
			s[i].index, s[i].keep = m.spaces[l.IndexVolume], false
		}
		at := v.Name
		m.Space[at] += t.bytes / int64(len(s))
		if l.IndexVolume != "" {
			at = l.IndexVolume
		}
		m.Space[at] += t.indexed / int64(len(s))
	}
	return s
}

// step returns the rebuild's transaction as a step of the script.
func (r *rebuild) step(what string) (filewise.MigrationStep, error) {
	sql, err := r.statements()
	bytes := r.Bytes
	return filewise.MigrationStep{Title: "table " + r.String() + " " + what, Read: r.bytes, Written: 2 * bytes, // the log too
		Locks: "ACCESS EXCLUSIVE: no one else reads or writes the table from LOCK TABLE to COMMIT, nor writes those that foreign keys tie to " +
			"it; where others keep it for more than 10 s, the step gives up",
		Stop: "nothing has changed: the step is one transaction, which a lost connection, Ctrl-C or an error undoes", SQL: sql}, err
}

// finish adds a step that analyzes the new tables, and a later one that drops the old tables once all is well.
func (m *postgres) finish(steps *[]filewise.MigrationStep, kept ...string) {
	var analyze, drop []string
	bytes := int64(0)
	for i, t := range m.tables {
		analyze = append(analyze, "ANALYZE "+in(t.Schema, t.Name))
		for _, prefix := range kept { // the way back also drops what the way there has kept
			schema := prefix + m.held(i)
			drop = append(drop, "DROP TABLE IF EXISTS "+in(schema, t.Name), "DROP SCHEMA IF EXISTS "+dialect.Ident(schema))
		}
		bytes += t.bytes
	}
	*steps = append(*steps,
		filewise.MigrationStep{Title: "statistics for the planner", Locks: "nothing that reading or writing waits for", SQL: analyze,
			Stop: "plans are worse until ANALYZE has run: execute it again"},
		filewise.MigrationStep{Title: "when you have seen that all is well, and no sooner: drop the old tables, whose space is then free",
			Locks: "nothing that anybody uses", Stop: "execute the rest later", SQL: drop, Later: true})
}

// say notes what else the script changes, and what stays as it is.
func (m *postgres) say(published bool) {
	m.Effects = []string{
		"backups: taken before, they restore the old layout. The next incremental one holds all of the new tables; recovery to any time goes on",
		"replicas: streaming ones get all of it through the log and lag behind; there too, readers of the tables wait or are cancelled",
		"the log: it holds tables and indexes once more, within one transaction for each table: see that its volume and its archive have " +
			"the room",
		"connections stay; plans of prepared statements are made again, and a session that asks for a table during this waits",
	}
	if published {
		m.Effects = append(m.Effects, "logical replicas of a publication FOR ALL TABLES get the new tables' rows as inserts: stop the "+
			"subscription, take the same script there, and go on without copying")
	}
	if m.wish.Layout.LogVolume != "" {
		m.Stays = append(m.Stays, "the write-ahead log, which the run had on volume "+m.wish.Layout.LogVolume+": stop the server, move pg_wal "+
			"there, put a symbolic link in its place, and start it")
	}
	m.Stays = append(m.Stays, "tables that are not named above: name them with --table")
}
