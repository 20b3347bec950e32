package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"filewise"
	"filewise/lab/experiment"
	"filewise/lab/workload"
)

// checkDump refuses layouts that cannot hold the tables of the dump that fills the builds. A dump that has yet to be
// taken is checked after it is taken.
func (env *Environment) checkDump(ctx context.Context) error {
	program := env.Plan.Program(env.Workload)
	if !program.Restored() || env.Target.Mode == filewise.External { // an external server reports it during the look
		return nil
	}
	r, ok := env.Engine.(filewise.Restorer)
	if !ok {
		return filewise.Errorf(filewise.CodeUsage, "give a set-up in the study file instead", "a dump is not restored on %s: %w",
			env.Engine.Name(), filewise.ErrUnsupported)
	}
	if env.Plan.Origin() != nil && program.Custom.From == env.Plan.Params.Custom.From {
		return nil
	}
	return r.CheckDump(ctx, env.Target, env.Plan.Layouts, program)
}

// openOrigin signs in to the server whose database the plan dumps. If limits restrict the run to quiet times, it also
// opens the server, which only reads.
func (env *Environment) openOrigin(ctx context.Context, login Login) error {
	if env.Plan.Origin() == nil {
		return nil
	}
	address, err := login(ctx)
	if err != nil {
		return err
	}
	env.origin = &filewise.Target{Engine: env.Engine.Name(), Mode: filewise.External, Address: &address, Durability: filewise.DurabilityFull,
		Volumes: []filewise.Volume{{Name: "default"}}, ServerBin: env.Target.ServerBin}
	if m, ok := env.Engine.(matcher); ok && env.Target.ServerBin == "" {
		if env.Target.ServerBin, err = m.ServerBin(ctx, *env.origin); err != nil {
			return filewise.HideIn(err, address.Hidden()...)
		}
		env.origin.ServerBin = env.Target.ServerBin
	}
	if len(env.Plan.AbortIf) == 0 {
		return nil
	}
	whole := *env.origin
	server := address
	server.Path, whole.Address = "", &server
	if env.others, err = opened(ctx, env.Engine, whole); err != nil {
		return filewise.HideIn(err, address.Hidden()...)
	}
	env.undo = append(env.undo, env.others.Close)
	return env.knowGauges(ctx, env.others, whole)
}

// takeDump dumps the plan's origin, and lets the dump fill the builds. It works within the maintenance windows, and
// pauses while others need the server.
func (env *Environment) takeDump(ctx context.Context, w *watch) error {
	if env.origin == nil {
		return nil
	}
	path := filepath.Join(env.Target.Volumes[0].Dir, "dump")
	var err error
	for {
		if _, err = w.awaitWindow(ctx, 0); err != nil {
			return err
		}
		if err = env.dump(ctx, w, path); !errors.Is(err, experiment.ErrPostponed) {
			break
		}
	}
	if err != nil {
		return filewise.HideIn(err, env.origin.Address.Hidden()...)
	}
	params, custom := env.Plan.Params, *env.Plan.Params.Custom
	custom.From, params.Custom = path, &custom
	sc, err := workload.Lookup(env.Plan.Scenario)
	if err == nil {
		env.Workload, err = sc.New(params, env.Plan.Seed)
	}
	if err != nil {
		return err
	}
	return env.checkDump(ctx)
}

func (env *Environment) dump(ctx context.Context, w *watch, path string) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	to := &yielding{ctx: ctx, watch: w, to: f}
	err = env.Engine.(filewise.Restorer).Dump(ctx, *env.origin, to)
	if to.err != nil { // the program only reports that it could not write
		return to.err
	}
	if err != nil {
		return fmt.Errorf("a dump of %s: %w", env.Plan.Origin(), err)
	}
	return nil
}

// yielding is a writer that pauses a dump while others need its server.
type yielding struct {
	ctx   context.Context
	watch *watch
	to    io.Writer
	err   error
}

func (y *yielding) Write(b []byte) (int, error) {
	if y.err = y.watch.yield(y.ctx); y.err != nil {
		return 0, y.err
	}
	n, err := y.to.Write(b)
	y.err = err
	return n, err
}

// longestYield is the longest pause of a dump. During a dump, the server must keep an old state of the data.
const longestYield = 10 * time.Minute

// yield waits while others need the server.
func (w *watch) yield(ctx context.Context) error {
	since := w.clock.Now()
	for {
		err := w.guard()
		if !errors.Is(err, errOthers) || w.clock.Now().Sub(since) > longestYield {
			return err
		}
		if err := w.clock.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

// matcher is an engine whose server may be installed in several releases.
type matcher interface {
	// ServerBin returns the binaries' directory of the oldest installed release that is at least as new as the external
	// target's server.
	ServerBin(context.Context, filewise.Target) (string, error)
}
