package sqlite

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"filewise"
	"filewise/engine/internal/orders"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

// ident quotes an identifier as SQLite does (lang_keywords.html).
func ident(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// workloads holds the SQL files by workload. SQL that every workload uses on files is in shardsSQL.
var (
	workloads = words.Folder(sqlFiles, nil, template.FuncMap{"ident": ident})
	shardsSQL = workloads.Apart("shards")
)

var words = orders.Words{
	Types: map[string]string{"tiny": "INTEGER", "small": "INTEGER", "int": "INTEGER", "amount": "INTEGER", "limit": "INTEGER",
		"big": "INTEGER", "char": "TEXT", "text": "TEXT", "name": "TEXT"},
	At: func(_ map[string]any, table string) (string, error) { return table, nil },
}

// pageText limits how much text one call of the checksum function gets.
const pageText = 1 << 20

// vars returns the values with which a workload's sections are rendered for one table.
func vars(p filewise.Program, table string) map[string]any {
	v := p.Vars()
	v["TableName"], v["TableNumber"] = table, 1+slices.IndexFunc(p.Tables,
		func(t filewise.Table) bool { return t.Name == table })
	v["Reader"] = max(v["TableNumber"].(int)-1, 0)
	v["PageRows"] = min(max(pageText/(p.First().OpBytes+24), 1), 4096)
	return v
}

// connectionVars holds the values with which sections of shards.sql are rendered.
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

// tableName returns the name of a connection's table, or of the shared one.
func tableName(perConnection bool, worker int) string {
	if !perConnection {
		return "fw_rows"
	}
	return fmt.Sprintf("fw_rows_%04d", worker+1)
}
