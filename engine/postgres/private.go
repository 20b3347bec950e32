package postgres

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"filewise"
	"filewise/engine/internal/managed"
)

// privateServer is the opened managed target. Every build has a server process
// and a data directory of its own: buffers, WAL and files of one layout have
// nothing to do with another's.
type privateServer struct {
	target   filewise.Target
	install  install
	account  account
	template string
	undo     func() error // of the template
	facts    []filewise.Fact

	mu    sync.Mutex
	lives map[*instance]int // builds that are not dropped, with their numbers
}

// openPrivate finds PostgreSQL and tries it: a small server with the user's
// settings is created, started, asked for its effective settings, and ended. What
// would fail later fails here.
func openPrivate(ctx context.Context, t filewise.Target) (_ filewise.Server, err error) {
	if _, _, err := managedDesign(t, trialLayout, trialStart, 0, firstBuild); err != nil {
		return nil, err
	}
	in, err := find(ctx, t.ServerBin)
	if err != nil {
		return nil, err
	}
	s := &privateServer{target: t, install: in, lives: map[*instance]int{}}
	if s.account, err = serverAccount(); err != nil {
		return nil, err
	}
	if err := s.account.runnable(in); err != nil {
		return nil, err
	}
	if s.template, s.undo, err = makeTemplate(ctx, in, s.account, t, true); err != nil {
		return nil, err
	}
	if s.facts, err = s.try(ctx); err != nil {
		return nil, errors.Join(s.blame(ctx, err), s.undo())
	}
	return s, nil
}

// firstBuild is the number of a build when no other is there.
const firstBuild = 1

// trialStart is a program that is never run, on the smallest layout.
var (
	trialStart  = filewise.Program{Workload: "inserts", Connections: 1, CommitEvery: 1}
	trialLayout = filewise.Layout{Name: "trial start", Kind: filewise.KindSingle, Data: filewise.Spread{Files: 1}}
)

// blame finds the user's setting without which a server starts. Without such a one
// the error stands.
func (s *privateServer) blame(ctx context.Context, err error) error {
	if filewise.CodeOf(err) == filewise.CodeUsage || ctx.Err() != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(s.target.Settings)) {
		without := &privateServer{target: s.target, install: s.install, account: s.account, template: s.template, lives: map[*instance]int{}}
		without.target.Settings = maps.Clone(s.target.Settings)
		delete(without.target.Settings, name)
		if _, still := without.try(ctx); still == nil {
			return filewise.Errorf(filewise.CodeUsage, "leave it out, or give a value that PostgreSQL takes",
				"PostgreSQL %s does not start with --set %s=%s: %w", s.install.version, name, s.target.Settings[name], err)
		}
	}
	return err
}

// try runs the smallest server on the target.
func (s *privateServer) try(ctx context.Context) (facts []filewise.Fact, err error) {
	i, err := s.launch(ctx, trialLayout, trialStart)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.drop(i)) }()
	return i.readFacts(ctx)
}

// launch creates a build's files and starts its server. Nothing is left of one
// that fails.
func (s *privateServer) launch(ctx context.Context, l filewise.Layout, p filewise.Program) (*instance, error) {
	i, err := s.register(ctx, l, p)
	if err != nil {
		return nil, err
	}
	i.loading = i.design.loads()
	if err := i.start(ctx); err != nil {
		return nil, errors.Join(classify(err), s.drop(i))
	}
	return i, nil
}

// register makes the directories of a build, under the first number that is free.
func (s *privateServer) register(ctx context.Context, l filewise.Layout, p filewise.Program) (*instance, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := map[int]bool{}
	for _, n := range s.lives {
		taken[n] = true
	}
	n := firstBuild
	for taken[n] {
		n++
	}
	d, places, err := managedDesign(s.target, l, p, s.install.number, n)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	i, err := newInstance(ctx, s.install, s.account, d, places, s.template)
	if err == nil {
		s.lives[i] = n
	}
	return i, classify(err)
}

// drop ends a build's server and removes its files; twice is harmless. What the
// server still had to write is thrown away with the files.
func (s *privateServer) drop(i *instance) error {
	i.link.close()
	i.quit()
	err := i.remove()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.lives, i)
	return err
}

// Close ends and removes what was built and not dropped.
func (s *privateServer) Close() error {
	s.mu.Lock()
	left := slices.Collect(maps.Keys(s.lives))
	s.mu.Unlock()
	var errs []error
	for _, i := range left {
		errs = append(errs, s.drop(i))
	}
	return errors.Join(append(errs, s.undo())...)
}

// Facts are those of the trial start, with the version and the binary.
func (s *privateServer) Facts(context.Context) ([]filewise.Fact, error) { return s.facts, nil }

// Offers says why a capability is absent.
func (s *privateServer) Offers() map[filewise.Capability]error {
	all := offers()
	for _, c := range []filewise.Capability{filewise.CanLogApart, filewise.CanRestart, filewise.CanReset, filewise.CanVolumes} {
		all[c] = nil
	}
	all[filewise.CanBackup] = s.install.backups(workloadBackup)
	return all
}

// offers is what every server of PostgreSQL has and has not.
func offers() map[filewise.Capability]error {
	return map[filewise.Capability]error{
		filewise.CanPreallocate: filewise.Errorf(filewise.CodeUsage, "use --allocation growing", "%w", errPreallocate),
		filewise.CanGrow:        nil,
		filewise.CanAddLater:    nil,
		filewise.CanIndexApart:  nil,
		filewise.CanBulk:        nil,
		filewise.CanTemp:        nil,
		filewise.CanBackup:      nil,
		filewise.CanWaits:       nil, // by samples
		filewise.CanFileIO:      nil, // reads; of writes the rows and the growth, as PostgreSQL counts no others by file
	}
}

// Build creates a server with the layout's tablespaces and the program's tables.
func (s *privateServer) Build(ctx context.Context, l filewise.Layout, p filewise.Program) (*filewise.Database, error) {
	backs := p.Workload == workloadBackup || p.Workload == workloadDump
	if backs {
		if err := s.install.backups(p.Workload); err != nil {
			return nil, err
		}
	}
	i, err := s.launch(ctx, l, p)
	if err != nil {
		return nil, err
	}
	b := &build{design: i.design, version: s.install.number, sees: true, link: i.link, host: i, checkpoint: true, loaded: i.endLoad}
	create, err := i.create()
	if err == nil {
		err = i.link.exec(ctx, create...)
	}
	if err != nil {
		return nil, errors.Join(err, s.drop(i))
	}
	drop := &dropper{server: s, instance: i, build: b}
	db := b.database(drop)
	db.Probes = append(db.Probes, managed.Tree(i.running))
	db.Restart, db.Reset, db.Lifecycle, db.Evict = restarter{i}, &resetter{instance: i}, lifecycle{i, b}, evicter{i}
	if backs {
		drop.backups = &backuper{server: s, instance: i, build: b}
		db.Backup = drop.backups
	}
	return db, nil
}

type dropper struct {
	server   *privateServer
	instance *instance
	build    *build
	backups  *backuper // nil: the workload makes none
}

// Drop ends the server, and a restored one, and removes the build's directories.
func (d *dropper) Drop(ctx context.Context) error {
	d.build.close()
	var err error
	if d.backups != nil {
		err = d.backups.Discard(ctx)
	}
	return errors.Join(err, d.server.drop(d.instance))
}

// create is what makes tablespaces, tables and procedures on the new server.
func (i *instance) create() ([]string, error) {
	return createAll(i.design, i.sites, i.doors.path)
}

// createAll is what makes everything, on directories as the server names them.
func createAll(d *design, at sites, named func(string) string) ([]string, error) {
	dir := func(n int) string { return named(at.spaceDir(n)) }
	all := d.createTemps(func(number, i int) string { return named(at.tempDir(number, i)) })
	for _, n := range d.used() {
		all = append(all, "CREATE TABLESPACE "+ident(d.spaces[n].name)+" LOCATION "+literal(dir(n)))
	}
	tables, err := d.create()
	return append(all, tables...), err
}
