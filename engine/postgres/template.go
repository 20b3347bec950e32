package postgres

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"filewise"
	"filewise/engine/internal/managed"
)

// makeTemplate has initdb make a data directory that every build starts from: it
// takes a second, a copy a tenth of it. remove undoes it.
func makeTemplate(ctx context.Context, in install, a account, t filewise.Target, slim bool) (data string, remove func() error, err error) {
	dir, err := os.MkdirTemp(t.Volumes[0].Dir, "postgres-template-")
	if err != nil {
		return "", nil, filewise.Errorf(filewise.CodePreflight, "name a directory that you may write to", "directory of the server: %w", err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", nil, err
	}
	remove = func() error { return removeAll([]string{dir}) }
	if err := initialize(ctx, in, a, t, dir, slim); err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return filepath.Join(dir, "data"), remove, nil
}

func initialize(ctx context.Context, in install, a account, t filewise.Target, dir string, slim bool) error {
	if err := a.own(dir); err != nil {
		return err
	}
	doors, err := a.openDoors([]string{dir})
	if err != nil {
		return err
	}
	defer doors.close()
	args := initArguments(doors.path(filepath.Join(dir, "data")))
	spec := a.spec(in.initdb(), args, doors, filepath.Join(dir, "initdb.log"), t.OnStart)
	spec.Env = environment(append(everywhere(t), dir))
	p, err := managed.Start(spec)
	if err != nil {
		return err
	}
	if err = orderly(ctx, p); ctx.Err() != nil {
		endProcesses(in.postgres(), filepath.Join(dir, "data")) // initdb's own server
	}
	if err != nil || !slim {
		return classify(failed("initdb", err))
	}
	return a.slim(ctx, in, t, doors, dir)
}

// everywhere are the directories of all volumes: a process is registered with each, and
// has to name it.
func everywhere(t filewise.Target) []string {
	var all []string
	for _, v := range t.Volumes {
		all = append(all, v.Dir)
	}
	return all
}

// orderly waits for initdb, or its like, to end. One that is not wanted any more is
// asked to end, and only then made to: killed, its server would leave a segment of
// shared memory for good, which no other program removes.
func orderly(ctx context.Context, p *managed.Process) error {
	select {
	case <-p.Exited():
		return p.Wait(context.WithoutCancel(ctx))
	case <-ctx.Done():
		// How it ends does not matter: its files go.
		_ = p.Stop(context.WithoutCancel(ctx), syscall.SIGTERM, quitPatience)
		return context.Cause(ctx)
	}
}

// slimming drops the databases that only others would be made from: two thirds of
// the files that every build copies, syncs and removes.
const slimming = "UPDATE pg_database SET datistemplate = false, datallowconn = true\nDROP DATABASE template1\nDROP DATABASE template0\n"

// slim executes that in PostgreSQL's single-user mode. Should a statement fail, the
// databases stay, and builds take longer.
func (a account) slim(ctx context.Context, in install, t filewise.Target, doors *doors, dir string) error {
	script := filepath.Join(dir, "slim.sql")
	if err := os.WriteFile(script, []byte(slimming), 0o600); err != nil {
		return err
	}
	stdin, err := os.Open(script)
	if err != nil {
		return err
	}
	defer stdin.Close()
	args := []string{"--single", "-D", doors.path(filepath.Join(dir, "data")), "-c", "fsync=off", "-c", "dynamic_shared_memory_type=mmap", maintenance}
	spec := a.spec(in.postgres(), args, doors, filepath.Join(dir, "initdb.log"), t.OnStart)
	spec.Env = environment(append(everywhere(t), dir))
	spec.Stdin = stdin
	p, err := managed.Start(spec)
	if err != nil {
		return err
	}
	return classify(failed("slimming the data directory", orderly(ctx, p)))
}

// copyTree copies a tree of directories, files and links byte by byte; nothing is
// synced, and no file shares its storage with the original (see managed.Copy).
func copyTree(ctx context.Context, from, to string) error {
	buf := make([]byte, 256<<10)
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case e.IsDir():
			return os.Mkdir(target, 0o700)
		case e.Type().IsRegular():
			return copyFile(path, target, buf)
		}
		return nil // sockets
	})
}

// writeOnly hides that a file could take its content by copy_file_range(2).
type writeOnly struct{ io.Writer }

func copyFile(from, to string, buf []byte) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.CopyBuffer(writeOnly{out}, struct{ io.Reader }{in}, buf)
	return err
}
