package dialect

import (
	"embed"
	"fmt"
	"slices"
	"text/template"

	"filewise/engine/internal/orders"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

// sections are the SQL files by workload.
var sections = words.Folder(sqlFiles, nil, template.FuncMap{"in": in, "literal": Literal, "pieces": pieces})

// words are those of workload orders.
var words = orders.Words{
	Types: map[string]string{"tiny": "TINYINT", "small": "SMALLINT", "int": "INT", "amount": "INT", "limit": "BIGINT", "big": "BIGINT",
		"char": "CHAR(%)", "text": "VARCHAR(%)", "name": "VARCHAR(%)"},
	At: func(vars map[string]any, table string) (string, error) {
		return fmt.Sprint(vars["Db"], "fw_", table), nil
	},
}

// The names of sections that the engines themselves execute.
const (
	SectionTables     = "tables"
	SectionInsert     = "procedure-insert" // the procedure of a table
	SectionConnection = "connection"       // readies a new connection
	SectionCommitted  = "committed-"       // whether the row of a key is there
	SectionCheck      = "check"
	SectionIndexes    = "indexes"    // of a table, after the load
	SectionProcedure  = "procedure-" // begins the name of one for an operation
	SectionStatement  = "statement-" // begins the name of one that the client sends
	SectionChurn      = "churn"      // a table that comes and goes
)

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

// in quotes a name within a database.
func in(database, name string) string { return Ident(database) + "." + Ident(name) }
