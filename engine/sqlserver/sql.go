package sqlserver

import (
	"embed"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"text/template"

	"filewise"
	"filewise/engine/internal/orders"
	"filewise/engine/sqlserver/dialect"
	"filewise/internal/sqlfile"
)

//go:embed sql/*.sql sql/part/*.sql
var sqlFiles embed.FS

// The SQL files: queries to the server, questions for backups of a user's database, definitions of tables, and one file
// for each workload.
var (
	templateFuncs  = template.FuncMap{"ident": dialect.Ident, "literal": dialect.Literal}
	sections       = words.Folder(sqlFiles, completed(), templateFuncs)
	server, ownSQL = sections.Apart("server"), sections.Apart("own")
	tablesSQL      = ownSections(dialect.TablesSQL)
)

var words = orders.Words{
	Types: map[string]string{"tiny": "int", "small": "int", "int": "int", "amount": "bigint", "limit": "bigint", "big": "bigint",
		"null": " NULL", "char": "char(%) COLLATE Latin1_General_BIN2", "text": "varchar(%) COLLATE Latin1_General_BIN2",
		"name": "varchar(%) COLLATE Latin1_General_BIN2"},
	At:    func(_ map[string]any, table string) (string, error) { return "dbo." + table, nil },
	Count: "COUNT_BIG", Big: "CAST(% AS bigint)", Sum: "SUM(CAST(0 AS bigint) + %)", Length: "DATALENGTH(%)",
}

// completed inserts parts into a text. "-- guard" becomes a statement that lets a batch continue only with a database
// that is Filewise's. "-- others" becomes a table of what Filewise has not made in a database. The database is this
// one, with "there" the one named .Name, with "model" model. What is older than the database came from model. "--
// definition" becomes the sum of all definitions in this database.
func completed() func(text string) string {
	tables, keys, procedures, columns := namesMade()
	whose := func(in, id string) string {
		definition := strings.TrimRight(part("definition"), "\n")
		return strings.NewReplacer("{{.Definition}}", strings.ReplaceAll(definition, "{{.In}}", in),
			"{{.In}}", in, "{{.ID}}", id, "{{.Tables}}", tables, "{{.Keys}}", keys,
			"{{.Procedures}}", procedures, "{{.Columns}}", columns).Replace(part("others"))
	}
	return strings.NewReplacer("-- guard\n", part("guard"), "-- definition\n", strings.ReplaceAll(part("definition"), "{{.In}}", ""),
		"-- others there\n", whose("{{ident .Name}}.", "DB_ID({{literal .Name}})"),
		"-- others model\n", whose("model.", "-1"), "-- others\n", whose("", "DB_ID()")).Replace
}

func part(name string) string {
	text, err := sqlFiles.ReadFile("sql/part/" + name + ".sql")
	if err != nil {
		panic(err) // the text is embedded, so an error is a bug
	}
	return string(text)
}

// vars returns the values that a design's sections are rendered with.
func (d *design) vars() map[string]any {
	vars := map[string]any{
		"Name": d.name, "Mark": d.marker, "Unmarked": false,
		"DataFiles": d.data[:d.first], "MoreDataFiles": d.data[d.first:],
		"IndexFiles": d.index[:min(d.first, len(d.index))], "MoreIndexFiles": d.index[min(d.first, len(d.index)):],
		"LogFiles": d.log, "IndexGroup": indexGroup, "DataGroup": d.group(), "Restored": d.program.Restored(), "Indexes": d.layout.Indexes,
		"Durability": string(d.target.Durability), "MixedPages": d.settings.mixedPages, "AutogrowAll": d.settings.growsAll(d.program),
		"Tables": d.tables, "PayloadType": payloadType(d.program.First().OpBytes),
		"Loaded": d.loaded(), "IndexPlace": d.indexPlace(),
		"Connections": 1, // of a phase that loops on the server
		"Reader":      0,
		"Custom":      d.custom(),
		"Temporary":   d.program.Table().Temporary, // its pages are in tempdb, database 2
	}
	maps.Copy(vars, d.program.Vars())
	return vars
}

// indexPlace returns the filegroup of indexes that lie apart from their table.
func (d *design) indexPlace() string {
	if d.layout.Indexes == filewise.IndexesApart {
		return indexGroup
	}
	return "PRIMARY"
}

// ofWorker returns vars with the values for one worker's sections.
func (d *design) ofWorker(worker int) map[string]any { return d.ofTable(d.tableOf(worker), worker) }

// ofTable returns vars with the values for sections of one table or worker.
func (d *design) ofTable(t table, worker int) map[string]any {
	vars := d.vars()
	vars["TableName"], vars["Procedure"], vars["Worker"], vars["Reader"] = t.Name, t.Procedure, worker, worker
	return vars
}

// batches renders a section of the server's file or the workload's.
func (d *design) batches(section string, vars map[string]any) ([]string, error) {
	return d.file(section).Statements(section, vars)
}

func (d *design) batch(section string, vars map[string]any) (string, error) {
	return d.file(section).Statement(section, vars)
}

// file returns the server's SQL file or the workload's, whichever has the section.
func (d *design) file(section string) *sqlfile.File {
	if server.Has(section) {
		return server
	}
	return sections[d.program.SQL()]
}

// ofDatabase matches the main statement of a batch that first checks its database.
var ofDatabase = regexp.MustCompile(`(?m)^\s*(CREATE|ALTER|DROP|RESTORE|BACKUP) DATABASE `)

// short returns the first significant line of a statement, for messages.
func short(statement string) string {
	if at := ofDatabase.FindStringIndex(statement); at != nil { // skips the guard before it
		statement = statement[at[0]:]
	}
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
