package workload

import (
	"math"
	"slices"
	"time"

	"filewise"
)

// Design is an article's own experiment: its numbers of files, its sizes at scale 1, and how often each layout ran, one
// layout after the other.
type Design struct {
	Files       []int                 `json:"files"`
	Further     []int                 `json:"further,omitempty"`     // more numbers of files, only at the original's size
	Allocations []filewise.Allocation `json:"allocations,omitempty"` // combined with every number of files. None means the usual one
	Connections int                   `json:"connections,omitempty"` // 0 means the scenario's
	Connect     string                `json:"connect,omitempty"`
	DataFiles   int                   `json:"data_files,omitempty"` // number of data files, if Files are backup files
	Bytes       int64                 `json:"bytes,omitempty"`      // size of the database. 0 means the scenario's, at any scale
	Work        int64                 `json:"work_bytes,omitempty"` // payload of a run. 0 means the workload's own
	Rows        int64                 `json:"rows,omitempty"`
	LeastRows   int64                 `json:"least_rows,omitempty"` // minimum at any scale
	Selects     int64                 `json:"selects,omitempty"`    // of one process. 0 means every row
	Concurrent  int64                 `json:"concurrent,omitempty"` // rows of the concurrent part, at any scale. 0 means Rows
	Allocated   int64                 `json:"allocated,omitempty"`  // bytes of preallocated files, if the engine allows so few. 0 means Bytes
	// On changes the design for an engine on which the article's differed.
	On map[string]func(*Design) `json:"-"`
	// Warehouses is for orders. It is never fewer than files; at a smaller scale customers and items are reduced instead.
	Warehouses int           `json:"warehouses,omitempty"`
	Users      []int         `json:"users,omitempty"`     // load levels, at any scale
	Window     time.Duration `json:"window_ns,omitempty"` // per level, after an unmeasured half as long
	Runs       Runs          `json:"runs"`
	Cold       Runs          `json:"cold,omitzero"` // runs if caches are not warm. Zero means Runs
	// IndexedFirst is for scan: indexes exist before the tables are loaded.
	IndexedFirst bool     `json:"indexed_first,omitempty"`
	Scale        float64  `json:"scale"`   // default scale: minutes on a small machine
	Words        string   `json:"words"`   // the design in one sentence
	Differs      []string `json:"differs"` // what differs from the publication
}

// Runs holds how often a layout runs, and how many of the fastest, and of the slowest, runs are left out of the
// average.
type Runs struct {
	Repeats int `json:"repeats"`
	Drop    int `json:"drop,omitempty"`
}

// RunsOf returns the runs for the cache state of the parameters.
func (d Design) RunsOf(p Params) Runs {
	if d.Cold.Repeats > 0 && p.Cache != CacheWarm {
		return d.Cold
	}
	return d.Runs
}

// Scaled returns a size of the design at a scale, but at least least. It returns 0 if size is 0.
func Scaled(size int64, scale float64, least int64) int64 {
	if size == 0 {
		return 0
	}
	return max(int64(math.Round(float64(size)*scale)), least)
}

// WorkIn returns the payload of a run in a database of that many bytes. It fills the same share of the database as in
// the article, at any scale.
func (d Design) WorkIn(bytes int64) int64 {
	if d.Bytes == 0 {
		return d.Work
	}
	return int64(math.Round(float64(d.Work) * (float64(bytes) / float64(d.Bytes))))
}

// Data returns how many bytes the design works on at scale 1.
func (d Design) Data() float64 {
	switch {
	case d.Warehouses > 0:
		return float64(d.Warehouses) * 160e6 // about 160 GB with 1,000 of them
	case d.Work > 0:
		return float64(d.Work)
	case d.Connect != "":
		return float64(d.Rows) * dmlStoredBytes
	}
	return float64(d.Rows) * fragTables * fragRowBytes
}

func insertsDesign() *Design {
	return &Design{
		Files: []int{1, 2, 4, 8, 16}, Connections: 16, Bytes: 160 << 30, Work: 100 << 30,
		Runs: Runs{Repeats: 5}, Scale: 2.5e-5,
		Words: "160 GB as 1, 2, 4, 8 and 16 files at full size; 16 connections insert 100 GB in all; " +
			"each layout is run 5 times, one layout after the other, and the times are averaged.",
		Differs: []string{
			"The article publishes neither table nor key, nor how many rows were committed at once.",
			"It was SQL Server with its files in the PRIMARY filegroup, filled side by side. How another engine fills its files, its warnings say.",
			"Its log of 8 GB lay on a separate array, at full size; here it lies with the data unless --log-volume is given, in the " +
				"engine's usual size.",
			"It was measured on one array of 8 disks, and round-robin over two of 4: here the files lie on the volumes that are named.",
			"A run fills 62 % of the files at every scale, as the original did.",
			"Between runs it set the database up again, as is done here; that takes no measured time, there and here.",
		},
	}
}

func ordersDesign() *Design {
	return &Design{
		Files: []int{1, 4, 16, 64}, Warehouses: 1000, Users: []int{50, 100, 200, 400, 600}, Window: 4 * time.Second,
		Runs: Runs{Repeats: 1}, Scale: 6.4e-4,
		Words: "1,000 warehouses, about 160 GB, in 1 to 64 files on one drive, with up to 600 users; the curves are of one sweep for each " +
			"layout. " +
			"The article has it without and with a table created and dropped by every transaction (--churn).",
		Differs: []string{
			"It was SQL Server with 4 cores, and the transactions were stored procedures; its files are filled side by side.",
			"TPC-C's schema and data there, a workload derived from them here; whether its users paused between transactions is not published: " +
				"here they do not.",
			"The article's own load levels and most of its numbers of files are in charts: these are ours.",
			"The log of 20 GB is the engine's usual one here, and how long each level was measured is not published.",
			"With --churn the article's table is created within the transaction, named by a new GUID. Here it is created, filled and dropped " +
				"before it, by statements that commit by themselves, since DDL commits on MySQL, MariaDB and Oracle and would break the " +
				"rollbacks. Its name has a new number each time; on Oracle each connection has one name.",
			"Below a scale of 0.064 there are 64 warehouses, as many as files, and fewer customers and items instead: up to 600 users then wait " +
				"for each other's rows of warehouses and districts, as they did not on 1,000.",
		},
		On: map[string]func(*Design){"sqlserver": func(d *Design) {
			d.Differs = append(slices.Clone(d.Differs), "Until 2016 small tables shared their extents (mixed pages), which was a part of that "+
				"contention with --churn: from 2016 on a database has them with --set mixed-page-allocation=on only.")
		}},
	}
}

func dmlDesign() *Design {
	return &Design{
		Files: []int{1, 8}, Allocations: []filewise.Allocation{filewise.Growing, filewise.Preallocated},
		Connections: 32, Connect: ConnectPerStatement, Rows: 50_000, LeastRows: 64,
		On:   map[string]func(*Design){"sqlserver": dmlOnSQLServer, "oracle": dmlOnOracle},
		Runs: Runs{Repeats: 1}, Scale: 0.04,
		Words: "One file and one per core (8 in its script's example), growing and preallocated; " +
			"one process inserts, selects, updates and deletes 50,000 rows, then 32 at a time statements of a connection each; " +
			"each layout is run once.",
		Differs: []string{
			"The concurrent part was 2,000 statements whatever the rest, each by a separate client process, looked at once a second: here it " +
				"has as many statements as the other part has rows, without the client's start.",
			"About 1,000 files were run on Oracle only: so they are here, growing, at scale 1, if DB_FILES allows them.",
			"Growing files began at 81 KB and preallocated ones had 71 MB (Oracle; SQL Server's own design is run on SQL Server " +
				"alone). Here files " +
				"begin as small as the engine " +
				"makes them, or have their whole size, with steps of 1 MiB where the engine takes a step (on Oracle, as there, of a block, of which " +
				"an extent takes as many as it needs); " +
				"the log is the engine's usual one. " +
				"By how much files and log grew is counted.",
			"The article's times have a resolution of 1 s in the concurrent part.",
			"Oracle's select of one process was parsed there and never executed: so it is here on Oracle, and a figure of parsing alone; on other " +
				"engines the row is fetched. Its plain COMMIT in a loop on the server waits for no log there, and so it is here.",
		},
	}
}

// dmlOnOracle changes the design for Oracle: there the article has one more layout. With fewer rows, at a smaller
// scale, nearly all of its files would stay empty.
func dmlOnOracle(d *Design) {
	d.Further, d.Concurrent = []int{1000}, 2_000
	d.Differs[0] = "The concurrent statements came from a client process each, looked at once a second: here from a connection each, " +
		"without the client's start."
	d.Differs = append(d.Differs,
		"The article's clients were on the server's host and signed in without a listener (bequeath); here each signs in by the "+
			"listener, which is waited for while it hands out no connection (ORA-12516, 12518, 12519, 12520).",
		"There an update changed both columns, the second one a FLOAT, and DBMS_RANDOM drew the values of each row: here it changes one, "+
			"the other is a BINARY_DOUBLE, and values follow from the key.",
		"The article's one file was a bigfile of 6265 KB: here it has 1,024 blocks (8 MiB of 8 KiB) at least.")
}

// dmlOnSQLServer changes the design for SQL Server, the other half of the article.
func dmlOnSQLServer(d *Design) {
	d.Rows, d.Selects, d.Concurrent, d.Allocated = 350_000, 10_000, 2_000, 12<<20
	d.Words = "One file and one per core (8 in its script's example), " +
		"growing from 8 MB and each further file from 1 MB by steps of 1 MB, " +
		"with a log that grows from " +
		"1 MB by 1 MB; and preallocated, 12 MB with a log of 438 MB. One process inserts 350,000 rows, selects 10,000 of " +
		"them, updates and deletes " +
		"all; then 2,000 statements of each kind, 32 at a time, have a connection each. Each layout is run once."
	d.Differs = []string{
		"The concurrent statements came from a client process each, in two batches of 1,000, looked at once a second: here " +
			"from a connection each, " +
			"without the client's start, timed to the end.",
		"Preallocated ones of several files have 8 MiB each, not 12 MB in all: a first file is as large as model's, and only " +
			"equal ones are filled " +
			"side by side.",
		"The preallocated log of 438 MB is scaled with the rows, to 1 MiB at least.",
		"The client's statements name columns and cast parameters, which the article does not show.",
		"There a select put its row into a temporary table (#TMP), which tempdb's files take; here it goes to variables, or to the client.",
		"There an update changed both columns; here it changes one.",
	}
}

func scanDesign() *Design {
	return &Design{
		// This many rows are twelve times InnoDB's smallest buffer pool, as published.
		Files: []int{1, 40}, Connections: 1, Rows: publishedRows, LeastRows: 53_000, IndexedFirst: true,
		Runs: Runs{Repeats: 55, Drop: 4}, Cold: Runs{Repeats: 20}, Scale: 0.051,
		Words: "1 and 40 files; warm, every query 55 times without a restart, the 4 fastest and the 4 slowest left out of the average; " +
			"cold (--cache buffer-cold), 20 times with a restart before each.",
		Differs: []string{
			"Here a run executes every query once, so that the queries take turns; warm ones are executed once before.",
			"Cold ones (--cache buffer-cold) are each executed after a restart of the server, as published, or after the build was offline on a " +
				"server that is given by URL; the operating system's cache stays warm, there and here.",
			"It was InnoDB 5.1.22 with one shared tablespace, whose files are filled one after the other; another engine divides tables " +
				"otherwise, as its warnings say.",
			"The four tables are loaded in turns of 1,000 rows, by as many connections as there are cores; there by one, in turns whose length is " +
				"not published. The rows are ours: random text with the article's average length, 32,768 different values in val1 … val5.",
			"Keys in the queries are scaled by the number of rows. A buffer pool that cannot be a twelfth of the data is warned of.",
		},
	}
}

func backupDesign() *Design {
	return &Design{
		Files: []int{1, 2, 4, 8}, DataFiles: 4, Rows: 290_000_000, LeastRows: fragBatchRows,
		Runs: Runs{Repeats: 1}, Scale: 1e-4,
		Words: "A database of 4 data files is backed up into 1, 2, 4 and 8 files, each once.",
		Differs: []string{
			"The size of the article's database is not among the facts that Filewise keeps: scale 1 is some 400 GB here.",
			"Backups were compressed there; here they are where the engine offers that at all, as SQL Server does, else as usual.",
			"Its server had 96 cores and SQL Server 2019; each data file lay on a separate drive, and backups on others: here data and backups " +
				"lie on the volumes that are named.",
			"The article's third condition, NUL, is a separate run with --discard.",
			"It measured no restores. Here every backup is restored and verified, after it is timed.",
		},
	}
}

// On returns the scenario with its article's design for an engine.
func (s Scenario) On(engine string) Scenario {
	if s.Design != nil && s.Design.On[engine] != nil {
		d := *s.Design
		d.On[engine](&d)
		s.Design = &d
	}
	return s
}

// AsPublished returns the scenario with the article's design at a scale as its defaults. The scenario must have a
// Design.
func (s Scenario) AsPublished(scale float64) Scenario {
	d := *s.Design
	s.Files = d.Files
	if scale >= 1 {
		s.Files = slices.Concat(d.Files, d.Further)
	}
	if d.Connections > 0 {
		s.Params.Connections = d.Connections
	}
	if d.Connect != "" {
		s.Params.Connect = d.Connect
	}
	if s.Params.Cache != "" {
		s.Params.Cache = CacheWarm
	}
	if s.Params.Repeat > 0 {
		s.Params.Repeat, s.Params.Batch = 1, 1
	}
	if d.Bytes > 0 {
		s.Bytes = Scaled(d.Bytes, scale, leastBytes)
	}
	if d.Rows > 0 {
		s.Params.Rows = Scaled(d.Rows, scale, d.LeastRows)
		s.Params.Selects, s.Params.Concurrent = Scaled(d.Selects, scale, d.LeastRows), d.Concurrent
	}
	s.Params.IndexedFirst, s.Params.Published = d.IndexedFirst, s.Timed
	if d.Warehouses > 0 {
		of := float64(d.Warehouses) * scale
		s.Params.Warehouses = max(int(math.Round(of)), slices.Max(d.Files))
		s.Params.Scale = min(1, of/float64(s.Params.Warehouses))
		s.Params.Users, s.Window = d.Users, d.Window
	}
	if s.Filling > 0 { // the number of rows is fixed: make the files large enough
		s.Bytes = max(int64(float64(s.Params.Rows*fragTables*fragRowBytes)/s.Filling), leastBytes)
		s.Filling = 0
	}
	return s
}

// leastBytes is the smallest size of a database that every engine can spread over the files of every design.
const leastBytes = 18 << 20
