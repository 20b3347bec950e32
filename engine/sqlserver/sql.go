package sqlserver

import (
	"embed"
	"fmt"
	"maps"
	"strings"
	"text/template"

	"filewise"
	"filewise/engine/internal/sqlfile"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

// sections are the SQL files of workloads; server is everything else.
var (
	sections = readSections()
	server   = parse("server")
)

func readSections() workloads {
	all := workloads{}
	for _, name := range []string{workloadInserts, workloadDML, workloadScan, workloadOrders} {
		all[name] = parse(name)
	}
	all[workloadBackup] = all[workloadScan] // the same tables
	return all
}

// workloads are the SQL files by workload.
type workloads map[string]*sqlfile.File

func (w workloads) has(workload string) bool { return w[workload] != nil }

// parse reads an embedded file. Where it says "-- guard", the statement stands
// that lets a batch go on only with a database that is Filewise's; "-- strangers"
// is the table of what Filewise has not made in a database: this one, or with
// "there" that of .Name. What is older than the database came from model.
func parse(name string) *sqlfile.File {
	guard, err := sqlFiles.ReadFile("sql/guard.sql")
	if err != nil {
		panic(err) // embedded: the programmer's
	}
	text, err := sqlFiles.ReadFile("sql/" + name + ".sql")
	if err != nil {
		panic(err)
	}
	strangers, err := sqlFiles.ReadFile("sql/strangers.sql")
	if err != nil {
		panic(err)
	}
	tables, keys, procedures, columns := ownNames()
	whose := func(in, id string) string {
		return strings.NewReplacer("{{.In}}", in, "{{.ID}}", id, "{{.Tables}}", tables, "{{.Keys}}", keys,
			"{{.Procedures}}", procedures, "{{.Columns}}", columns).Replace(string(strangers))
	}
	whole := strings.NewReplacer("-- guard\n", string(guard), "-- strangers there\n", whose("{{ident .Name}}.", "DB_ID({{literal .Name}})"), "-- strangers\n", whose("", "DB_ID()")).Replace(string(text))
	return sqlfile.Must(sqlfile.Parse("sql/"+name+".sql", whole, template.FuncMap{"ident": ident, "literal": literal}))
}

// ident quotes a name as QUOTENAME does: within brackets, a closing one doubled.
func ident(name string) string { return "[" + strings.ReplaceAll(name, "]", "]]") + "]" }

// literal quotes a text. A backslash before a line's end would continue the line
// ("Backslash (Line Continuation)"), so the text is divided there.
func literal(text string) string {
	text = strings.ReplaceAll(text, "'", "''")
	text = strings.ReplaceAll(text, "\\\r\n", "\\' + N'\r\n")
	text = strings.ReplaceAll(text, "\\\n", "\\' + N'\n")
	return "N'" + text + "'"
}

// vars are what the sections of a design render from.
func (d *design) vars() map[string]any {
	vars := map[string]any{
		"Name": d.name, "Mark": d.mark, "Unmarked": false,
		"DataFiles": d.data[:d.first], "MoreDataFiles": d.data[d.first:],
		"IndexFiles": d.index[:min(d.first, len(d.index))], "MoreIndexFiles": d.index[min(d.first, len(d.index)):],
		"LogFiles": d.log, "IndexGroup": indexGroup, "Indexes": d.layout.Indexes,
		"Durability": string(d.target.Durability), "MixedPages": d.settings.mixedPages, "AutogrowAll": d.settings.autogrowAll,
		"Tables": d.tables, "PayloadType": payloadType(d.program.OpBytes),
		"Loaded": d.loaded(), "IndexPlace": d.indexPlace(),
		"Connections": 1, // of a phase that loops on the server
	}
	maps.Copy(vars, d.program.Vars)
	return vars
}

// indexPlace is the filegroup of indexes that lie apart from their table.
func (d *design) indexPlace() string {
	if d.layout.Indexes == filewise.IndexesApart {
		return indexGroup
	}
	return "PRIMARY"
}

// ofWorker adds what sections for one worker need.
func (d *design) ofWorker(worker int) map[string]any { return d.ofTable(d.tableOf(worker), worker) }

// ofTable adds what sections for one table or worker need.
func (d *design) ofTable(t table, worker int) map[string]any {
	vars := d.vars()
	vars["TableName"], vars["Procedure"], vars["Worker"] = t.Name, t.Procedure, worker
	return vars
}

// batches renders a section of the server's file or of the workload's.
func (d *design) batches(section string, vars map[string]any) ([]string, error) {
	f := server
	if !f.Has(section) {
		f = sections[d.program.Workload]
	}
	all, err := f.Statements(section, vars)
	if err != nil {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "%w", err)
	}
	return all, nil
}

func (d *design) batch(section string, vars map[string]any) (string, error) {
	all, err := d.batches(section, vars)
	if err == nil && len(all) != 1 {
		err = filewise.Errorf(filewise.CodeInternal, "", "section %q has %d statements, want 1", section, len(all))
	}
	if err != nil {
		return "", err
	}
	return all[0], nil
}

// fixed renders a section of the server's file that depends on names only.
func fixed(section string, vars map[string]any) (string, error) {
	text, err := server.Statement(section, vars)
	if err != nil {
		return "", filewise.Errorf(filewise.CodeInternal, "", "%w", err)
	}
	return text, nil
}

// tablesSQL creates the tables, and that by which a batch is known to be loaded.
func (d *design) tablesSQL() ([]string, error) {
	all, err := d.batches("tables", d.vars())
	if err != nil || len(d.loaded()) == 0 {
		return all, err
	}
	more, err := d.batches("loaded-batches", d.vars())
	return append(all, more...), err
}

// proceduresSQL creates, one batch each, what works on the tables.
func (d *design) proceduresSQL() ([]string, error) {
	var all []string
	for _, section := range d.procedureSections() {
		text, err := d.batch(section, d.vars())
		if err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	for _, t := range d.tables {
		text, err := d.batch("procedure", d.ofTable(t, 0))
		if err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, nil
}

// short is a statement's first telling line, for messages.
func short(statement string) string {
	for line := range strings.SplitSeq(statement, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "--") || strings.HasPrefix(line, "SET NOCOUNT") {
			continue
		}
		if len(line) > 100 {
			line = fmt.Sprintf("%.100s …", line)
		}
		return line
	}
	return statement
}
