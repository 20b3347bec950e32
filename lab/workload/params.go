// Package workload defines the work on a database, neutral of any engine: parameters, seeded generators, checks, and
// the published experiments that the scenarios repeat.
package workload

import (
	"fmt"
	"sync"

	"filewise"
)

// Params are the parameters of the workloads. A workload reads what it needs.
type Params struct {
	Connections int    `json:"connections"`
	RowBytes    int    `json:"row_bytes"`    // payload of a row, in bytes
	CommitEvery int    `json:"commit_every"` // rows per transaction
	Table       string `json:"table"`        // TableShared or TablePerConnection
	Key         string `json:"key"`          // KeySequential or KeyRandom

	Rows         int64  `json:"rows,omitempty"`          // dml: of each phase; scan: of each table
	Mode         string `json:"mode,omitempty"`          // dml: ModeSingle, ModeConcurrent or ModeBoth
	Connect      string `json:"connect,omitempty"`       // dml: ConnectPooled or ConnectPerStatement
	Index        string `json:"index,omitempty"`         // dml: IndexNone or IndexKey
	Cache        string `json:"cache,omitempty"`         // scan: CacheWarm, or a filewise.Cache
	Data         string `json:"data,omitempty"`          // scan: DataOrdered or DataGrown
	IndexedFirst bool   `json:"indexed_first,omitempty"` // scan: indexes are there when the tables are loaded
	// scan: warm queries that find rows by an index are executed so many times as often. 0 means as the others
	Batch  int `json:"batch,omitempty"`
	Repeat int `json:"repeat,omitempty"` // executions in a trial: scan of a warm query, dml of the select of a row. 0 means one

	Selects    int64 `json:"selects,omitempty"`    // dml: of one process. 0 means every row
	Concurrent int64 `json:"concurrent,omitempty"` // dml: rows of the concurrent part. 0 means Rows

	Published bool `json:"published,omitempty"` // dml: as the article had it, if an engine's own differs

	Discard bool `json:"discard,omitempty"` // backup: what is backed up is thrown away, and not restored

	// backup, dump: what is backed up is a database of the user's, which is left as it is
	Own bool `json:"own,omitempty"`
	// Proof: with Own, what is backed up is restored and compared
	Proof bool `json:"proof,omitempty"`

	Beside int `json:"beside,omitempty"` // backup, dump: connections that work at the same time. 0 means none

	Cycle string `json:"cycle,omitempty"` // temp: CycleFill, CycleSort or CycleJoin

	Warehouses int     `json:"warehouses,omitempty"` // orders: number of warehouses
	Scale      float64 `json:"scale,omitempty"`      // orders: customers and items as a share of the specification's, 0 < Scale ≤ 1
	Users      []int   `json:"users,omitempty"`      // orders: load levels, each a phase. None means Connections
	Think      float64 `json:"think,omitempty"`      // orders: keying and think times as a share of the specification's. 0 means none
	Rate       float64 `json:"rate,omitempty"`       // inserts, orders, dml, scan, custom: operations a second, open loop. 0 means closed loop
	Churn      bool    `json:"churn,omitempty"`      // orders: each transaction also creates, fills and drops a table

	Custom *Custom `json:"custom,omitempty"` // custom: the user's own SQL
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
	KeyIdentity        = "identity" // drawn by the server; the row has its number in another column
)

// Loading are the programs of all workloads that load tables, whose names and columns are the
// same whatever the parameters: what a database of Filewise's may have in it.
var Loading = sync.OnceValue(func() []filewise.Program {
	orders, err := NewOrders(Params{Connections: 1, Warehouses: 1, Scale: 0.01}, 1)
	scan, scanErr := NewScan(Params{Rows: fragBatchRows, Cache: CacheWarm, Data: DataOrdered, Repeat: 1}, 1)
	if err != nil || scanErr != nil {
		panic(fmt.Sprintf("the least of the workloads: %v, %v", err, scanErr)) // the parameters are the programmer's
	}
	return []filewise.Program{orders.Program(), scan.Program()}
})
