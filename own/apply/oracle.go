package apply

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"filewise"
	"filewise/engine/oracle/dialect"
	"filewise/internal/spread"
)

// oracle writes the scripts that move a tablespace's tables, with their indexes, into a new tablespace with the
// layout's files.
type oracle struct {
	*writer
	name   string   // of the new tablespace
	block  int64    // bytes
	online bool     // rebuilds online; Standard Edition cannot
	old    []string // paths of its files
}

func writeOracle(of *writer) error {
	m := &oracle{writer: of, name: fmt.Sprintf("RUN%d_DATA", of.wish.Run),
		online: !strings.Contains(of.about.Settings["product"], "Standard Edition")}
	m.block, _ = strconv.ParseInt(m.about.Settings["block"], 10, 64)
	m.Database = m.wish.Database
	err := m.write()
	if err != nil && m.in.Remedy(err) != "" {
		views := append(ofSys.FindAllString(strings.ToUpper(oracleSQL), -1), "SYS.DBA_DATA_FILES")
		slices.Sort(views)
		remedy := strings.Join(filewise.Each(slices.Compact(views), func(v string) string {
			return "GRANT SELECT ON " + v + " TO " + m.about.Account
		}), "; ")
		err = filewise.Errorf(filewise.CodePreflight, remedy, "reading tablespace %s: %w", m.Database, err)
	}
	return err
}

var ofSys = regexp.MustCompile(`\bSYS\.\w+`)

// asked executes a section about the tablespace, and returns its rows.
func (m *oracle) asked(section string) ([]filewise.Row, error) { return m.rows(section, m.Database) }

func (m *oracle) write() error {
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
	drop, err := dialect.Ident(m.name)
	m.Back = append(m.Back, filewise.MigrationStep{Title: "the new tablespace, which has to be empty; its files stay, but for those that " +
		"the server has named itself", Locks: "nothing", Stop: "nothing is lost", SQL: []string{"DROP TABLESPACE " + drop}, Later: true})
	m.say()
	return err
}

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

// named quotes the name of an object without its schema. It refuses more than 128 bytes, the most that a user's object
// can have.
func named(name string) (string, error) {
	quoted, err := dialect.Name(name)
	if err != nil {
		err = filewise.Errorf(filewise.CodeUsage, "name the tables that are to move, without it: --table SCHEMA.TABLE",
			"cannot be quoted in a script: %w", err)
	}
	return quoted, err
}

// unit, header, leastData and growth are sizes in bytes. unit divides the sizes of files, and is the smallest extent of
// AUTOALLOCATE. header is the part of a file before its data. leastData is the least size of a file. A file grows by
// growth at least, since one that grows by little stops clients that insert often.
const unit, header, leastData, growth = int64(64 << 10), int64(1 << 20), int64(8 << 20), int64(64 << 20)

func roundUp(n int64) int64 { return (n + unit - 1) / unit * unit }

// create adds the step that makes the tablespace: files of one size, which hold what is in
// the tables and a quarter more, and grow.
func (m *oracle) create() error {
	l, files := m.wish.Layout, int64(m.wish.Layout.Data.Files)
	// Oracle Database Reference, “Physical Database Limits”; a bigfile's header and space maps are larger.
	kind, least, mostBlocks, mostFiles := "SMALLFILE", leastData, int64(1)<<22-1, int64(1022)
	if l.Kind == filewise.KindBigfile {
		kind, least, mostBlocks, mostFiles = "BIGFILE", roundUp(1024*m.block), 1<<32-1, 1
	}
	if len(m.old) == 0 || files < 1 || files > mostFiles {
		return filewise.Unsupported("name another --layout", "layout %q", l.Name)
	}
	most := mostBlocks * m.block / unit * unit
	size := max(roundUp(m.Bytes*5/4/files), leastData, least)
	if size > most {
		return filewise.Unsupported("name a layout of more files with --layout", "a datafile of %d bytes: it has at most %d", size, most)
	}
	volumes, bytes := l.DataVolumes(m.target.Volumes), min(size+header, most)
	name, err := dialect.Ident(m.name)
	if err != nil {
		return err
	}
	var sql []string
	for i := range l.Data.Files {
		v := l.Data.VolumeOf(i, volumes)
		if v.Dir == "" {
			v.Dir = dialect.HomeOf(m.old[0])
		}
		p, err := dialect.PlaceOf(v)
		if err != nil {
			return err
		}
		file, err := p.Clause(p.File(fmt.Sprintf("%s_%04d.dbf", strings.ToLower(m.name), i+1)), bytes,
			max(roundUp(l.Data.Growth), growth), most)
		if err != nil {
			return err
		}
		statement := "ALTER TABLESPACE " + name + " ADD DATAFILE " + file
		if i == 0 {
			statement = "CREATE " + kind + " TABLESPACE " + name + " DATAFILE " + file +
				"\n  EXTENT MANAGEMENT LOCAL AUTOALLOCATE SEGMENT SPACE MANAGEMENT AUTO"
		}
		sql, m.Space[v.Name] = append(sql, statement), m.Space[v.Name]+bytes
	}
	sql = append(sql, fmt.Sprintf(`BEGIN EXECUTE IMMEDIATE 'ALTER USER "' || %s || '" QUOTA UNLIMITED ON "%s"'; END;`+"\n/", currentSchema,
		m.name))
	m.Steps = []filewise.MigrationStep{{Title: "tablespace " + m.name + " of " + filewise.FilesName(l.Data.Files), Locks: "nothing",
		Written: size * files, SQL: sql, Stop: "the tablespace has too few files, or the quota is missing: DROP TABLESPACE " +
			m.name + ", which is empty, and begin again. It is there already after a rehearsal in this database: take that back first, and drop it"}}
	return nil
}

// move returns the step that moves a table, and its indexes that lay next to it, to a tablespace.
func (m *oracle) move(t movedTable, to string) (filewise.MigrationStep, error) {
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

// currentSchema is the SQL expression for the schema that the sqlplus command names.
const currentSchema = "SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')"

// open writes the script's opening: sqlplus stops at the first error, and the server refuses a schema without these
// tables and indexes. The command names the schema and no statement does, so that a copy of the schema can have any
// name.
func (m *oracle) open(tables []movedTable) error {
	m.Opening = "WHENEVER OSERROR EXIT FAILURE\nWHENEVER SQLERROR EXIT FAILURE\nALTER SESSION SET CURRENT_SCHEMA = \"&1\";\nSET DEFINE OFF\n" +
		"-- A schema without these tables and indexes is refused here (ORA-01722)."
	for _, t := range tables {
		guard, err := oracleGuard(t)
		if err != nil {
			return err
		}
		m.Opening += "\n" + guard + ";"
	}
	m.Opening += "\nALTER SESSION SET DDL_LOCK_TIMEOUT = 30;"
	to := ""
	if a := m.target.Address; a != nil {
		to = fmt.Sprintf("%s@//%s:%d/%s", a.User, a.Host, cmp.Or(a.Port, 1521), strings.Trim(a.Path, "/"))
	}
	m.Client, m.Behind = []string{"sqlplus", "-L", to, "@"}, []string{tables[0].Schema}
	return nil
}

// oracleGuard returns the query that fails unless the table is there with its indexes.
func oracleGuard(t movedTable) (string, error) {
	names := []string{t.Name}
	for _, x := range t.indexes {
		names = append(names, x.name)
	}
	for i, name := range names {
		var err error
		if names[i], err = dialect.Literal(name); err != nil {
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

// say notes what else the script changes, and what stays as it is.
func (m *oracle) say() {
	m.Effects = []string{
		"copies: rehearse it on a copy of the schema (expdp, impdp REMAP_SCHEMA), in this or another database: the command then names that; " +
			"the way back has all of its tables in tablespace " + m.Database,
		"this script: it was checked against Oracle's grammar, and has not yet been executed by the product",
		"backups: RMAN's next incremental one copies all that has moved; a script that names tablespaces or files has to learn the new ones",
		"replicas: a standby of Data Guard creates the files as well, with STANDBY_FILE_MANAGEMENT = AUTO; with MANUAL its recovery stops at " +
			"the first: set it before",
		"the log: each block that moves is written to the redo log, and archived with it, once for its table and once for its indexes",
		"rows get new ROWIDs: what has stored old ones finds other rows, or none",
		"licences: ONLINE is not in Standard Edition, where MOVE locks the table: this script has " +
			map[bool]string{true: "ONLINE", false: "no ONLINE"}[m.online],
		"the way back: a guaranteed restore point keeps the new tablespace from being dropped (ORA-38881)",
	}
	m.Stays = append(m.Stays, "tables that are not named above: name them with --table",
		"new tables: ALTER USER … DEFAULT TABLESPACE "+m.name+" has them there",
		"the files of tablespace "+m.Database+", which do not shrink: ALTER DATABASE DATAFILE … RESIZE, as far as their ends are free")
	if m.wish.Layout.Indexes == filewise.IndexesApart {
		m.Stays = append(m.Stays, "indexes, which the run had in a separate tablespace: ALTER INDEX … REBUILD TABLESPACE moves each there")
	}
}
