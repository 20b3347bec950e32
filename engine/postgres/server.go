package postgres

import (
	"context"
	"errors"

	"filewise"
	"filewise/engine/internal/builds"
	"filewise/engine/internal/script"
	"filewise/engine/internal/server"
	"filewise/engine/postgres/client"
	"filewise/engine/postgres/installed"
)

// managedServer is an opened managed target. Every build has its own server process and data directory, so that layouts
// do not share buffers, WAL or files.
type managedServer struct {
	target   filewise.Target
	install  installed.Server
	account  installed.Account
	template string
	undo     func() error // removes the template
	facts    []filewise.Fact
	builds   builds.Open[*instance]
	kept     server.Kept[*instance]
}

// openManaged finds PostgreSQL and tries it, so that problems show before anything is built. It creates a small server
// with the user's settings, starts it, reads its effective settings, and ends it.
func openManaged(ctx context.Context, t filewise.Target) (_ filewise.Server, err error) {
	if _, _, err := managedDesign(t, trialLayout, trialStart, 0, builds.First); err != nil {
		return nil, err
	}
	in, err := installed.Find(ctx, t.ServerBin)
	if err != nil {
		return nil, err
	}
	s := &managedServer{target: t, install: in}
	s.kept = server.Kept[*instance]{Dirs: func(i *instance) []string { return i.sites.dirs }, Drop: s.drop}
	if s.account, err = installed.NewAccount(); err != nil {
		return nil, err
	}
	if err := s.account.Runnable(in); err != nil {
		return nil, err
	}
	if s.template, s.undo, err = makeTemplate(ctx, in, s.account, t); err != nil {
		return nil, err
	}
	if s.facts, err = tried(s, func() ([]filewise.Fact, error) { return server.Try(ctx, t.Settings, s.try, s.blamed) }); err != nil {
		return nil, errors.Join(err, s.undo())
	}
	return s, nil
}

// Steps of opening a target. They are variables because tests open dozens of targets and share the results.
var (
	makeTemplate = func(ctx context.Context, in installed.Server, a installed.Account, t filewise.Target) (string, func() error, error) {
		return installed.MakeTemplate(ctx, in, a, t, true)
	}
	tried = func(_ *managedServer, try func() ([]filewise.Fact, error)) ([]filewise.Fact, error) { return try() }
)

// trialStart is a program that is never run, and trialLayout the smallest layout.
var (
	trialStart = filewise.Program{Workload: "inserts", Phases: []filewise.Phase{{Section: "insert", Appends: true, Connections: 1,
		CommitEvery: 1}}}
	trialLayout = filewise.Layout{Name: "trial start", Kind: filewise.KindSingle, Data: filewise.Spread{Files: 1}}
)

// try starts the smallest server on the target with these settings, and returns its facts.
func (s *managedServer) try(ctx context.Context, settings map[string]string) (facts []filewise.Fact, err error) {
	t := s.target
	t.Settings = settings
	i, err := s.launch(ctx, t, trialLayout, trialStart)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.drop(i)) }()
	return i.readFacts(ctx)
}

// blamed returns an error that names the user's setting with which the server does not start.
func (s *managedServer) blamed(name string, err error) error {
	return filewise.Errorf(filewise.CodeUsage, "leave it out, or give a value that PostgreSQL takes",
		"PostgreSQL %s does not start with --set %s=%s: %w", s.install.Version, name, s.target.Settings[name], err)
}

// launch creates a build's files and starts its server. If it fails, it leaves nothing.
func (s *managedServer) launch(ctx context.Context, t filewise.Target, l filewise.Layout, p filewise.Program) (*instance, error) {
	i, err := s.register(ctx, t, l, p, func(i *instance) error { return s.fill(ctx, i) })
	if err != nil {
		return nil, err
	}
	if err := i.life.Start(ctx); err != nil {
		return nil, errors.Join(err, s.drop(i))
	}
	return i, nil
}

// register makes the directories of a build under the first free number, and fills them.
func (s *managedServer) register(ctx context.Context, t filewise.Target, l filewise.Layout, p filewise.Program,
	fill func(*instance) error) (*instance, error) {
	i, err := s.builds.Register(func(number int) (*instance, error) {
		d, places, err := managedDesign(t, l, p, s.install.Number, number)
		if err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return newInstance(s.install, s.account, d, places, fill)
	})
	return i, client.Classify(err)
}

// drop ends a build's server and removes its files. What the server still had to write is lost. Calling drop twice is
// harmless.
func (s *managedServer) drop(i *instance) error {
	s.kept.Forget(i)
	i.link.Close()
	i.life.Quit()
	err := i.remove()
	s.builds.Remove(i)
	return err
}

// Close drops the builds that are not dropped yet, and removes the template.
func (s *managedServer) Close() error { return errors.Join(s.builds.Close(s.drop), s.undo()) }

// Facts returns the facts of the trial start, with the version and the binary.
func (s *managedServer) Facts(context.Context) ([]filewise.Fact, error) { return s.facts, nil }

// Offers explains why a capability is absent.
func (s *managedServer) Offers() map[filewise.Capability]error {
	all := offers()
	all[filewise.CanBackup] = s.install.Backups(false)
	return all
}

// offers returns what every server of PostgreSQL offers, with an error for preallocated files, which it lacks. Waits come
// from samples. Per file PostgreSQL counts only reads; of writes it counts rows and growth.
func offers() map[filewise.Capability]error {
	return filewise.Offering(map[filewise.Capability]error{
		filewise.CanPreallocate: filewise.Errorf(filewise.CodeUsage, "use --allocation growing", "%w", errPreallocate)})
}

// Build creates a server with the layout's tablespaces and the program's tables.
func (s *managedServer) Build(ctx context.Context, l filewise.Layout, p filewise.Program) (*filewise.Database, error) {
	if err := backsUp(ctx, s.install, l, p); err != nil {
		return nil, err
	}
	i, err := s.launch(ctx, s.target, l, p)
	if err != nil {
		return nil, err
	}
	b := &build{design: i.design, version: s.install.Number, sees: true, link: i.link, steps: i.steps, on: onServer, host: i,
		checkpoint: true, loaded: i.endLoad}
	if !i.copied {
		err = b.create(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.drop(i))
	}
	if p.Restored() && !i.copied {
		err := i.restoreDump(ctx)
		if err == nil {
			err = i.endLoad(ctx)
		}
		if err != nil {
			return nil, errors.Join(err, s.drop(i))
		}
	}
	backups := &backuper{server: s, instance: i, build: b}
	db := b.database(func(ctx context.Context) error {
		b.close()
		return errors.Join(backups.Discard(ctx), s.drop(i))
	})
	i.settle = b.Settle
	db.Probes = append(db.Probes, server.Tree(i.life.Process))
	db.Restart, db.Reset, db.Lifecycle, db.Evict = i.life.Restart, server.NewResetter(i.life), i.life, i.life.Evict
	db.Keep, db.Copied = s.keeper(i), i.copied
	if p.BacksUp() {
		db.Backup = backups
	}
	return db, nil
}

// backsUp returns an error if the program that makes a layout's backups cannot run. It returns nil if the layout has no
// backups.
func backsUp(ctx context.Context, in installed.Server, l filewise.Layout, p filewise.Program) error {
	switch {
	case !p.BacksUp():
		return nil
	case !p.Dumps() && toolOf(l) == toolPgBackRest:
		return in.BackRest(ctx)
	}
	return in.Backups(p.Dumps())
}

func (i *instance) steps() (script.Steps, error) {
	return i.design.managedSteps(i.install, i.sites, i.handles.Path)
}
