package managed

import (
	"context"
	"errors"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/builds"
	"filewise/engine/internal/server"
)

// openServer is an opened target. Every build has its own server process, because the system tablespace's files are
// chosen when a server is created.
type openServer struct {
	target  filewise.Target
	product *dialect.Product
	install dialect.Install
	facts   []filewise.Fact
	// templates holds the builds' templates. If nil, the server creates each data directory.
	templates *server.Templates
	builds    builds.Open[*instance]
	kept      server.Kept[*instance]
}

// Open finds the server and tries it, so that problems show before anything is built. It creates a small server with
// the user's settings, starts it, reads its effective settings, and ends it.
func (e Engine) Open(ctx context.Context, t filewise.Target) (filewise.Server, error) {
	in, err := e.Managed.Find(ctx, t.ServerBin)
	if err != nil {
		return nil, err
	}
	s := &openServer{product: e.Product, target: t, install: in}
	s.facts, err = tried(s, func() ([]filewise.Fact, error) {
		return server.Try(ctx, t.Settings, s.try, func(name string, err error) error { return refused(e.Product, in, t, name, err) })
	})
	if err != nil {
		return nil, err
	}
	s.templates = newTemplates(e.Product)
	s.kept = server.Kept[*instance]{Dirs: func(i *instance) []string { return i.design.dirs }, Drop: s.drop}
	return s, nil
}

// try starts the smallest server on the target with these settings, and returns its facts.
func (s *openServer) try(ctx context.Context, settings map[string]string) (facts []filewise.Fact, err error) {
	t := s.target
	t.Settings = settings
	i, err := s.launch(ctx, func(n int) (*design, error) {
		return newDesign(s.product, t, filewise.Layout{Name: "trial start", Kind: filewise.KindPerTable, Data: filewise.Spread{Files: 1}},
			trialStart, n)
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.drop(i)) }()
	return i.readFacts(ctx)
}

// trialStart is a program that is never run.
var trialStart = filewise.Program{Workload: "inserts",
	Phases: []filewise.Phase{{Section: "insert", Appends: true, Connections: 1, CommitEvery: 1}}}

// launch creates a build's files and starts its server. If it fails, it leaves nothing.
func (s *openServer) launch(ctx context.Context, layOut func(n int) (*design, error)) (*instance, error) {
	i, err := s.register(layOut)
	if err != nil {
		return nil, err
	}
	if i.copied, err = s.copyKept(ctx, i); err == nil && !i.copied {
		err = s.create(ctx, i)
	}
	if err == nil {
		err = i.life.Start(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.drop(i))
	}
	return i, nil
}

// register makes the directories of a build under the first free number.
func (s *openServer) register(layOut func(n int) (*design, error)) (*instance, error) {
	return s.builds.Register(func(n int) (*instance, error) {
		d, err := layOut(n)
		if err != nil {
			return nil, err
		}
		if err := d.checkLimits(); err != nil {
			return nil, err
		}
		return newInstance(s.install, d)
	})
}

// drop ends a build's server and removes its files. What the server still had to write is lost. Calling drop twice is
// harmless.
func (s *openServer) drop(i *instance) error {
	s.kept.Forget(i)
	i.life.Kill()
	err := i.remove()
	s.builds.Remove(i)
	return err
}

// Close drops the builds that are not dropped yet.
func (s *openServer) Close() error { return s.builds.Close(s.drop) }

// Facts returns the facts of the trial start, with the version and the binary.
func (s *openServer) Facts(context.Context) ([]filewise.Fact, error) { return s.facts, nil }

// Offers explains why a capability is absent.
func (s *openServer) Offers() map[filewise.Capability]error {
	all := filewise.Offering(map[filewise.Capability]error{ // a kind of layout that lacks one is refused with the reason
		filewise.CanIndexApart: dialect.CheckIndexes(filewise.Layout{Indexes: filewise.IndexesApart}),
		filewise.CanBackup:     checkBackup(s.product, s.target),
		filewise.CanTemp:       checkTemp(s.product),
	})
	if !instrumented(s.target) {
		all[filewise.CanFileIO] = refuse("leave it out", "%s", noInstruments)
	}
	return all
}

// Build creates a server with the layout's files, and the program's tables.
func (s *openServer) Build(ctx context.Context, l filewise.Layout, p filewise.Program) (_ *filewise.Database, err error) {
	i, err := s.launch(ctx, func(n int) (*design, error) { return newDesign(s.product, s.target, l, p, n) })
	if err != nil {
		return nil, err
	}
	if i.steps, err = i.design.steps(i.install); err == nil && !i.copied {
		err = i.exec(ctx, i.steps.At(filewise.StageBuild).On(onServer).Texts()...)
	}
	if err == nil && p.Restored() && !i.copied {
		if err = i.restoreDump(ctx); err == nil {
			err = i.purge(ctx)
		}
		if err == nil {
			err = i.life.Restart(ctx)
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.drop(i))
	}
	return s.database(i), nil
}

// database returns a build for the layers above.
func (s *openServer) database(i *instance) *filewise.Database {
	return &filewise.Database{
		Build:   build{i, dialect.NewWork(i, i.design.Schema), s},
		Restart: i.life.Restart, Reset: server.NewResetter(i.life), Lifecycle: i.life, Probes: i.probes(), Extend: i.extender(),
		Evict: i.life.Evict, Settled: i.lastSettle, Bulk: i.loader(), Backup: s.backuper(i), First: i.first, Keep: s.keeper(i), Copied: i.copied,
	}
}

type build struct {
	*instance
	dialect.Work
	server *openServer
}

// Drop ends the server and removes the build's directories.
func (b build) Drop(context.Context) error { return b.server.drop(b.instance) }
