package client

import "database/sql"

// Care is an opened server as the care of a user's own database uses it.
type Care struct {
	Server  string // product and version
	DB      *sql.DB
	Pool    func(database string, n int) *sql.DB
	Explain func(error) error
	// Grant returns the statement that gives the account rights. Ours is the pattern of Filewise's databases in it.
	Grant func(rights []string, on string) string
	Ours  string
	// Global has the rights on all databases, and OnOurs reports a right on Filewise's.
	Global map[string]bool
	OnOurs func(right string) bool
	// Instrumented is set if performance_schema counts statements.
	Instrumented bool
}
