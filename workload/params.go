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
}

// The values of Params.Table and Params.Key.
const (
	TableShared        = "shared"
	TablePerConnection = "per-connection"
	KeySequential      = "sequential"
	KeyRandom          = "random"
)
