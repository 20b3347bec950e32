package mariadb

import (
	"embed"
	"fmt"
	"text/template"

	"filewise"
	"filewise/engine/internal/innodb"
	"filewise/engine/internal/sqlfile"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

var sections = workloads{"inserts": parse("inserts")}

// workloads are the SQL files by workload.
type workloads map[string]*sqlfile.File

func (w workloads) has(workload string) bool { return w[workload] != nil }

func parse(workload string) *sqlfile.File {
	name := "sql/" + workload + ".sql"
	text, err := sqlFiles.ReadFile(name)
	if err != nil {
		panic(err) // embedded: the programmer's
	}
	return sqlfile.Must(sqlfile.Parse(name, string(text), template.FuncMap{"own": own, "literal": innodb.Literal}))
}

// own quotes a name within Filewise's database.
func own(name string) string { return innodb.Ident(database) + "." + innodb.Ident(name) }

// The names of sections that the engine itself executes.
const (
	sectionTables     = "tables"
	sectionInsert     = "insert"
	sectionConnection = "connection"
	sectionCall       = "call"
	sectionCommitted  = "committed"
)

// statements renders a section of the workload for one table; sections for all
// tables range over .Tables themselves.
func (d *design) statements(section string, t table) ([]string, error) {
	vars := map[string]any{
		"Tables": d.tables, "TableName": t.Name, "Procedure": t.Procedure,
		"PayloadType": payloadType(d.program.OpBytes), "Pool": "",
	}
	for name, value := range d.program.Vars {
		vars[name] = value
	}
	if d.program.Args != nil {
		vars["Pool"] = d.program.Args.Pool()
	}
	return sections[d.program.Workload].Statements(section, vars)
}

// statement renders a section that is one statement.
func (d *design) statement(section string, t table) (string, error) {
	all, err := d.statements(section, t)
	if err == nil && len(all) != 1 {
		err = fmt.Errorf("section %q has %d statements, want 1", section, len(all))
	}
	if err != nil {
		return "", err
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

// create is what creates the database, its tables and procedures on a new server.
func (d *design) create() ([]string, error) {
	all := []string{"CREATE DATABASE " + innodb.Ident(database)}
	tables, err := d.statements(sectionTables, table{})
	if err != nil {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "%w", err)
	}
	all = append(all, tables...)
	for _, t := range d.tables {
		p, err := d.statement(sectionInsert, t)
		if err != nil {
			return nil, filewise.Errorf(filewise.CodeInternal, "", "%w", err)
		}
		all = append(all, p)
	}
	return all, nil
}
