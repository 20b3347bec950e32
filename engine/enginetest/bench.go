package enginetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"filewise"
	"filewise/lab/drive"
	"filewise/lab/experiment"
	"filewise/lab/workload"
)

// bench is a server with two volumes in a separate directory.
type bench struct {
	t      *testing.T
	s      Subject
	dir    string
	target filewise.Target
	server filewise.Server
}

// newBench opens the subject's engine. At the end of the test, the volumes must
// be as they were before the server was opened.
func newBench(t *testing.T, s Subject) *bench {
	t.Helper()
	dir, err := os.MkdirTemp("", "fw") // short: unix sockets have 108 bytes
	fatal(t, err)
	t.Cleanup(func() { fatal(t, os.RemoveAll(dir)) })
	return benchAt(t, s, dir)
}

func benchAt(t *testing.T, s Subject, dir string) *bench {
	t.Helper()
	return benchOn(t, s, dir, userVolumes(t, dir, "a", "b"))
}

// userVolumes are directories that hold something of the user's.
func userVolumes(t *testing.T, dir string, names ...string) []filewise.Volume {
	t.Helper()
	var volumes []filewise.Volume
	for _, name := range names {
		v := filewise.Volume{Name: name, Dir: filepath.Join(dir, name)}
		fatal(t, os.MkdirAll(v.Dir, 0o755))
		fatal(t, os.WriteFile(filepath.Join(v.Dir, "of-the-user.txt"), []byte("mine"), 0o644))
		volumes = append(volumes, v)
	}
	return volumes
}

func benchOn(t *testing.T, s Subject, dir string, volumes []filewise.Volume) *bench {
	t.Helper()
	b := &bench{t: t, s: s, dir: dir, target: s.Target(volumes)}
	before := b.listing()
	var err error
	b.server, err = s.Engine.Open(context.Background(), b.target)
	fatal(t, err)
	t.Cleanup(func() {
		fatal(t, b.server.Close())
		if after := b.listing(); !slices.Equal(before, after) {
			t.Errorf("%s is not as before:\nbefore %v\nafter  %v", b.place(), before, after)
		}
	})
	return b
}

// place is if the listing is of, for messages.
func (b *bench) place() string {
	if b.s.Foreign != nil {
		return "what else the server holds"
	}
	return "what the volumes hold"
}

// listing returns what must be the same before and after: every path under the
// volumes, with its size if it is a file; or of an external server, what is
// not Filewise's, and what Filewise has left.
func (b *bench) listing() []string {
	b.t.Helper()
	if b.s.Foreign != nil {
		return append(b.s.Foreign(b.t), b.leftovers()...)
	}
	var all []string
	err := filepath.WalkDir(b.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			all = append(all, path)
			return err
		}
		info, err := e.Info()
		if err == nil {
			all = append(all, fmt.Sprintf("%s %d", path, info.Size()))
		}
		return err
	})
	fatal(b.t, err)
	return all
}

// leftovers returns what an external server finds of earlier runs. It opens the target for that, because the bench's connection can be
// closed, or not open yet.
func (b *bench) leftovers() []string {
	s, err := b.s.Engine.Open(context.Background(), b.target)
	fatal(b.t, err)
	defer func() { fatal(b.t, s.Close()) }()
	c, ok := s.(filewise.ExternalServer)
	if !ok {
		return nil
	}
	left, err := c.Leftovers(context.Background())
	fatal(b.t, err)
	return filewise.Each(left, func(l filewise.Leftover) string { return "left by Filewise: " + l.Kind + " " + l.Name })
}

// offers reports whether the server offers a capability for the subject's kind.
func (b *bench) offers(c filewise.Capability) bool {
	return b.server.Offers()[c] == nil && !slices.Contains(b.s.Lacks, c)
}

// second returns the second volume's name; ok is false when there is only one.
func (b *bench) second() (name string, ok bool) {
	v := b.target.Volumes
	return v[len(v)-1].Name, len(v) > 1
}

func (b *bench) layout(files int) filewise.Layout {
	l := filewise.Layout{Name: filewise.FilesName(files), Kind: b.s.Kind, Rank: files,
		Data: filewise.Spread{Files: files, Bytes: b.s.Bytes, Allocation: filewise.Preallocated, Placement: filewise.PlaceOne}}
	if !b.offers(filewise.CanPreallocate) {
		l.Data.Allocation = filewise.Growing
	}
	return l
}

func params() workload.Params {
	return workload.Params{Connections: 5, RowBytes: 60, CommitEvery: 3,
		Table: workload.TableShared, Key: workload.KeySequential}
}

func (b *bench) workload(p workload.Params) filewise.Workload {
	b.t.Helper()
	w, err := workload.NewInserts(p, seed(b.t))
	fatal(b.t, err)
	return w
}

// build builds a layout and drops it at the end of the test.
func (b *bench) build(l filewise.Layout, w filewise.Workload) *filewise.Database {
	b.t.Helper()
	db, err := b.server.Build(context.Background(), l, w.Program())
	if err != nil {
		b.t.Fatalf("building %s: %v", l.Name, err)
	}
	b.t.Cleanup(func() { fatal(b.t, db.Drop(context.Background())) })
	return db
}

// work lets all connections insert rows at the same time until they have done
// n each, or fail, or the context ends. It returns what they committed.
func (b *bench) work(ctx context.Context, db *filewise.Database, p filewise.Program, from filewise.Ledger, n int64) (filewise.Ledger,
	[]error) {
	b.t.Helper()
	ledger := slices.Clone(from)
	if ledger == nil {
		ledger = make(filewise.Ledger, p.Connections())
	}
	errs := make([]error, p.Connections())
	var wg sync.WaitGroup
	for w := range p.Connections() {
		s, err := db.Connect(context.Background(), 0, w)
		fatal(b.t, err)
		defer func() { fatal(b.t, s.Close()) }()
		wg.Go(func() { ledger[w], errs[w] = workOne(ctx, s, p, ledger[w], n) })
	}
	wg.Wait()
	return ledger, errs
}

// workOne returns the work of one connection that has done some operations already.
func workOne(ctx context.Context, s filewise.Session, p filewise.Program, done, n int64) (int64, error) {
	for end := done + n; done < end; {
		want := min(max(50, 2*int64(p.First().CommitEvery)), end-done)
		did, err := s.Do(ctx, done, want)
		if did < 0 || did > want || did < want && err == nil {
			return done, fmt.Errorf("Do of %d operations reports %d with error %w", want, did, errOr(err, "none"))
		}
		done += did
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

func errOr(err error, text string) error {
	if err == nil {
		return errors.New(text)
	}
	return err
}

func (b *bench) check(db *filewise.Database, w filewise.Workload, l filewise.Ledger) {
	b.t.Helper()
	if l == nil {
		fatal(b.t, w.Check(context.Background(), db, filewise.AsLoaded, nil))
		return
	}
	fatal(b.t, w.Check(context.Background(), db, 0, []filewise.Ledger{l}))
}

func fatal(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func noErrors(t *testing.T, errs []error) {
	t.Helper()
	for w, err := range errs {
		if err != nil {
			t.Fatalf("connection %d: %v", w, err)
		}
	}
}

// leftAsIs checks that do changes nothing on the server or the volumes.
func (b *bench) leftAsIs(what string, do func()) {
	b.t.Helper()
	before := b.listing()
	do()
	if after := b.listing(); !slices.Equal(before, after) {
		b.t.Errorf("%s leaves something behind:\nbefore %q\nafter  %q", what, before, after)
	}
}

// covers reports whether the engine has the workload; one that it has not it must refuse.
func (b *bench) covers(l filewise.Layout, p filewise.Program) bool {
	b.t.Helper()
	_, err := b.s.Engine.Statements(b.target, l, p)
	if !errors.Is(err, filewise.ErrUnsupported) {
		return true
	}
	refused(b.t, b, l, p)
	b.t.Logf("%s is NOT covered: %v", p.Workload, err)
	return false
}

// driven has each connection of the first phase do the given number of operations one by one, all connections at the same
// time. Then it settles the database.
func (b *bench) driven(db *filewise.Database, p filewise.Program, each int64) drive.Result {
	b.t.Helper()
	ctx, phase := context.Background(), p.First()
	sessions, err := experiment.Connect(ctx, db, 0, phase.Connections)
	fatal(b.t, err)
	result, err := drive.Run(ctx, drive.Load{Sessions: sessions, Ops: slices.Repeat([]int64{each}, phase.Connections), Chunk: 1,
		Retry: p.Retry, Seed: seed(b.t), Types: phase.Types, TypeOf: phase.Args.(filewise.TypedArgs).TypeOf})
	fatal(b.t, errors.Join(err, experiment.CloseAll(sessions)))
	fatal(b.t, db.Settle(ctx))
	return result
}

// as returns the bench in the hands of a subtest.
func (b *bench) as(t *testing.T) *bench {
	sub := *b
	sub.t = t
	return &sub
}
