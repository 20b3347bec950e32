package filewise

import "context"

// Migrator is an engine that writes scripts which take a user's database to a layout.
type Migrator interface {
	// Migrate reads the target's database, in sessions that cannot write if the engine has such, and writes the
	// scripts; nothing of them is executed. What the layout cannot hold is an error that names it, as the server
	// does.
	Migrate(context.Context, Target, Wish) (Migration, error)
	// Release returns what of a version two servers must have in common for a result of the one to say something of
	// the other: "PostgreSQL 16.3 on x86_64" → "16".
	Release(version string) string
	// TableRoles are the roles of the files that hold a trial's tables with their indexes, as Migration.Bytes counts them.
	TableRoles() []Role
}

// Wish is the layout that a user's database is to have. The target's volumes are where
// it places files, as its server names them; an empty Dir is the database's own place.
type Wish struct {
	Layout   Layout
	Database string   // empty: the one that the address names
	Tables   []string // that are to be spread, as the user names them. Empty means the large ones
	Run      int64    // makes the names of what the script creates
}

// Migration is a way to a layout, and the way back.
type Migration struct {
	Database string `json:"database"`
	// Server is product and version, as Inspection.Server has it.
	Server string   `json:"server"`
	Tables []string `json:"tables"` // that are spread
	Bytes  int64    `json:"bytes"`  // of them, indexes included
	// Client is the command that executes a script, which it reads from its standard input if Input is set; else the
	// file's name is put behind its end.
	Client []string `json:"client"`
	Input  bool     `json:"input,omitempty"`
	// Behind are arguments of the script itself, behind its name.
	Behind []string `json:"behind,omitempty"`
	// Opening stands before the steps: what has the client stop at the first error, and
	// the server refuse another database.
	Opening string          `json:"opening"`
	Steps   []MigrationStep `json:"steps"`
	Back    []MigrationStep `json:"back"`
	// Space is the room that the steps need on each volume, in bytes, by volume name.
	Space map[string]int64 `json:"space"`
	// Effects describe its consequences for backups, replicas and the log. Stays lists what does not move by itself,
	// each with the way that moves it.
	Effects []string `json:"effects"`
	Stays   []string `json:"stays,omitempty"`
}

// MigrationStep is one step. If Stop is set, it has effect whole or not at all.
type MigrationStep struct {
	Title string `json:"title"`
	Locks string `json:"locks"` // what it locks, in a sentence without its end
	// Read and Written are the bytes of data that it reads and writes, by which its time
	// is estimated.
	Read    int64    `json:"read_bytes"`
	Written int64    `json:"written_bytes"`
	Stop    string   `json:"stop"` // what is left when it is stopped half-way
	SQL     []string `json:"sql"`  // without the semicolons at their ends; of psql, one may end in \gexec
	// Later: it is written as a comment, for the user to execute when all is well.
	Later bool `json:"later,omitempty"`
}
