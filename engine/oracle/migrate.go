package oracle

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"filewise"
	"filewise/internal/spread"
)

// Migrate reads a tablespace of the user's, by SELECT alone, and writes the scripts that move
// its tables and their indexes into one of the layout's.
func (e Engine) Migrate(ctx context.Context, t filewise.Target, w filewise.Wish) (filewise.Migration, error) {
	opened, err := e.Open(ctx, t)
	if err != nil {
		return filewise.Migration{}, err
	}
	defer opened.Close()
	s := opened.(*server)
	return migrate(ctx, s.control, s.about, t, w)
}

// migration is the way of a tablespace's tables into a new one.
type migration struct {
	filewise.Migration
	client
	ctx    context.Context
	about  about
	target filewise.Target
	wish   filewise.Wish
	name   string // of the new tablespace
	online bool   // which Standard Edition does not have
	old    []datafile
}

func migrate(ctx context.Context, c client, a about, t filewise.Target, w filewise.Wish) (filewise.Migration, error) {
	m := &migration{client: c, ctx: ctx, about: a, target: t, wish: w, name: fmt.Sprintf("RUN%d_DATA", w.Run),
		online: !strings.Contains(a.product, "Standard Edition")}
	m.Migration = filewise.Migration{Server: "Oracle " + a.version, Database: w.Database, Space: map[string]int64{}}
	err := m.write()
	if err != nil && unreadable(err) {
		remedy := grants(a.account, applied, []view{{Name: "DBA_SEGMENTS"}, {Name: "DBA_TABLES"}})
		err = filewise.Errorf(filewise.CodePreflight, remedy, "reading tablespace %s: %w", w.Database, err)
	}
	return m.Migration, err
}

// asked returns the rows of a section about the tablespace.
func (m *migration) asked(columns int, section string) ([][]any, error) {
	return rowsOf(m.ctx, m.client, applySQL, columns, section, nil, m.Database)
}

func (m *migration) write() error {
	if m.Database == "" {
		return filewise.Errorf(filewise.CodeUsage, "give --database TABLESPACE; filewise inspect lists them", "no tablespace is named")
	}
	if err := m.look(); err != nil {
		return err
	}
	tables, err := m.chosen()
	if err != nil {
		return err
	}
	if err := spread.Refused(tables, func(t movedTable) spread.Table { return t.Table }); err != nil {
		return err
	}
	schema := tables[0].Schema
	for _, t := range tables {
		m.Tables, m.Bytes = append(m.Tables, t.String()), m.Bytes+t.Bytes
		if t.Schema != schema {
			return filewise.Errorf(filewise.CodeUsage, "name the tables of one schema by --table SCHEMA.TABLE, and write a script for each",
				"tables of several schemas lie in tablespace %s: %s and %s; a script names none, so that it can be rehearsed on a copy", m.Database,
				schema, t.Schema)
		}
	}
	if err := m.create(); err != nil {
		return err
	}
	for _, t := range tables {
		there, err := m.move(t, m.name)
		if err != nil {
			return err
		}
		back, err := m.move(t, m.Database)
		if err != nil {
			return err
		}
		m.Steps, m.Back = append(m.Steps, there), append([]filewise.MigrationStep{back}, m.Back...)
	}
	if err := m.open(tables); err != nil {
		return err
	}
	drop, err := ident(m.name)
	m.Back = append(m.Back, filewise.MigrationStep{Title: "the new tablespace, which has to be empty; its files stay, but for those that " +
		"the server has named itself", Locks: "nothing", Stop: "nothing is lost", SQL: []string{"DROP TABLESPACE " + drop}, Later: true})
	m.say()
	return err
}

// look learns what the tablespace is, and refuses what its tables cannot leave.
func (m *migration) look() error {
	found, err := m.asked(4, "migrate-space")
	if err != nil {
		return err
	}
	if len(found) != 1 {
		return filewise.Errorf(filewise.CodeNotFound, "filewise inspect lists them: --database TABLESPACE", "there is no tablespace %s",
			m.Database)
	}
	refuse := func(why string, args ...any) error {
		return absent("name another with --database", "tablespace %s cannot have the layout: "+why, append([]any{m.Database}, args...)...)
	}
	block, _ := number(found[0][0])
	switch {
	case m.Database == "SYSTEM" || m.Database == "SYSAUX" || text(found[0][2]) != "PERMANENT":
		return refuse("it is the server's own")
	case text(found[0][3]) == "YES":
		return refuse("it is encrypted, and a new one would not be")
	case block != m.about.block:
		return refuse("its blocks have %d bytes, and those of a new one %d", block, m.about.block)
	}
	if there, err := rows(m.ctx, m.client, 3, "tablespace", nil, m.name); err != nil {
		return err
	} else if len(there) > 0 {
		return filewise.Errorf(filewise.CodeUsage, "the script was executed already: go its way back first", "there is a tablespace %s", m.name)
	}
	files, err := rows(m.ctx, m.client, 7, "files", nil, m.Database)
	if err != nil {
		return err
	}
	even := len(files) == m.wish.Layout.Data.Files && (text(found[0][1]) == "YES") == (m.wish.Layout.Kind == filewise.KindBigfile)
	for _, r := range files {
		blocks, _ := number(r[2])
		m.old = append(m.old, datafile{path: text(r[0]), bytes: blocks * block})
		even = even && m.old[0].bytes == blocks*block
	}
	if even {
		return filewise.Errorf(filewise.CodeUsage, "name another --layout, or another tablespace", "nothing is to be done: tablespace %s has %s "+
			"of one size already", m.Database, filewise.FilesName(len(files)))
	}
	return nil
}

// movedTable is a table of the user's with what moves with it.
type movedTable struct {
	spread.Table
	indexes []movedIndex
}

type movedIndex struct{ owner, name, tablespace string }

// chosen returns the tables that are to move, with their indexes.
func (m *migration) chosen() ([]movedTable, error) {
	found, err := m.asked(4, "migrate-tables")
	if err != nil {
		return nil, err
	}
	all, place := make([]movedTable, len(found)), map[[2]string]int{}
	for i, r := range found {
		all[i].Table = spread.Table{Schema: text(r[0]), Name: text(r[1])}
		place[[2]string{text(r[0]), text(r[1])}] = i
		all[i].RefuseIf(text(r[2]) != "", "it lies in cluster "+text(r[2]))
		all[i].RefuseIf(text(r[3]) == "YES", "it holds the rows of a nested table")
	}
	each := func(columns int, section string, do func(t *movedTable, r []any)) {
		var rows [][]any
		if err == nil {
			rows, err = m.asked(columns, section)
		}
		for _, r := range rows {
			if i, ok := place[[2]string{text(r[0]), text(r[1])}]; ok {
				do(&all[i], r)
			}
		}
	}
	at := map[[2]string]int{}
	each(7, "migrate-indexes", func(t *movedTable, r []any) {
		x := movedIndex{text(r[2]), text(r[3]), text(r[5])}
		t.RefuseIf(text(r[4]) == "DOMAIN", "index "+x.name+" is a domain index")
		t.RefuseIf(text(r[6]) == "YES", "index "+x.name+" is a join index")
		t.RefuseIf(x.tablespace == "", "index "+x.name+" has partitions")
		t.RefuseIf(x.owner != t.Schema, "index "+x.name+" is of another schema, "+x.owner)
		t.indexes = append(t.indexes, x)
		at[[2]string{x.owner, x.name}] = place[[2]string{t.Schema, t.Name}]
	})
	each(3, "migrate-longs", func(t *movedTable, r []any) {
		t.RefuseIf(true, "column "+text(r[2])+" is LONG, which nothing moves (ORA-00997)")
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
	each(4, "migrate-lobs", func(t *movedTable, r []any) { m.lob(tables, *t, text(r[2]), text(r[3])) })
	return tables, err
}

// sizes returns the bytes of tables and indexes by owner and name; what else lies there, stays.
func (m *migration) sizes(err error) (map[[2]string]int64, error) {
	out, others := map[[2]string]int64{}, map[string]int{}
	if err != nil {
		return out, err
	}
	found, err := m.asked(4, "migrate-segments")
	for _, r := range found {
		switch kind := text(r[2]); kind {
		case "TABLE", "INDEX":
			blocks, _ := number(r[3])
			out[[2]string{text(r[0]), text(r[1])}] += blocks * m.about.block
		case "LOBINDEX": // goes with its LOB
		default:
			others[kind]++
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(others)) {
		m.Stays = append(m.Stays, fmt.Sprintf("what is of kind %s in tablespace %s (%d): each by an ALTER TABLE … MOVE of its own", kind,
			m.Database, others[kind]))
	}
	return out, err
}

// lob describes how a LOB of a table that moves goes after it.
func (m *migration) lob(tables []movedTable, t movedTable, column, where string) {
	if !slices.ContainsFunc(tables, func(o movedTable) bool { return o.String() == t.String() }) {
		return
	}
	way := ""
	if table, err := named(t.Name); err == nil && !strings.ContainsAny(column, `"`) {
		way = fmt.Sprintf(`: ALTER TABLE %s MOVE LOB ("%s") STORE AS (TABLESPACE "%s"), and then its indexes anew`, table, column, m.name)
	}
	m.Stays = append(m.Stays, fmt.Sprintf("LOB %s of table %s, in tablespace %s%s", column, t, where, way))
}

// named quotes the name of an object, without its schema's before it: users' have up to 128 bytes.
func named(name string) (string, error) {
	quoted, err := longer(name)
	if err != nil {
		err = filewise.Errorf(filewise.CodeUsage, "name the tables that are to move, without it: --table SCHEMA.TABLE",
			"cannot be quoted in a script: %w", err)
	}
	return quoted, err
}

// growth is by how much the files of a user's tablespace grow at least: a file that grows by
// little stops those who insert often.
const growth = 64 * mib

// create adds the step that makes the tablespace: files of one size, which hold what is in
// the tables and a quarter more, and grow.
func (m *migration) create() error {
	l := m.wish.Layout
	d := &design{layout: l, block: m.about.block}
	if len(m.old) == 0 || l.Data.Files < 1 || d.bigfile() && l.Data.Files != 1 || l.Data.Files > maxFiles {
		return absent("name another --layout", "layout %q", l.Name)
	}
	volumes := l.DataVolumes(m.target.Volumes)
	size := max(roundUp(m.Bytes*5/4/int64(l.Data.Files)), 8*mib)
	var sql []string
	for i := range l.Data.Files {
		v := l.Data.VolumeOf(i, volumes)
		if v.Dir == "" {
			v.Dir = homeOf(m.old[0].path)
		}
		f, err := d.file(filewise.RoleData, m.name, i, v, size, false)
		if err != nil {
			return err
		}
		most := maxSmallBlocks
		if d.bigfile() {
			most = maxBigBlocks
		}
		f.next, f.max = max(f.next, growth), most*d.block/unit*unit
		values, err := d.createVars(f)
		if err != nil {
			return err
		}
		section := "add-file"
		if i == 0 {
			section = "create"
		}
		s, err := ask(section, values)
		if err != nil {
			return err
		}
		sql, m.Space[v.Name] = append(sql, s.text), m.Space[v.Name]+f.bytes
	}
	sql = append(sql, fmt.Sprintf(`BEGIN EXECUTE IMMEDIATE 'ALTER USER "' || %s || '" QUOTA UNLIMITED ON "%s"'; END;`+"\n/", currentSchema,
		m.name))
	m.Steps = []filewise.MigrationStep{{Title: "tablespace " + m.name + " of " + filewise.FilesName(l.Data.Files), Locks: "nothing",
		Written: size * int64(l.Data.Files), SQL: sql, Stop: "the tablespace has too few files, or the quota is missing: DROP TABLESPACE " +
			m.name + ", which is empty, and begin anew. It is there already after a rehearsal in this database: take that back first, and drop it"}}
	return nil
}

// move returns the step that moves a table, and its indexes that lay next to it, to a tablespace.
func (m *migration) move(t movedTable, to string) (filewise.MigrationStep, error) {
	online, locks := "", "all of the table for writers, who wait, and its indexes for all until each is built again"
	if m.online {
		online, locks = " ONLINE", "nothing for long: at its beginning and end it waits for open transactions on the table"
	}
	table, err := named(t.Name)
	if err != nil {
		return filewise.MigrationStep{}, err
	}
	target, err := named(to)
	if err != nil {
		return filewise.MigrationStep{}, err
	}
	sql := []string{"ALTER TABLE " + table + " MOVE" + online + " TABLESPACE " + target}
	for _, x := range t.indexes {
		index, err := named(x.name)
		if err != nil {
			return filewise.MigrationStep{}, err
		}
		switch {
		case x.tablespace == m.Database:
			sql = append(sql, "ALTER INDEX "+index+" REBUILD"+online+" TABLESPACE "+target)
		case !m.online:
			sql = append(sql, "ALTER INDEX "+index+" REBUILD")
		}
	}
	return filewise.MigrationStep{Title: "table " + t.String() + " to tablespace " + to, Locks: locks, Read: t.Bytes, Written: 2 * t.Bytes,
		SQL: sql, Stop: "each statement is done whole or not at all; what one had written is freed by the server. After a MOVE without ONLINE " +
			"the table's indexes are UNUSABLE until they are rebuilt: execute the rest of the step. Earlier steps stay done"}, nil
}

// currentSchema is the schema that the command names.
const currentSchema = "SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')"

// open has the client stop at the first error, and the server refuse a schema that has not the tables with their
// indexes. The command names the schema, and no statement does: a copy of it may have any name.
func (m *migration) open(tables []movedTable) error {
	m.Opening = "WHENEVER OSERROR EXIT FAILURE\nWHENEVER SQLERROR EXIT FAILURE\nALTER SESSION SET CURRENT_SCHEMA = \"&1\";\nSET DEFINE OFF\n" +
		"-- A schema without these tables and indexes is refused here (ORA-01722)."
	for _, t := range tables {
		guard, err := guard(t)
		if err != nil {
			return err
		}
		m.Opening += "\n" + guard + ";"
	}
	m.Opening += "\nALTER SESSION SET DDL_LOCK_TIMEOUT = 30;"
	to := ""
	if a := m.target.Address; a != nil {
		to = fmt.Sprintf("%s@//%s:%d/%s", a.User, a.Host, portOf(a), strings.Trim(a.Path, "/"))
	}
	m.Client, m.Behind = []string{"sqlplus", "-L", to, "@"}, []string{tables[0].Schema}
	return nil
}

// guard returns the query that fails unless the table is there with its indexes.
func guard(t movedTable) (string, error) {
	names := []string{t.Name}
	for _, x := range t.indexes {
		names = append(names, x.name)
	}
	for i, name := range names {
		var err error
		if names[i], err = literal(name); err != nil {
			return "", err
		}
	}
	found := fmt.Sprintf("SELECT 0 FROM all_tables WHERE owner = %s AND table_name = %s", currentSchema, names[0])
	for _, name := range names[1:] {
		found += fmt.Sprintf("\n  UNION ALL SELECT 0 FROM all_indexes WHERE table_owner = %[1]s AND table_name = %[2]s AND owner = %[1]s "+
			"AND index_name = %[3]s", currentSchema, names[0], name)
	}
	return fmt.Sprintf("SELECT TO_NUMBER(DECODE(COUNT(*), %d, '1', 'not as it was')) FROM (%s)", len(names), found), nil
}

// say notes what else changes, and what does not.
func (m *migration) say() {
	m.Effects = []string{
		"copies: rehearse it on a copy of the schema (expdp, impdp REMAP_SCHEMA), in this or another database: the command then names that; " +
			"the way back has all of its tables in tablespace " + m.Database,
		"this script: it was checked against Oracle's grammar, and has not yet been executed by the product",
		"backups: RMAN's next incremental one copies all that has moved; a script that names tablespaces or files has to learn the new ones",
		"replicas: a standby of Data Guard creates the files as well, with STANDBY_FILE_MANAGEMENT = AUTO; with MANUAL its recovery stops at " +
			"the first: set it before",
		"the log: each block that moves is written to the redo log, and archived with it, once for its table and once for its indexes",
		"rows get new ROWIDs: what has stored old ones finds other rows, or none",
		"licences: ONLINE is not in Standard Edition, where MOVE locks the table: this script says " +
			map[bool]string{true: "ONLINE", false: "no ONLINE"}[m.online],
		"the way back: a guaranteed restore point keeps the new tablespace from being dropped (ORA-38881)",
	}
	m.Stays = append(m.Stays, "tables that are not named above: name them with --table",
		"new tables: ALTER USER … DEFAULT TABLESPACE "+m.name+" has them there",
		"the files of tablespace "+m.Database+", which do not shrink: ALTER DATABASE DATAFILE … RESIZE, as far as their ends are free")
	if m.wish.Layout.Indexes == filewise.IndexesApart {
		m.Stays = append(m.Stays, "indexes, which the run had in a tablespace of their own: ALTER INDEX … REBUILD TABLESPACE moves each there")
	}
}
