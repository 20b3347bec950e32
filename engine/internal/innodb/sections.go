package innodb

import (
	"embed"
	"maps"
	"path"
	"slices"
	"strings"
	"text/template"

	"filewise/engine/internal/sqlfile"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

// sections are the SQL files by workload.
var sections = parse()

// The names of sections that the engines themselves execute.
const (
	SectionTables     = "tables"
	SectionInsert     = "insert"     // the procedure of a table
	SectionConnection = "connection" // readies a new connection
	SectionCall       = "call"       // of the procedure: worker, first, amount
	SectionCommitted  = "committed"  // whether the row of a key is there
	SectionCheck      = "check"
	SectionIndexes    = "indexes"    // of a table, after the load
	SectionProcedure  = "procedure-" // begins the name of one for an operation
	SectionStatement  = "statement-" // begins the name of one that the client sends
	SectionChurn      = "churn"      // a table that comes and goes
)

func parse() map[string]*sqlfile.File {
	names, err := sqlFiles.ReadDir("sql")
	if err != nil {
		panic(err) // embedded: the programmer's
	}
	all := map[string]*sqlfile.File{}
	for _, n := range names {
		name := path.Join("sql", n.Name())
		text, err := sqlFiles.ReadFile(name)
		if err != nil {
			panic(err)
		}
		workload := strings.TrimSuffix(n.Name(), ".sql")
		all[workload] = sqlfile.Must(sqlfile.Parse(name, string(text), template.FuncMap{"own": own, "literal": Literal, "pieces": pieces}))
	}
	all["backup"], all["dump"] = all["scan"], all["scan"] // the same tables
	return all
}

// pieceBytes is the most of a long text that one statement carries.
const pieceBytes = 16_000

// pieces divides a long text of one-byte letters.
func pieces(text string) []string {
	var all []string
	for chunk := range slices.Chunk([]byte(text), pieceBytes) {
		all = append(all, string(chunk))
	}
	return all
}

// own quotes a name within a database.
func own(database, name string) string { return Ident(database) + "." + Ident(name) }

// Knows says whether there is SQL for a workload.
func Knows(workload string) bool { return sections[workload] != nil }

// Workloads are those that there is SQL for.
func Workloads() []string { return slices.Sorted(maps.Keys(sections)) }
