package filewise

import "fmt"

// CustomSQL is the SQL of a workload that brings its own, so that engines take it in
// place of their sections. Within it :NAME is a parameter.
type CustomSQL struct {
	// Tables lists the tables that the layout spreads. The set-up creates them, and places them by {{spread "NAME"}}.
	Tables []CustomTable `json:"tables,omitempty"`
	// Setup is executed once in each build. Its texts are templates, of which the engine states what they may hold.
	Setup []CustomText `json:"setup,omitempty"`
	// From is a dump of a database, which fills each build in the place of the set-up. Empty means there is none.
	From string `json:"from,omitempty"`
	// Sections are keyed by the names of Phase.Sections and the names that Querier.Query gets. A section of several
	// statements is a transaction.
	Sections map[string]CustomSection `json:"sections"`
	// ShardBy is the parameter whose value, modulo their number, is the file of an operation, where files are
	// databases of their own. Empty means a connection has files of its own.
	ShardBy string `json:"shard_by,omitempty"`
}

// Restored reports whether a dump fills the program's builds.
func (p Program) Restored() bool { return p.Custom != nil && p.Custom.From != "" }

// CustomTable is a table of CustomSQL.
type CustomTable struct {
	Name string `json:"name"`
	Key  string `json:"key"` // the column by whose hash partitions divide it
}

// CustomSection are statements that belong together.
type CustomSection struct {
	Params []string     `json:"params,omitempty"` // the names of what Args gives, in order
	Drawn  []string     `json:"drawn,omitempty"`  // the Args drawn by chance
	Texts  []CustomText `json:"texts"`
}

// CustomText is one statement, or a script of several.
type CustomText struct {
	Text  string `json:"text"`
	File  string `json:"file"`
	Line  int    `json:"line"`            // on which the text begins
	Whole bool   `json:"whole,omitempty"` // one statement, semicolons included
}

// Place names the text's place, so many lines further down.
func (t CustomText) Place(lines int) string { return fmt.Sprintf("%s:%d", t.File, t.Line+lines) }
