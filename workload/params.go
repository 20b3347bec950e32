// Package workload holds what is done to a database, neutral of any engine:
// parameters, seeded generators, checks, and the published experiments that the
// scenarios repeat.
package workload

// Params are the parameters of the workloads. A workload reads what it needs.
type Params struct {
	Connections int    `json:"connections"`
	RowBytes    int    `json:"row_bytes"`    // payload of a row, in bytes
	CommitEvery int    `json:"commit_every"` // rows per transaction
	Table       string `json:"table"`        // TableShared or TablePerConnection
	Key         string `json:"key"`          // KeySequential or KeyRandom

	Rows    int64  `json:"rows,omitempty"`    // dml: of each phase; scan: of each table
	Mode    string `json:"mode,omitempty"`    // dml: ModeSingle, ModeConcurrent or ModeBoth
	Connect string `json:"connect,omitempty"` // dml: ConnectPooled or ConnectPerStatement
	Index   string `json:"index,omitempty"`   // dml: IndexNone or IndexKey
	Cache   string `json:"cache,omitempty"`   // scan: CacheWarm, or a filewise.Cache
	Data    string `json:"data,omitempty"`    // scan: DataOrdered or DataGrown
	Repeat  int    `json:"repeat,omitempty"`  // scan: executions of a query in a trial
}

// The values of Params.Mode, Connect, Index, Cache and Data.
const (
	ModeSingle          = "single"
	ModeConcurrent      = "concurrent"
	ModeBoth            = "both"
	ConnectPooled       = "pooled"
	ConnectPerStatement = "per-statement"
	IndexNone           = "none"
	IndexKey            = "key"
	CacheWarm           = "warm"
	DataOrdered         = "ordered"
	DataGrown           = "grown"
)

// The values of Params.Table and Params.Key.
const (
	TableShared        = "shared"
	TablePerConnection = "per-connection"
	KeySequential      = "sequential"
	KeyRandom          = "random"
)
