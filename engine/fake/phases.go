package fake

import (
	"context"
	"errors"
	"fmt"

	"filewise"
)

// ConnectPhase opens a connection for a phase. What is done in phases takes time
// and leaves no rows: their workloads check nothing here.
func (d *database) ConnectPhase(ctx context.Context, phase, worker int) (filewise.Session, error) {
	if phase < 0 || phase >= len(d.p.Phases) {
		return nil, fmt.Errorf("phase %d of %d", phase, len(d.p.Phases))
	}
	if err := d.stage(ctx, "connect"); err != nil {
		return nil, err
	}
	if d.down {
		return nil, errors.New("the database is down")
	}
	d.sessions.Add(1)
	d.worked.Store(true)
	return phaseSession{session{d: d, worker: worker}}, nil
}

type phaseSession struct{ session }

// Do takes the time of n operations.
func (s phaseSession) Do(ctx context.Context, _, n int64) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	s.d.e.clock.Advance(s.takes(n))
	s.d.done.Add(n)
	return n, nil
}

// Close ends the connection.
func (s phaseSession) Close() error { return s.session.Close() }

// LoadBatch takes the time of stage load, or fails where that is planted.
func (d *database) LoadBatch(ctx context.Context, _ filewise.TableData, _ int64) error {
	return d.stage(ctx, filewise.StageLoad)
}

// Finish ends the load.
func (d *database) Finish(ctx context.Context) error { return d.stage(ctx, "finish") }

// backuper takes the planted time of a backup and of a restore.
type backuper struct{ d *database }

func (b backuper) Backup(ctx context.Context) ([]filewise.File, error) {
	_, err := b.d.lifecycle(ctx, string(filewise.ActBackup))
	return []filewise.File{{Role: filewise.RoleBackup, Volume: b.d.t.Volumes[0].Name, Path: "/fake/backup", Bytes: unit}}, err
}

func (b backuper) Restore(ctx context.Context) error {
	_, err := b.d.lifecycle(ctx, string(filewise.ActRestore))
	return err
}

func (b backuper) Verify(ctx context.Context) error  { return b.d.stage(ctx, "verify") }
func (b backuper) Discard(ctx context.Context) error { return b.d.stage(ctx, "discard") }
