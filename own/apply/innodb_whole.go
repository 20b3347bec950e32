package apply

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/innodb/dialect"
)

var (
	ownDirectory  = regexp.MustCompile(` DATA DIRECTORY='((?:[^']|'')*)'`)
	ownTablespace = regexp.MustCompile("TABLESPACE `((?:[^`]|``)+)`")
	foreignLine   = regexp.MustCompile("^  CONSTRAINT `((?:[^`]|``)+)` FOREIGN KEY .* REFERENCES `((?:[^`]|``)+)` \\(")
)

// whole puts a table in one piece, with its indexes, on volume v. The table needs no key.
func (m *innodb) whole(t *userTable, v filewise.Volume) (there, back []string, err error) {
	at := ""
	if is := ownDirectory.FindStringSubmatch(t.create); is != nil {
		at = strings.ReplaceAll(is[1], "''", "'")
	}
	switch {
	case len(t.Why) > 0, at != "" && path.Clean(at) == path.Clean(v.Dir):
		return nil, nil, nil
	case m.product == dialect.MySQL:
		there, back = m.general(t, v, at)
	default:
		there, back, err = m.remade(t, v, at)
	}
	if err == nil && len(t.Why) == 0 {
		m.Space[v.Name] += t.Bytes
	}
	return there, back, err
}

// general moves a table into the general tablespace of a volume. MySQL has no other way for a table that is there.
func (m *innodb) general(t *userTable, v filewise.Volume, at string) (there, back []string) {
	t.RefuseIf(at != "", "it is in a separate directory (DATA DIRECTORY), to which no ALTER TABLE brings it back")
	t.RefuseIf(strings.Contains(strings.ToUpper(t.options), "ROW_FORMAT=COMPRESSED"), "its rows are compressed, which needs a tablespace of "+
		"another page size")
	from, name := "innodb_file_per_table", fmt.Sprintf("volume_%s_%d", v.Name, m.wish.Run)
	if is := ownTablespace.FindStringSubmatch(t.create); is != nil {
		from = strings.ReplaceAll(is[1], "``", "`")
	}
	if from == name || len(t.Why) > 0 {
		return nil, nil
	}
	if !slices.Contains(m.spaces, name) {
		m.spaces = append(m.spaces, name)
		m.makeSpaces = append(m.makeSpaces, dialect.MakeTablespace(name, v.Dir))
	}
	alter := "ALTER TABLE " + dialect.Ident(t.Name) + " TABLESPACE = "
	return []string{alter + dialect.Ident(name)}, []string{alter + dialect.Ident(from)}
}

// addSpaces adds a first step that makes the general tablespaces, and a last step of the way back that drops them. A
// rehearsal there and back leaves none.
func (m *innodb) addSpaces() {
	if len(m.makeSpaces) == 0 {
		return
	}
	var drop []string
	for _, name := range m.spaces {
		drop = append(drop, "DROP TABLESPACE "+dialect.Ident(name))
	}
	m.Steps = append([]filewise.MigrationStep{{Title: "make general tablespaces; a rehearsal on this server has to be taken back first",
		Locks: "nothing", Stop: "the tablespaces stay, empty: DROP TABLESPACE removes one", SQL: m.makeSpaces}}, m.Steps...)
	m.Back = append(m.Back, filewise.MigrationStep{Title: "remove the tablespaces", Locks: "nothing",
		Stop: "those that are not removed stay, empty", SQL: drop})
}

// remade returns the statements that make a table again, with its foreign keys, in the volume's directory. If the
// directory is empty, it is the server's own. MariaDB has no ALTER TABLE that moves a table to another directory.
func (m *innodb) remade(t *userTable, v filewise.Volume, at string) (there, back []string, err error) {
	triggers, err := m.texts("triggers", m.Database, t.Name)
	if err != nil {
		return nil, nil, err
	}
	t.RefuseIf(len(triggers) > 0, "its trigger "+strings.Join(triggers, ", ")+" would stay with the old table: drop it, and create it again "+
		"afterwards")
	r, err := m.parts(t)
	if err != nil || len(t.Why) > 0 {
		return nil, nil, err
	}
	there, back = r.to(v.Dir), r.to(at)
	return there, back, nil
}

// remaking holds the parts of a definition from which a table is made again.
type remaking struct {
	name, made string
	body       []string // columns, keys and checks
	options    string
	columns    string
	foreign    []string // lines of its foreign keys
	locked     []string // tables
}

// parts reads a table's definition into a remaking.
func (m *innodb) parts(t *userTable) (*remaking, error) {
	m.remaking++
	r := &remaking{name: t.Name, made: fmt.Sprintf("moved_%d_%d", m.wish.Run, m.remaking), locked: []string{t.Name}}
	lines := strings.Split(t.create, "\n")
	end := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, ") ENGINE=") })
	if end < 1 {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "table %s: its definition is in another form: %.200q", t, t.create)
	}
	r.options = ownDirectory.ReplaceAllString(strings.TrimPrefix(strings.Join(lines[end:], "\n"), ")"), "")
	for _, l := range lines[1:end] {
		if l = strings.TrimSuffix(l, ","); foreignLine.MatchString(l) {
			r.foreign = append(r.foreign, l)
			if parent := strings.ReplaceAll(foreignLine.FindStringSubmatch(l)[2], "``", "`"); !slices.Contains(r.locked, parent) {
				r.locked = append(r.locked, parent)
			}
			continue
		}
		t.RefuseIf(strings.HasPrefix(l, "  CONSTRAINT ") && strings.Contains(l, " FOREIGN KEY "), "it refers to another database")
		r.body = append(r.body, l)
	}
	columns, err := m.texts("columns", m.Database, t.Name)
	r.columns = strings.Join(filewise.Each(columns, dialect.Ident), ", ")
	return r, err
}

func (m *innodb) definition(t *userTable) (create string, err error) {
	rows, err := m.in.Rows(m.ctx, "definition", map[string]any{"Schema": t.Schema, "Name": t.Name})
	for _, r := range rows {
		create = r.Text(1)
	}
	return create, err
}

// texts returns the first column of a section's rows.
func (m *writer) texts(section string, args ...any) (all []string, err error) {
	err = m.each(section, func(r filewise.Row) { all = append(all, r.Text(0)) }, args...)
	return all, err
}

// to returns the statements that make the table in a directory. If empty, in the server's own. No one else sees an unfinished
// state, since all of it is locked until the new table has the name. Foreign keys of other tables hold by its name: they
// are the new table's as soon as that has it.
func (r *remaking) to(dir string) []string {
	name, made := dialect.Ident(r.name), dialect.Ident(r.made)
	locks := filewise.Each(append(slices.Clone(r.locked), r.made), func(t string) string { return dialect.Ident(t) + " WRITE" })
	all := []string{"SET SESSION foreign_key_checks = 0, SESSION sql_mode = CONCAT(@@SESSION.sql_mode, ',NO_AUTO_VALUE_ON_ZERO')",
		"CREATE TABLE " + made + " (\n" + strings.Join(r.body, ",\n") + "\n)" + r.options + dialect.DataDirectory(dir),
		"LOCK TABLES " + strings.Join(locks, ", "),
		"INSERT INTO " + made + " (" + r.columns + ") SELECT " + r.columns + " FROM " + name}
	for _, l := range r.foreign {
		all = append(all, "ALTER TABLE "+name+" DROP FOREIGN KEY `"+foreignLine.FindStringSubmatch(l)[1]+"`",
			"ALTER TABLE "+made+" ADD"+strings.Replace(l[1:], " REFERENCES "+name+" (", " REFERENCES "+made+" (", 1))
	}
	return append(all, "DROP TABLE "+name, "ALTER TABLE "+made+" RENAME TO "+name, "UNLOCK TABLES", "SET SESSION foreign_key_checks = 1")
}
