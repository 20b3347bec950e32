package filewise

// Aside begins the comment on a schema that holds the old copy of a table.
const Aside = "filewise apply"

// Wish describes the layout that a user's database is to get. It places files on the target's volumes, as the server
// names them. An empty Dir is the database's default directory.
type Wish struct {
	Layout   Layout
	Database string   // empty means the address's database
	Tables   []string // tables to spread, as the user names them. Empty means the large ones
	Run      int64    // number of the run, part of the names of what the script creates
}

// Migration holds the way to a layout, and the way back.
type Migration struct {
	Database string `json:"database"`
	// Server is the product and version, as in Inspection.Server.
	Server string   `json:"server"`
	Tables []string `json:"tables"` // tables that are spread
	Bytes  int64    `json:"bytes"`  // size of the tables, indexes included
	// Client is the command that executes a script. If Input is set, it reads the script from standard input. Otherwise
	// the script's name is appended to its last argument.
	Client []string `json:"client"`
	Input  bool     `json:"input,omitempty"`
	// Behind holds the script's own arguments, after its name.
	Behind []string `json:"behind,omitempty"`
	// Opening comes before the steps. It makes the client stop at the first error, and the server refuse another database.
	Opening string          `json:"opening"`
	Steps   []MigrationStep `json:"steps"`
	Back    []MigrationStep `json:"back"`
	// Space holds the bytes that the steps need on each volume, by volume name.
	Space map[string]int64 `json:"space"`
	// Effects describes the consequences for backups, replicas and the log. Stays lists what does not move by itself, each
	// with the way to move it.
	Effects []string `json:"effects"`
	Stays   []string `json:"stays,omitempty"`
}

// MigrationStep is a step of a migration.
type MigrationStep struct {
	Title string `json:"title"`
	Locks string `json:"locks"` // what the step locks, as a sentence without its end
	// Read and Written are the bytes of data that the step reads and writes. Its time is estimated from them.
	Read    int64    `json:"read_bytes"`
	Written int64    `json:"written_bytes"`
	Stop    string   `json:"stop"` // what remains if the step is stopped half-way
	SQL     []string `json:"sql"`  // without semicolons at the ends; for psql, one may end in \gexec
	// Later is set if the step is written as a comment, for the user to execute once all is well.
	Later bool `json:"later,omitempty"`
}
