// Package inspection looks at an existing PostgreSQL server, read-only.
package inspection

import (
	_ "embed"

	"filewise/engine/internal/sqlfile"
)

//go:embed inspection.sql
var text string

var queries = sqlfile.Must(sqlfile.Parse("inspection.sql", text, nil))
