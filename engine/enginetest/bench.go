package enginetest

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"filewise"
	"filewise/workload"
)

// bench is a server with two volumes in a directory of its own.
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
	b := &bench{t: t, s: s, dir: dir}
	var volumes []filewise.Volume
	for _, name := range []string{"a", "b"} {
		v := filewise.Volume{Name: name, Dir: filepath.Join(dir, name)}
		fatal(t, os.Mkdir(v.Dir, 0o755))
		fatal(t, os.WriteFile(filepath.Join(v.Dir, "of-the-user.txt"), []byte("mine"), 0o644))
		volumes = append(volumes, v)
	}
	before := b.listing()
	b.target = s.Target(volumes)
	var err error
	b.server, err = s.Engine.Open(context.Background(), b.target)
	fatal(t, err)
	t.Cleanup(func() {
		fatal(t, b.server.Close())
		if after := b.listing(); !slices.Equal(before, after) {
			t.Errorf("the volumes are not as before:\nbefore %v\nafter  %v", before, after)
		}
	})
	return b
}

// listing is every path under the volumes, with its size where it is a file.
func (b *bench) listing() []string {
	b.t.Helper()
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

func (b *bench) layout(files int) filewise.Layout {
	l := filewise.Layout{Name: filewise.FilesName(files), Kind: b.s.Kind, Rank: files,
		Data: filewise.Spread{Files: files, Bytes: b.s.Bytes, Allocation: filewise.Preallocated, Placement: filewise.PlaceOne}}
	if b.server.Offers()[filewise.CanPreallocate] != nil {
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
	b.t.Cleanup(func() { fatal(b.t, db.Dropper.Drop(context.Background())) })
	return db
}

// work lets all connections insert rows at the same time until they have done
// n each, or fail, or the context ends. It returns what they committed.
func (b *bench) work(ctx context.Context, db *filewise.Database, p filewise.Program, from filewise.Ledger, n int64) (filewise.Ledger, []error) {
	b.t.Helper()
	ledger := slices.Clone(from)
	if ledger == nil {
		ledger = make(filewise.Ledger, p.Connections)
	}
	errs := make([]error, p.Connections)
	var wg sync.WaitGroup
	for w := range p.Connections {
		s, err := db.Connector.Connect(context.Background(), w)
		fatal(b.t, err)
		defer func() { fatal(b.t, s.Close()) }()
		wg.Go(func() {
			for end := ledger[w] + n; ledger[w] < end && errs[w] == nil; {
				want := min(max(50, 2*int64(p.CommitEvery)), end-ledger[w])
				var done int64
				done, errs[w] = s.Do(ctx, ledger[w], want)
				if done < 0 || done > want || done < want && errs[w] == nil {
					errs[w] = fmt.Errorf("Do of %d operations reports %d without an error", want, done)
				}
				ledger[w] += done
			}
		})
	}
	wg.Wait()
	return ledger, errs
}

func (b *bench) check(db *filewise.Database, w filewise.Workload, l filewise.Ledger) {
	b.t.Helper()
	fatal(b.t, w.Check(context.Background(), db.Querier, l))
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
