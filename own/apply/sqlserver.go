package apply

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"filewise"
	"filewise/engine/sqlserver/dialect"
)

// sqlserver writes the scripts that take a user's tables into the files of a new filegroup. Their indexes are built
// again there: the clustered index takes the rows along.
type sqlserver struct {
	*writer
	files []userFile
	full  bool // recovery model FULL: the log holds all that is built
}

// userFile is a file that the script adds.
type userFile struct{ group, logical, path, volume string }

// writeSQLServer writes the scripts. It sends SELECT alone, as SQL Server has no read-only sessions.
func writeSQLServer(of *writer) error {
	m := &sqlserver{writer: of}
	m.Server, _, _ = strings.Cut(m.about.Server, "; ")
	if m.Database = m.wish.Database; m.Database == "" && m.about.Settings["database"] != "master" {
		m.Database = m.about.Settings["database"]
	}
	if m.Database == "" {
		return filewise.Errorf(filewise.CodeUsage, "give --database NAME", "no database is named")
	}
	if k := m.wish.Layout.Kind; k != filewise.KindFilegroup && k != "" {
		return filewise.Unsupported("name another --layout of the run", "layout %q is of kind %s", m.wish.Layout.Name, k)
	}
	about, err := m.ask("apply-database")
	if err != nil {
		return err
	}
	if len(about) != 1 {
		return fmt.Errorf("database %s: %d rows about it, want 1", m.Database, len(about))
	}
	m.full = about[0].Text(1) == "FULL"
	if err := m.place(about[0].Text(0)); err != nil {
		return err
	}
	tables, err := dialect.Reader(m.ask).Tables(m.wish.Tables)
	if err != nil {
		return err
	}
	m.open(tables)
	m.addFiles(tables)
	for _, t := range tables {
		m.Tables, m.Bytes = append(m.Tables, t.String()), m.Bytes+t.Bytes
		m.Steps = append(m.Steps, m.step(t, "into filegroup "+m.group(false), func(x dialect.Index) string { return m.group(x.ID > 1) }))
		back := m.step(t, "back into its filegroups", func(x dialect.Index) string { return x.Space })
		m.Back = append([]filewise.MigrationStep{back}, m.Back...)
	}
	m.removeFiles()
	for _, steps := range [][]filewise.MigrationStep{m.Steps, m.Back} { // after the last GO
		last := &steps[len(steps)-1]
		last.SQL = append(last.SQL, batch("PRINT N'done'"))
	}
	m.say(about[0].Yes(2), tables)
	return nil
}

// ask executes a section in the form for the server's release.
func (m *sqlserver) ask(section string, args ...any) ([]filewise.Row, error) {
	rows, err := m.in.Rows(m.ctx, section, map[string]any{"Sequential": m.about.Version[0] >= 15}, args...)
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", m.Database, err)
	}
	return rows, nil
}

// open writes the script's opening. sqlcmd stops at the first error (-b). Without -I, indexes of computed columns and
// filtered indexes could not be made. No statement names the database, so that a rehearsal on a copy alters the copy.
// The server refuses a database that lacks the tables.
func (m *sqlserver) open(tables []dialect.Table) {
	m.Client = append(dialect.Client(*m.target.Address), "-x", "-d", m.Database, "-i")
	m.Opening = "SET XACT_ABORT ON;\nSET LOCK_TIMEOUT 10000;"
	for _, t := range tables {
		m.Opening += "\n" + t.Guard()
	}
}

// group returns the name of the new filegroup for rows or, if indexes lie apart, for indexes.
func (m *sqlserver) group(index bool) string {
	if index && m.wish.Layout.Indexes == filewise.IndexesApart {
		return fmt.Sprintf("indexes_%d", m.wish.Run)
	}
	return fmt.Sprintf("files_%d", m.wish.Run)
}

// place names the new files: on the volumes, or next to the database's first file. The session has checked the directories.
func (m *sqlserver) place(first string) error {
	l := m.wish.Layout
	add := func(index bool, n int, volume string) error {
		v := slices.IndexFunc(m.target.Volumes, func(v filewise.Volume) bool { return v.Name == volume })
		if v < 0 {
			return filewise.Errorf(filewise.CodeUsage, "name it with --volume "+volume+"=DIR", "--index-volume %s: there is no such volume", volume)
		}
		f := userFile{group: m.group(index), volume: volume, path: m.target.Volumes[v].Dir}
		f.logical = fmt.Sprintf("%s_%d", f.group, n+1)
		if f.path == "" {
			f.path = first[:max(strings.LastIndexAny(first, `\/`), 0)]
		}
		separator := "/"
		if !strings.HasPrefix(f.path, "/") {
			separator, f.path = `\`, strings.ReplaceAll(f.path, "/", `\`)
		}
		f.path = strings.TrimRight(f.path, separator) + separator + m.Database + "_" + f.logical + ".ndf"
		m.files = append(m.files, f)
		if n := len(utf16.Encode([]rune(f.path))); n > 259 {
			return fmt.Errorf("%q has %d characters, SQL Server takes 259", f.path, n)
		}
		return nil
	}
	data := l.DataVolumes(m.target.Volumes)
	for i := range l.Data.Files {
		if err := add(false, i, l.Data.VolumeOf(i, data).Name); err != nil {
			return err
		}
	}
	for i := range l.Data.Files {
		if l.Indexes == filewise.IndexesApart {
			if err := add(true, i, cmp.Or(l.IndexVolume, data[0].Name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// leastFile is the least size of a file, and usualGrow the growth if the layout sets none, both in bytes.
const leastFile, usualGrow = int64(8 << 20), int64(64 << 20)

// addFiles makes filegroups with files of equal size, large enough for the tables. SQL Server fills files evenly as
// long as their free space is equal.
func (m *sqlserver) addFiles(tables []dialect.Table) {
	sizes := map[string]int64{}
	for _, t := range tables {
		for _, x := range t.Indexes {
			sizes[m.group(x.ID > 1)] += x.Bytes
		}
	}
	grow := cmp.Or(m.wish.Layout.Data.Growth/unit*unit, usualGrow)
	var sql []string
	for i, f := range m.files {
		if i == 0 || f.group != m.files[i-1].group {
			sql = append(sql, batch("ALTER DATABASE CURRENT ADD FILEGROUP "+dialect.Ident(f.group)))
		}
		each := dialect.Each(sizes[f.group], m.wish.Layout.Data.Files, leastFile)
		m.Space[f.volume] += each
		sql = append(sql, batch(fmt.Sprintf("ALTER DATABASE CURRENT ADD FILE (NAME = %s, FILENAME = %s, SIZE = %dKB, FILEGROWTH = "+
			"%dKB) TO FILEGROUP %s", dialect.Literal(f.logical), dialect.Literal(f.path), each>>10, grow>>10, dialect.Ident(f.group))))
	}
	m.Steps = append(m.Steps, filewise.MigrationStep{Title: "add " + filewise.Counted(len(m.files), "file") + " of equal size", SQL: sql,
		Locks: "the database against other changes of its files, and against its backup, for moments; without instant file initialization for " +
			"as long as the files are written",
		Stop: "the files that were added stay, empty: the last step of the other script removes them"})
}

// batch returns a statement that sqlcmd executes by itself, after a GO.
func batch(statement string) string { return "GO\n" + statement }

// removeFiles takes the empty files away again.
func (m *sqlserver) removeFiles() {
	var files, groups []string
	for i, f := range m.files {
		files = append(files, batch("DBCC SHRINKFILE ("+dialect.Literal(f.logical)+", EMPTYFILE) WITH NO_INFOMSGS"),
			batch("ALTER DATABASE CURRENT REMOVE FILE "+dialect.Ident(f.logical)))
		if i == 0 || f.group != m.files[i-1].group {
			groups = append(groups, batch("ALTER DATABASE CURRENT REMOVE FILEGROUP "+dialect.Ident(f.group)))
		}
	}
	m.Back = append(m.Back, filewise.MigrationStep{Title: "remove the files, which are empty again", SQL: append(files, groups...),
		Locks: "nothing that reading or writing waits for long",
		Stop:  "execute the rest later; a file that holds what others have put in since is refused by the server, and stays"})
}

// step returns the step that builds a table's indexes again, each in its new place, the clustered index with the rows
// first.
func (m *sqlserver) step(t dialect.Table, what string, to func(dialect.Index) string) filewise.MigrationStep {
	online := m.about.Settings["engine edition"] == "3" // SERVERPROPERTY, “EngineEdition”
	sql := filewise.Each(t.Indexes, func(x dialect.Index) string { return batch(t.Create(x, to(x), online)) })
	locks := "the table, for as long as each of its indexes is built (ONLINE is of the Enterprise edition): no one else writes it, nor " +
		"reads it while its rows move"
	if online {
		locks = "the table for a moment at each index's beginning and end (ONLINE); it first waits up to 10 s for sessions that use it"
	}
	written := t.Bytes
	if m.full {
		written *= 2
	}
	return filewise.MigrationStep{Title: "table " + t.String() + " " + what, SQL: sql, Read: t.Bytes, Written: written, Locks: locks,
		Stop: "the index under way is as it was (Ctrl-C in sqlcmd undoes it); earlier ones stay where they are, and the table works: execute " +
			"the script again from there, or the other one from this table's step"}
}

// say notes what else the script changes, and what stays as it is.
func (m *sqlserver) say(replicated bool, tables []dialect.Table) {
	log := "the log: builds of indexes are logged in short under this recovery model, unless they are online: see that its volume has space"
	if m.full {
		log = "the log: it holds all that is built once more: back it up between the steps, and see that its volume has the space"
	}
	m.Effects = []string{
		"backups: taken before, they restore the old layout. Restores from now on name the new files as well (WITH MOVE); the next " +
			"differential one holds all that has moved", log,
		"indexes are built by their definitions of when this was written: write it again if one has changed since",
		"copies: one on the same server has files of the same names: go the way back there before the script is executed on the original",
		"checked against the vendor's grammar and protocol, not yet run against the product: neither this script nor the way back",
	}
	if replicated {
		m.Effects = append(m.Effects, "replicas: every one adds the files in the same directories, and stops taking the log where one is "+
			"missing: make the directories there first")
	} else {
		m.Effects = append(m.Effects, "replicas: a log-shipping standby needs the new files' directories as well, or RESTORE LOG WITH MOVE")
	}
	m.Stays = []string{
		"tables that are not named above, views with indexes and the catalogue: name tables with --table",
		"space in the old files, which is free within them: DBCC SHRINKFILE gives it back, and scatters the pages of what is left",
	}
	var large []string
	for _, t := range tables {
		if t.Large {
			large = append(large, t.String())
		}
	}
	if len(large) > 0 {
		m.Stays = append(m.Stays, "values of (max) types, xml and the like outside the rows of "+strings.Join(large, ", ")+
			": only a new table made with TEXTIMAGE_ON, filled and renamed, moves them")
	}
	if m.wish.Layout.LogVolume != "" {
		m.Stays = append(m.Stays, "the log, which the run had on volume "+m.wish.Layout.LogVolume+": ALTER DATABASE … MODIFY FILE (NAME, "+
			"FILENAME), take the database offline, move the file, and online")
	}
}
