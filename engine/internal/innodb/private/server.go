package private

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"filewise"
	"filewise/engine/internal/innodb"
)

// privateServer is the opened target. Every build has a server process of its
// own, since the files of the system tablespace are decided when it is created.
type privateServer struct {
	target  filewise.Target
	product *Product
	install Install
	facts   []filewise.Fact
	// templates of the builds; nil: each is created by the server.
	templates *templates

	mu    sync.Mutex
	lives map[*instance]int // builds that are not dropped, with their numbers
}

// Open finds the server and tries it: a small server with the user's settings is
// created, started, asked for its effective settings, and ended. What would fail
// later fails here.
func (p *Product) Open(ctx context.Context, t filewise.Target) (filewise.Server, error) {
	in, err := p.Find(ctx, t.ServerBin)
	if err != nil {
		return nil, err
	}
	s := &privateServer{product: p, target: t, install: in, lives: map[*instance]int{}}
	var tried bool
	if s.facts, tried = p.tried.facts(s); !tried {
		if s.facts, err = s.try(ctx); err != nil {
			return nil, s.blame(ctx, err)
		}
		p.tried.note(s)
	}
	s.templates = p.newTemplates()
	return s, nil
}

// blame finds the user's setting without which a server starts, for messages
// that name none ("Invalid page size=5120"). Without such a one the error stands.
func (s *privateServer) blame(ctx context.Context, err error) error {
	if filewise.CodeOf(err) == filewise.CodeUsage || ctx.Err() != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(s.target.Settings)) {
		without := &privateServer{product: s.product, target: s.target, install: s.install, lives: map[*instance]int{}}
		without.target.Settings = maps.Clone(s.target.Settings)
		delete(without.target.Settings, name)
		if _, still := without.try(ctx); still == nil {
			return s.product.refused(s.install, s.target, name, err)
		}
	}
	return err
}

// try runs the smallest server on the target.
func (s *privateServer) try(ctx context.Context) (facts []filewise.Fact, err error) {
	i, err := s.launch(ctx, func(n int) (*design, error) {
		return s.product.newDesign(s.target, filewise.Layout{Name: "trial start", Kind: filewise.KindPerTable, Data: filewise.Spread{Files: 1}}, trialStart, n)
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.drop(i)) }()
	return i.readFacts(ctx)
}

// trialStart is a program that is never run.
var trialStart = filewise.Program{Workload: "inserts", Connections: 1, CommitEvery: 1}

// launch creates a build's files and starts its server. Nothing is left of one
// that fails.
func (s *privateServer) launch(ctx context.Context, layOut func(n int) (*design, error)) (*instance, error) {
	i, err := s.register(layOut)
	if err != nil {
		return nil, err
	}
	if err = s.create(ctx, i); err == nil {
		err = i.start(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.drop(i))
	}
	return i, nil
}

// register makes the directories of a build, under the first number that is free.
func (s *privateServer) register(layOut func(n int) (*design, error)) (*instance, error) {
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
	d, err := layOut(n)
	if err != nil {
		return nil, err
	}
	if err := d.checkLimits(); err != nil {
		return nil, err
	}
	i, err := newInstance(s.install, d)
	if err == nil {
		s.lives[i] = n
	}
	return i, err
}

// drop ends a build's server and removes its files; twice is harmless. What the
// server still had to write is thrown away with the files.
func (s *privateServer) drop(i *instance) error {
	i.kill()
	err := i.remove()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.lives, i)
	return err
}

// Close ends and removes what was built and not dropped.
func (s *privateServer) Close() error {
	s.mu.Lock()
	var left []*instance
	for i := range s.lives {
		left = append(left, i)
	}
	s.mu.Unlock()
	var errs []error
	for _, i := range left {
		errs = append(errs, s.drop(i))
	}
	return errors.Join(errs...)
}

// Facts are those of the trial start, with the version and the binary.
func (s *privateServer) Facts(context.Context) ([]filewise.Fact, error) { return s.facts, nil }

// Offers says why a capability is absent.
func (s *privateServer) Offers() map[filewise.Capability]error {
	all := map[filewise.Capability]error{
		filewise.CanPreallocate: nil, // kind system; the other kinds are refused with the reason
		filewise.CanGrow:        nil,
		filewise.CanVolumes:     nil,
		filewise.CanRestart:     nil,
		filewise.CanReset:       nil,
		filewise.CanAddLater:    nil, // kinds system and partitions; what they cannot is refused with the reason
		filewise.CanLogApart:    nil,
		filewise.CanIndexApart:  innodb.CheckIndexes(filewise.Layout{Indexes: filewise.IndexesApart}),
		filewise.CanBulk:        nil,
		filewise.CanBackup:      s.product.checkBackup(s.target),
		filewise.CanTemp:        s.product.checkTemp(),
		filewise.CanWaits:       nil,
		filewise.CanFileIO:      nil,
	}
	if !instrumented(s.target) {
		all[filewise.CanFileIO] = filewise.Errorf(filewise.CodeUsage, "leave it out", "%s: %w", noInstruments, filewise.ErrUnsupported)
	}
	return all
}

// Build creates a server with the layout's files, and the program's tables.
func (s *privateServer) Build(ctx context.Context, l filewise.Layout, p filewise.Program) (_ *filewise.Database, err error) {
	i, err := s.launch(ctx, func(n int) (*design, error) { return s.product.newDesign(s.target, l, p, n) })
	if err != nil {
		return nil, err
	}
	create, err := i.design.create()
	if err == nil {
		err = i.exec(ctx, create...)
	}
	if err != nil {
		return nil, errors.Join(err, s.drop(i))
	}
	return s.database(i), nil
}

// database is a build as the layers above see it.
func (s *privateServer) database(i *instance) *filewise.Database {
	reset := &resetter{instance: i}
	return &filewise.Database{
		Observer: observer{i}, Connector: innodb.Connector{Host: i, Schema: i.design.schema}, Settler: settler{i}, Querier: innodb.Querier{Host: i, Schema: i.design.schema},
		Dropper: dropper{s, i}, Restart: restarter{i}, Reset: reset, Lifecycle: lifecycle{i},
		Probes: i.probes(), Extender: i.extender(),
		Evict: evicter{i}, Bulk: i.loader(), Backup: s.backuper(i), First: i.first,
	}
}

type dropper struct {
	server   *privateServer
	instance *instance
}

// Drop ends the server and removes the build's directories.
func (d dropper) Drop(context.Context) error { return d.server.drop(d.instance) }
