package fake

import (
	"context"
	"time"

	"filewise"
)

// LoadBatch takes the time of stage load, or fails where that is planted.
func (d *database) LoadBatch(ctx context.Context, _ filewise.TableData, _ int64) error {
	return d.stage(ctx, filewise.StageLoad)
}

// Finish ends the load.
func (d *database) Finish(ctx context.Context) error { return d.stage(ctx, "finish") }

// backuper takes the planted time of a backup and of a restore, and a second besides,
// which is not the statement's.
type backuper struct {
	d    *database
	took time.Duration
}

// Took is the planted time of the last one.
func (b *backuper) Took() time.Duration { return b.took }

func (b *backuper) act(ctx context.Context, act filewise.Act) (err error) {
	b.d.e.clock.Advance(time.Second)
	b.took, err = b.d.lifecycle(ctx, string(act))
	return err
}

func (b *backuper) Backup(ctx context.Context) ([]filewise.File, error) {
	err := b.act(ctx, filewise.ActBackup)
	return []filewise.File{{Role: filewise.RoleBackup, Volume: b.d.t.Volumes[0].Name, Path: "/fake/backup", Bytes: unit}}, err
}

func (b *backuper) Restore(ctx context.Context) error { return b.act(ctx, filewise.ActRestore) }

func (b *backuper) Verify(ctx context.Context) error  { return b.d.stage(ctx, "verify") }
func (b *backuper) Discard(ctx context.Context) error { return b.d.stage(ctx, "discard") }
