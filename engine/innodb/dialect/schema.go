package dialect

import (
	"fmt"
	"maps"
	"strings"

	"filewise"
)

const (
	rowsTable = "fw_rows"
	procedure = "fw_inserts"
)

// Schema is a program's tables in a database.
type Schema struct {
	Database string // unquoted
	Program  filewise.Program
	Tables   []Table
	// Cut has procedures keep large variables out of their statements, for servers
	// whose binary log can hold statements (binlog_format MIXED, STATEMENT).
	Cut bool
	// Signed has tables and procedures carry their definition's sum, on servers where others may
	// put something next to them.
	Signed bool
	// Spots are the clauses that place tables which come and go, each taken in turn.
	// If empty, they lie where the server puts tables.
	Spots []string
}

// Table is a table of the workload, with the procedure that fills it.
type Table struct {
	Name, Procedure string
	Options         string // what stands behind ENGINE: partitions, directory
	Key             string // the column by whose hash partitions divide it
	Number          int    // from 1, in the order of the workload's tables
}

// NewSchema names a program's tables in a layout: the shared one, one for each
// file of kind per-table, or one for each connection. A workload that there is no
// SQL for is an error that wraps filewise.ErrUnsupported.
func NewSchema(database string, l filewise.Layout, p filewise.Program) (Schema, error) {
	if sections[p.SQL()] == nil && p.Custom == nil {
		return Schema{}, unsupported("see filewise scenarios", "workload %q on InnoDB", p.Workload)
	}
	if p.Connections() < 1 || p.First().CommitEvery < 1 || p.First().OpBytes < 0 {
		return Schema{}, filewise.Errorf(filewise.CodeUsage, "both are at least 1", "%d connections and %d rows in a transaction",
			p.Connections(), p.First().CommitEvery)
	}
	if err := checkPhases(l, p); err != nil {
		return Schema{}, err
	}
	tables := tablesOf(l, p)
	if p.Custom != nil {
		var err error
		if tables, err = customTables(l, p); err != nil {
			return Schema{}, err
		}
	}
	for i := range tables {
		tables[i].Number = i + 1
		if tables[i].Key == "" {
			tables[i].Key = "id"
		}
	}
	return Schema{Database: database, Program: p, Tables: tables}, nil
}

func tablesOf(l filewise.Layout, p filewise.Program) []Table {
	n := 1
	switch {
	case p.Loads():
		return loadedTables(p)
	case !p.Appends() && !p.Table().Temporary:
		return []Table{{Name: rowsTable, Key: p.Table().PartitionColumn()}}
	case p.Table().PerConnection:
		n = p.Connections()
	case l.Kind == filewise.KindPerTable:
		n = l.Data.Files
	}
	if n <= 1 {
		return []Table{{Name: rowsTable, Procedure: procedure}}
	}
	tables := make([]Table, n)
	for i := range tables {
		tables[i] = Table{Name: fmt.Sprintf("%s_%04d", rowsTable, i), Procedure: fmt.Sprintf("%s_%04d", procedure, i)}
	}
	return tables
}

// TableOf returns the table of a worker: if there are fewer than workers, they take
// turns.
func (s Schema) TableOf(worker int) Table { return s.Tables[worker%len(s.Tables)] }

// Statements renders a section of the workload for one table; sections for all
// tables range over .Tables themselves.
func (s Schema) Statements(section string, t Table) ([]string, error) {
	file := sections[s.Program.SQL()]
	if file == nil || !file.Has(section) {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "workload %q, section %q: %w", s.Program.Workload, section,
			filewise.ErrUnsupported)
	}
	vars := map[string]any{
		"Database": s.Database, "Db": Ident(s.Database) + ".", "Tables": s.Tables, "TableName": t.Name, "Procedure": t.Procedure, "Cut": s.Cut,
		"PayloadType": payloadType(s.Program.First().OpBytes), "Pool": "", "Number": t.Number, "Connections": s.Program.Connections(),
	}
	if bytes := s.Program.Table().RowBytes; s.Program.Table().Temporary {
		rows := s.Program.Table().Rows
		vars["PayloadType"], vars["Last"] = payloadType(bytes), rows-1
	}
	maps.Copy(vars, s.Program.Vars())
	if s.Program.First().Args != nil {
		vars["Pool"] = s.Program.First().Args.Pool()
	}
	all, err := file.Statements(section, vars)
	if err != nil {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "%w", err)
	}
	return s.signed(all), nil
}

// Statement renders a section that is one statement.
func (s Schema) Statement(section string, t Table) (string, error) {
	all, err := s.Statements(section, t)
	if err != nil {
		return "", err
	}
	if len(all) != 1 {
		return "", filewise.Errorf(filewise.CodeInternal, "", "section %q has %d statements, expected 1", section, len(all))
	}
	return all[0], nil
}

// payloadType holds n bytes: VARCHAR within a record's limit, else a text.
func payloadType(n int64) string {
	if n <= 16000 {
		return fmt.Sprintf("VARCHAR(%d)", n)
	}
	return "MEDIUMTEXT"
}

// Create returns what creates the tables and procedures in the database.
func (s Schema) Create() ([]string, error) {
	if s.Program.Custom != nil {
		return s.customSetup()
	}
	all, err := s.Statements(SectionTables, Table{})
	if err != nil {
		return nil, err
	}
	if s.Program.Table().IndexedFirst {
		for _, t := range s.Tables {
			indexes, err := s.ifAny(SectionIndexes, t)
			if err != nil {
				return nil, err
			}
			all = append(all, indexes...)
		}
	}
	procedures, err := s.procedures()
	return append(all, procedures...), err
}

// afterLoad returns the statements that make a table's indexes once it is loaded.
func (s Schema) afterLoad(t Table) ([]string, error) {
	if s.Program.Table().IndexedFirst {
		return nil, nil
	}
	return s.ifAny(SectionIndexes, t)
}

// procedures returns the procedures that loop on the server: of each table, or of each
// operation.
func (s Schema) procedures() ([]string, error) {
	var all []string
	for _, section := range sections[s.Program.SQL()].Sections() {
		tables := s.Tables
		switch {
		case section == SectionInsert: // one for each
		case strings.HasPrefix(section, SectionProcedure):
			tables = tables[:1] // one for all tables
		default:
			continue
		}
		for _, t := range tables {
			p, err := s.Statement(section, t)
			if err != nil {
				return nil, err
			}
			all = append(all, p)
		}
	}
	return all, nil
}
