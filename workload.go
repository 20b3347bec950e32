package filewise

import "context"

// Program is a workload with its parameters, ready for an engine: what SQL
// sections there are is the workload's, their text is the engine's.
type Program struct {
	Workload    string `json:"workload"`
	Family      string `json:"family"` // of the measure
	Unit        string `json:"unit"`   // of one operation: "rows"
	Connections int    `json:"connections"`
	CommitEvery int    `json:"commit_every"`         // operations per transaction
	OpBytes     int64  `json:"op_bytes"`             // payload bytes of one operation
	Limit       int64  `json:"limit"`                // operations that one connection can do; 0: not limited
	WorkBytes   int64  `json:"work_bytes,omitempty"` // fixed work of a trial in payload bytes; 0: a time window
	// Retry are the classes of failures after which an operation is tried again;
	// every one is counted.
	Retry []Class `json:"retry,omitempty"`
	// Phases are what a trial measures, one after the other; none: the workload is
	// one family, its operations the sections insert and call.
	Phases []Phase `json:"phases,omitempty"`
	// ReadOnly: the workload leaves its data as they are, so that a loaded build
	// serves trial after trial without being reset.
	ReadOnly bool           `json:"read_only,omitempty"`
	Vars     map[string]any `json:"vars"` // for the SQL templates
	Args     Args           `json:"-"`
	// Own is SQL that the workload brings itself; nil: its sections are the engine's.
	Own *OwnSQL `json:"own,omitempty"`
}

// Restores tells whether a trial restores what it has backed up.
func (p Program) Restores() bool {
	for _, x := range p.Phases {
		if x.Act == ActRestore {
			return true
		}
	}
	return false
}

// WorksBeside tells whether a load runs while something else is measured.
func (p Program) WorksBeside() bool {
	for _, x := range p.Phases {
		if x.Beside != "" {
			return true
		}
	}
	return false
}

// Args generates the arguments of operations: operation i of a worker follows
// from the seed, the worker and i alone.
type Args interface {
	// Args appends the arguments of operation i of the worker to dst.
	Args(dst []any, worker int, i int64) []any
	// Pool is data that the server needs to generate the same arguments itself.
	Pool() string
}

// Ledger is what a trial committed: operations per worker, from 0.
type Ledger []int64

// Total is the number of committed operations.
func (l Ledger) Total() int64 {
	var n int64
	for _, x := range l {
		n += x
	}
	return n
}

// Plus is a ledger to which the operations of another one are added.
func (l Ledger) Plus(more Ledger) Ledger {
	sum := make(Ledger, max(len(l), len(more)))
	copy(sum, l)
	for w, n := range more {
		sum[w] += n
	}
	return sum
}

// Workload is what is done to the database.
type Workload interface {
	Program() Program
	// Check compares the data with what the ledger's operations should have
	// left; the error wraps ErrCheck when they differ.
	Check(context.Context, Querier, Ledger) error
}
