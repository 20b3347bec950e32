package installed

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"filewise"
	"filewise/engine/internal/script"
	"filewise/engine/internal/server"
	"filewise/engine/postgres/client"
	"filewise/internal/filesystem"
	"filewise/internal/shell"
)

// MakeTemplate makes a data directory with initdb, from which every build starts. initdb takes a second, a copy a tenth
// of that. remove removes the directory.
func MakeTemplate(ctx context.Context, in Server, a Account, t filewise.Target, slim bool) (data string, remove func() error, err error) {
	dir, err := os.MkdirTemp(t.Volumes[0].Dir, "postgres-template-")
	if err != nil {
		return "", nil, filewise.Errorf(filewise.CodePreflight, "name a directory that you may write to", "directory of the server: %w", err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", nil, err
	}
	remove = func() error { return server.RemoveDirs([]string{dir}) }
	if err := initialize(ctx, in, a, t, dir, slim); err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return filepath.Join(dir, "data"), remove, nil
}

func initialize(ctx context.Context, in Server, a Account, t filewise.Target, dir string, slim bool) error {
	if err := a.Give(dir, dir); err != nil {
		return err
	}
	handles, err := a.Open([]string{dir})
	if err != nil {
		return err
	}
	defer handles.Close()
	steps := TemplateSteps(in, handles.Path(filepath.Join(dir, "data")))
	if !slim {
		steps = steps.On(shell.Place)
	}
	return steps.Run(ctx, func(ctx context.Context, x script.Step) error {
		spec := a.Spec(x.Command, handles, filepath.Join(dir, "initdb.log"), t.OnStart)
		spec.Env = environment(append(everywhere(t), dir))
		if x.Text != slimming {
			return initialized(ctx, in, spec, dir)
		}
		return slimmed(ctx, spec, dir)
	})
}

// initialized runs initdb.
func initialized(ctx context.Context, in Server, spec server.Spec, dir string) error {
	p, err := server.Start(spec)
	if err != nil {
		return err
	}
	if err = orderly(ctx, p); ctx.Err() != nil {
		server.EndProcesses(in.Path(), filepath.Join(dir, "data")) // initdb's own server
	}
	return client.Classify(client.Failed("initdb", err))
}

// everywhere returns the directories of all volumes. A process is registered with each of them, so its environment must
// name each.
func everywhere(t filewise.Target) []string {
	return filewise.Each(t.Volumes, func(v filewise.Volume) string { return v.Dir })
}

// endPatience limits how long initdb can take to end after a signal.
const endPatience = 20 * time.Second

// orderly waits for initdb or a similar program to end. If the context ends, it first interrupts the program. If the
// program were killed, its server would leave a shared memory segment for good, which no other program removes.
func orderly(ctx context.Context, p *server.Process) error {
	select {
	case <-p.Exited():
		return p.Wait(context.WithoutCancel(ctx))
	case <-ctx.Done():
		// It does not matter how the program ends, because its files are removed.
		_ = p.Stop(context.WithoutCancel(ctx), syscall.SIGTERM, endPatience)
		return context.Cause(ctx)
	}
}

// slimming drops the template databases, from which nothing is made here. They are two thirds of the files that every
// build copies, syncs and removes.
const slimming = "UPDATE pg_database SET datistemplate = false, datallowconn = true\nDROP DATABASE template1\nDROP DATABASE template0\n"

// slimmed executes slimming in PostgreSQL's single-user mode. If a statement fails, the databases stay and builds take
// longer.
func slimmed(ctx context.Context, spec server.Spec, dir string) error {
	script := filepath.Join(dir, "slim.sql")
	if err := filesystem.WriteIn(dir, script, []byte(slimming)); err != nil {
		return err
	}
	stdin, err := filesystem.OpenIn(dir, script)
	if err != nil {
		return err
	}
	defer stdin.Close()
	spec.Stdin = stdin
	p, err := server.Start(spec)
	if err != nil {
		return err
	}
	return client.Classify(client.Failed("slimming the data directory", orderly(ctx, p)))
}

// onSingle is the place of steps in single-user mode.
const onSingle = "single-user server"

// TemplateSteps returns the steps that make the data directory from which builds start.
func TemplateSteps(in Server, data string) script.Steps {
	return script.Steps{
		script.Command(filewise.StageBuild, in.initCommand(data)...),
		{Stage: filewise.StageBuild, On: onSingle, Text: slimming, Command: in.singleCommand(data)},
	}
}
