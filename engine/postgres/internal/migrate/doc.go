// Package migrate writes the script that spreads tables of a user's database over
// partitions and tablespaces, and the script back. A table that is not partitioned cannot
// become so in place: it is moved aside, made again, and filled, all in one transaction.
package migrate

import (
	_ "embed"
	"text/template"

	"filewise/engine/postgres/dialect"
	"filewise/internal/sqlfile"
)

//go:embed migrate.sql
var text string

var queries = sqlfile.Must(sqlfile.Parse("migrate.sql", text, template.FuncMap{"literal": dialect.Literal}))
