// Package probes reads what PostgreSQL counts: its statistics views, I/O by file and by kind
// of process, and what is waited for at the moment.
package probes

import (
	_ "embed"

	"filewise/internal/sqlfile"
)

//go:embed probes.sql
var text string

var queries = sqlfile.Must(sqlfile.Parse("probes.sql", text, nil))
