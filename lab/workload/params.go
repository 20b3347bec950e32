// Package workload defines the work on a database, independent of the engine: parameters, seeded generators, checks,
// and the published experiments that the scenarios repeat.
package workload

import (
	"fmt"
	"sync"

	"filewise"
)

// Params holds the parameters of all workloads. Each workload reads the ones it needs.
type Params struct {
	Connections int    `json:"connections"`
	RowBytes    int    `json:"row_bytes"`    // payload of a row, in bytes
	CommitEvery int    `json:"commit_every"` // rows per transaction
	Table       string `json:"table"`        // TableShared or TablePerConnection
	Key         string `json:"key"`          // KeySequential or KeyRandom

	Rows         int64  `json:"rows,omitempty"`          // dml: rows per phase; scan: rows per table
	Mode         string `json:"mode,omitempty"`          // dml: ModeSingle, ModeConcurrent or ModeBoth
	Connect      string `json:"connect,omitempty"`       // dml: ConnectPooled or ConnectPerStatement
	Index        string `json:"index,omitempty"`         // dml: IndexNone or IndexKey
	Cache        string `json:"cache,omitempty"`         // scan, backup, dump: CacheWarm, or a filewise.Cache
	Data         string `json:"data,omitempty"`          // scan: DataOrdered or DataGrown
	IndexedFirst bool   `json:"indexed_first,omitempty"` // scan: indexes exist before the tables are loaded
	// Rescan is for scan: how often a scan runs in a trial with cold caches, if no cache holds the data. 0 means once.
	Rescan int `json:"rescan,omitempty"`
	// Batch is for scan: how often warm queries that use an index run, per run of the others. 0 means equally often.
	Batch  int `json:"batch,omitempty"`
	Repeat int `json:"repeat,omitempty"` // executions per trial: of a warm query (scan), or of the select of a row (dml). 0 means one

	Selects    int64 `json:"selects,omitempty"`    // dml: selects of the one process. 0 means every row
	Concurrent int64 `json:"concurrent,omitempty"` // dml: rows of the concurrent part. 0 means Rows

	Published bool `json:"published,omitempty"` // dml: as in the article, where an engine's own way differs

	Discard bool `json:"discard,omitempty"` // backup: the backup is discarded and not restored

	// Own is for backup and dump: a database of the user is backed up and left unchanged.
	Own bool `json:"own,omitempty"`
	// Proof is for Own: the backup is restored and compared.
	Proof bool `json:"proof,omitempty"`

	ConcurrentLoad int `json:"beside,omitempty"` // backup, dump: connections that work during it. 0 means none

	Cycle string `json:"cycle,omitempty"` // temp: CycleFill, CycleSort or CycleJoin

	Warehouses int     `json:"warehouses,omitempty"` // orders: number of warehouses
	Scale      float64 `json:"scale,omitempty"`      // orders: customers and items as a share of the specification's, 0 < Scale ≤ 1
	Users      []int   `json:"users,omitempty"`      // orders: load levels, each a phase. None means Connections
	Think      float64 `json:"think,omitempty"`      // orders: keying and think times as a share of the specification's. 0 means none
	Rate       float64 `json:"rate,omitempty"`       // inserts, orders, dml, scan, custom: operations a second, open loop. 0 means closed loop
	Churn      bool    `json:"churn,omitempty"`      // orders: each transaction also creates, fills and drops a table

	Custom *Custom `json:"custom,omitempty"` // custom: the user's own SQL
}

// Values of Params.Mode, Connect, Index, Cache and Data.
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

// Values of Params.Table and Params.Key.
const (
	TableShared        = "shared"
	TablePerConnection = "per-connection"
	KeySequential      = "sequential"
	KeyRandom          = "random"
	KeyIdentity        = "identity" // the server draws it; another column holds the row's number
)

// Loading returns the programs of all workloads that load tables. Their tables and columns are the same whatever the
// parameters, so the result shows what a database of Filewise may contain.
var Loading = sync.OnceValue(func() []filewise.Program {
	orders, err := NewOrders(Params{Connections: 1, Warehouses: 1, Scale: 0.01}, 1)
	scan, scanErr := NewScan(Params{Rows: fragBatchRows, Cache: CacheWarm, Data: DataOrdered, Repeat: 1}, 1)
	if err != nil || scanErr != nil {
		panic(fmt.Sprintf("the least of the workloads: %v, %v", err, scanErr)) // the parameters are the programmer's
	}
	return []filewise.Program{orders.Program(), scan.Program()}
})
