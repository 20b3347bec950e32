package server

import (
	"context"
	"io/fs"
	"path/filepath"
	"time"

	"filewise"
	"filewise/internal/filesystem"
)

// Restart stops the server cleanly and starts it again with empty buffers.
func (l *Life) Restart(ctx context.Context) error {
	return Failed("restart", l.Between(ctx, func() error { return nil }))
}

// Evict stops the server cleanly, drops every page of the server's files from the system's cache, and starts it again.
func (l *Life) Evict(ctx context.Context) error {
	return Failed("evicting", l.Between(ctx, func() error { return evictDirs(l.control.Dirs) }))
}

// Between stops the running server cleanly, calls do, and starts the server again.
func (l *Life) Between(ctx context.Context, do func() error) error {
	if _, err := l.Running(); err != nil {
		return err
	}
	if err := l.Stop(ctx); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	return l.Start(ctx)
}

func evictTree(dir string) error {
	if err := filesystem.SyncAround(dir); err != nil { // only pages that are written can be dropped
		return err
	}
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		return filesystem.EvictIn(dir, path)
	})
}

// Checkpoint writes everything dirty to the data files.
func (l *Life) Checkpoint(ctx context.Context) (time.Duration, error) {
	start := time.Now()
	err := l.control.Settle(ctx)
	return time.Since(start), err
}

// Shutdown stops the server as its administrator would.
func (l *Life) Shutdown(ctx context.Context) (time.Duration, error) {
	if _, err := l.Running(); err != nil {
		return 0, Failed("shutdown", err)
	}
	start := time.Now()
	err := l.Stop(ctx)
	return time.Since(start), Failed("shutdown", err)
}

// Crash kills the server with SIGKILL, as the kernel does when memory runs out. The operating system keeps running, so
// what was written but not synced is not lost.
func (l *Life) Crash(context.Context) error {
	if _, err := l.Running(); err != nil {
		return Failed("crash", err)
	}
	l.Kill()
	return nil
}

// Open starts the server and waits until it answers. After Crash that includes recovery.
func (l *Life) Open(ctx context.Context) (time.Duration, error) {
	if l.Process() != nil {
		return 0, Failed("open", errRuns)
	}
	start := time.Now()
	err := l.Start(ctx)
	return time.Since(start), Failed("open", err)
}

var (
	_ filewise.Lifecycle = (*Life)(nil)
)
