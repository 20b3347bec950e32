package experiment

import (
	"context"
	"errors"

	"filewise"
	"filewise/drive"
)

// Drivers are other processes that put a phase's load on the build, all of them together.
type Drivers interface {
	// Drive returns what all have done as one result, whose deltas are about the drivers.
	// The error wraps ErrVoid where a driver has failed, and not the server.
	Drive(context.Context, Share) (drive.Result, error)
}

// ErrVoid: a driver was late, or has died. The trial does not count, whatever the layout; it
// is stored with the reason and measured again.
var ErrVoid = errors.New("void")

// Share is the load of a phase. Its sessions are nil, as many as there are connections.
type Share struct {
	Plan    Plan
	Layout  filewise.Layout
	Build   string // filewise.Database.Shared
	Phase   int
	Done    filewise.Ledger // of the phase, before
	Discard bool            // the operations that come before measured ones are wanted
	Chunk   int64           // filewise.Database.Chunk
	drive.Load
}

// drive puts a load on the build: here, or by the drivers.
func (l *life) drive(ctx context.Context, i int, load drive.Load, measured bool) (drive.Result, error) {
	if l.runner.Drivers == nil {
		return drive.Run(ctx, load)
	}
	return l.runner.Drivers.Drive(ctx, Share{Plan: l.runner.Plan, Layout: l.layout, Build: l.db.Shared, Phase: i,
		Done: l.ledgers[i], Discard: measured, Chunk: l.db.Chunk, Load: load})
}
