// Package probes reads PostgreSQL's statistics: its views, I/O by file and by kind of process, and what processes wait
// for at the moment.
package probes

import (
	_ "embed"

	"filewise/internal/sqlfile"
)

//go:embed probes.sql
var text string

var queries = sqlfile.Must(sqlfile.Parse("probes.sql", text, nil))
