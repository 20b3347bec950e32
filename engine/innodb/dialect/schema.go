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

// Schema describes a program's tables in a database.
type Schema struct {
	Database string // unquoted
	Program  filewise.Program
	Tables   []Table
	// Cut makes procedures keep large variables out of their statements. It is for servers whose binary log can contain
	// statements (binlog_format MIXED, STATEMENT).
	Cut bool
	// Signed makes tables and procedures carry a hash of their definition. It is for servers on which others can add
	// objects to the database.
	Signed bool
	// Spots are clauses that place the tables that are created and dropped; they take turns. If empty, the server places
	// the tables.
	Spots []string
}

// Table is a table of the workload, with the procedure that fills it.
type Table struct {
	Name, Procedure string
	Options         string // what follows ENGINE: partitions, directory
	Key             string // the column whose hash decides the partition
	Number          int    // from 1, in the order of the workload's tables
}

// NewSchema names a program's tables in a layout. They are the shared one, one for each file of kind per-table, or one
// for each connection. If there is no SQL for the workload, the error wraps filewise.ErrUnsupported.
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

// TableOf returns a worker's table. If there are fewer tables than workers, workers share them in turn.
func (s Schema) TableOf(worker int) Table { return s.Tables[worker%len(s.Tables)] }

// Statements renders a section of the workload for one table. Sections for all tables range over .Tables themselves.
func (s Schema) Statements(section string, t Table) ([]string, error) {
	file := sections[s.Program.SQL()]
	if file == nil || !file.Has(section) {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "workload %q, section %q: %w", s.Program.Workload, section,
			filewise.ErrUnsupported)
	}
	vars := map[string]any{
		"Database": s.Database, "Db": Ident(s.Database) + ".", "Tables": s.Tables, "TableName": t.Name, "Procedure": t.Procedure, "Cut": s.Cut,
		"PayloadType": payloadType(s.Program.First().OpBytes), "Pool": "", "Number": t.Number, "Connections": s.Program.Connections(),
		"Reader": max(t.Number-1, 0),
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

// Statement renders a section that consists of one statement.
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

// payloadType returns the type of a column of n bytes: VARCHAR up to a record's limit, else a text type.
func payloadType(n int64) string {
	if n <= 16000 {
		return fmt.Sprintf("VARCHAR(%d)", n)
	}
	return "MEDIUMTEXT"
}

// Create returns the statements that create tables and procedures in the database.
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

// afterLoad returns the statements that create a table's indexes after the load.
func (s Schema) afterLoad(t Table) ([]string, error) {
	if s.Program.Table().IndexedFirst {
		return nil, nil
	}
	return s.ifAny(SectionIndexes, t)
}

// procedures returns the statements that create the procedures which loop on the server, for each table or for each
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
