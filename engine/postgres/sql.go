package postgres

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"text/template"

	"filewise"
	"filewise/engine/internal/sqlfile"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

// sections are the SQL files by workload: a further workload is a further file.
var sections = readSections()

func readSections() map[string]*sqlfile.File {
	names, err := fs.Glob(sqlFiles, "sql/*.sql")
	if err != nil {
		panic(err) // embedded: the programmer's
	}
	all := map[string]*sqlfile.File{}
	for _, name := range names {
		text, err := sqlFiles.ReadFile(name)
		if err != nil {
			panic(err)
		}
		funcs := template.FuncMap{"ident": ident, "literal": literal}
		all[strings.TrimSuffix(path.Base(name), ".sql")] = sqlfile.Must(sqlfile.Parse(name, string(text), funcs))
	}
	for _, same := range []string{"backup", "dump"} {
		all[same] = all["scan"] // the same tables
	}
	return all
}

// The names of sections that the engine itself executes.
const (
	sectionTables     = "tables"
	sectionProcedure  = "procedure"
	sectionConnection = "connection"
	sectionCall       = "call"
	sectionCommitted  = "committed"
	sectionLast       = "last"     // the largest key, before files are added for new data
	sectionNewData    = "new-data" // files are added for new data
	sectionRebuilt    = "rebuilt"  // files are added, and all data spread over them
	sectionIndexes    = "indexes"  // once the tables are loaded
	sectionCheck      = "check"
	sectionChurn      = "churn"   // after a prefix: of a table that comes and goes
	sectionChurned    = "churned" // after many of them
)

// What begins the names of the sections of phases.
const (
	prefixProcedure = "procedure-"
	prefixCall      = "call-"
	prefixStatement = "statement-"
	prefixCommitted = "committed-"
)

// statements renders a section of the workload. Sections of one table get it as
// Table; those for all tables range over .Tables.
func (d *design) statements(section string, t table) ([]string, error) {
	vars := map[string]any{
		"Tables": d.tables, "T": t, "Pool": "", "ServerCRC": d.version >= versionCRC, "Flushes": d.version >= versionFlush,
		"Wide": d.wide(), "From": int64(0), "AddedLater": d.layout.AddedLater,
	}
	vars["Connections"] = 1 // of a phase that loops on the server
	for name, value := range d.program.Vars {
		vars[name] = value
	}
	if d.program.Args != nil {
		vars["Pool"] = d.program.Args.Pool()
	}
	if d.orders() {
		vars["Named"], vars["Homes"] = d.named(), d.homes()
	}
	if d.newFrom > 0 {
		vars["From"] = d.newFrom
	}
	all, err := sections[d.program.Workload].Statements(section, vars)
	if err != nil {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "%w", err)
	}
	return all, nil
}

// statement renders a section that is one statement.
func (d *design) statement(section string, t table) (string, error) {
	all, err := d.statements(section, t)
	if err == nil && len(all) != 1 {
		err = filewise.Errorf(filewise.CodeInternal, "", "section %q has %d statements, want 1", section, len(all))
	}
	if err != nil {
		return "", err
	}
	return all[0], nil
}

// create is what creates tables and procedures in a new database.
func (d *design) create() ([]string, error) {
	if d.own() {
		return d.ownSetup()
	}
	all, err := d.statements(sectionTables, table{})
	if err != nil {
		return nil, err
	}
	if len(d.program.Phases) > 0 {
		return d.createForPhases(all)
	}
	for _, t := range d.tables {
		p, err := d.statement(sectionProcedure, t)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// extend is what adds the further files of a layout to the loaded database.
func (d *design) extend() ([]string, error) {
	switch d.layout.AddedLater {
	case filewise.LaterNewData:
		return d.statements(sectionNewData, table{})
	case filewise.LaterRebuilt:
		return d.statements(sectionRebuilt, table{})
	}
	return nil, nil
}

// shortenPool cuts the long text that payloads are cut from.
func shortenPool(statement string) string {
	const begin, keep = "SET filewise.pool = '", 40
	at := strings.Index(statement, begin)
	to := strings.LastIndex(statement, "'")
	if at < 0 || to-at < len(begin)+2*keep {
		return statement
	}
	return fmt.Sprintf("%s…%s", statement[:at+len(begin)+keep], statement[to:])
}
