package apply

import (
	"cmp"
	"fmt"
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
