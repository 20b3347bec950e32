package external

import "context"

// size is how many connections a phase has, and how many operations each does.
func (f *life) size(phase int) (connections int, n int64) {
	p := f.work.Program().Phases[phase]
	connections, n = max(p.Connections, 1), handful
	if p.Ops > 0 {
		n = p.Ops / int64(connections)
	}
	return connections, n
}

// checkData compares the data with what has been done so far.
func (f *life) checkData(ctx context.Context) error {
	return f.work.Check(ctx, f.db.Querier, len(f.ledgers)-1, f.ledgers)
}
