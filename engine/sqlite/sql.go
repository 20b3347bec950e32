package sqlite

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

var funcs = template.FuncMap{"ident": ident}

// ident quotes an identifier as SQLite does (lang_keywords.html).
func ident(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

var shardsSQL = sqlfile.Must(load("shards"))

// workloads are the workloads that this engine has SQL for.
var workloads = map[string]*sqlfile.File{
	"inserts": sqlfile.Must(load("inserts")),
	"dml":     sqlfile.Must(load("dml")),
	"scan":    sqlfile.Must(load("scan")),
	"orders":  sqlfile.Must(load("orders")),
	"backup":  sqlfile.Must(load("scan")), // the same tables
}

func load(name string) (*sqlfile.File, error) {
	path := "sql/" + name + ".sql"
	text, err := sqlFiles.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return sqlfile.Parse(path, string(text), funcs)
}

// pageText is how much text one call of the checksum function is handed.
const pageText = 1 << 20

// vars are what a workload's sections are rendered with, for one table.
func vars(p filewise.Program, table string) map[string]any {
	v := maps.Clone(p.Vars)
	if v == nil {
		v = map[string]any{}
	}
	v["TableName"], v["TableNumber"] = table, tableNumber(table)
	v["PageRows"] = min(max(pageText/(p.OpBytes+24), 1), 4096)
	return v
}

// sections of shards.sql are rendered with this.
type connectionVars struct {
	PageBytes      int
	BusyMillis     int
	Synchronous    string
	AutoCheckpoint int
	Settings       []string
}

func (s *shape) connectionVars() connectionVars {
	return connectionVars{pageBytes, busyMillis, s.synchronous, s.autoCheckpoint, s.settings}
}

// tableName is the table of a connection; shared is the one of all.
func tableName(perConnection bool, worker int) string {
	if !perConnection {
		return "fw_rows"
	}
	return fmt.Sprintf("fw_rows_%04d", worker+1)
}
