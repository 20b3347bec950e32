package postgres

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"filewise"
	"filewise/engine/customsql"
	"filewise/engine/postgres/client"
	"filewise/engine/postgres/internal/dump"
)

// copyProgram makes a managed server ready to be backed up.
var copyProgram = filewise.Program{Workload: trialStart.Workload, Phases: append(trialStart.Phases[:1:1],
	filewise.Phase{Act: filewise.ActBackup, Connections: 1, CommitEvery: 1},
	filewise.Phase{Act: filewise.ActRestore, Connections: 1, CommitEvery: 1})}

// CopyDatabase makes a managed copy of the target's database on its first volume.
func (e Engine) CopyDatabase(ctx context.Context, t filewise.Target) (*client.Copy, error) {
	bin, err := e.ServerBin(ctx, t)
	if err != nil {
		return nil, err
	}
	opened, err := openManaged(ctx, filewise.Target{Engine: t.Engine, Mode: filewise.Managed, Volumes: t.Volumes[:1], ServerBin: bin,
		OnStart: t.OnStart})
	if err != nil {
		return nil, err
	}
	server := opened.(*managedServer)
	i, err := server.copyOf(ctx, t)
	if err != nil {
		return nil, errors.Join(client.Failed("copying "+t.Database, err), server.Close())
	}
	return &client.Copy{Link: i.link, Close: server.Close, Backups: func(l filewise.Layout) client.CopyBackups {
		d := *i.design
		d.layout.Backup.Files, d.layout.BackupOptions = l.Backup.Files, l.BackupOptions
		return copyBackups{&backuper{server: server, instance: i, build: &build{design: &d, link: i.link}}}
	}}, nil
}

func (s *managedServer) copyOf(ctx context.Context, t filewise.Target) (*instance, error) {
	if err := s.install.BackRest(ctx); err != nil {
		return nil, err
	}
	l := trialLayout
	l.Backup, l.BackupOptions = filewise.Spread{Files: 1}, "tool="+toolPgBackRest
	i, err := s.launch(ctx, s.target, l, copyProgram)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(t.Volumes[0].Dir, "copy.dump")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer os.Remove(path)
	from, address := t, *t.Address
	address.Path, from.Address = t.Database, &address
	if err := errors.Join(Engine{}.Dump(ctx, from, f), f.Close()); err != nil {
		return nil, err
	}
	if err := dump.Restore(ctx, s.install, path, i.link, func(string) map[string]customsql.Place { return nil }); err != nil {
		return nil, err
	}
	return i, i.link.Exec(ctx, checkpoint)
}

// copyBackups implements client.CopyBackups.
type copyBackups struct{ *backuper }

func (b copyBackups) Dir() string { return b.dir }

func (b copyBackups) Restored() *client.Link {
	if b.restored == nil {
		return nil
	}
	return b.restored.link
}
