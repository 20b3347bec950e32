package fake

import (
	"context"

	"filewise"
)

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
