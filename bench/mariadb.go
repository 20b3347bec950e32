//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"filewise"
	"filewise/experiment"
	"filewise/probe"
)

// The targets of a managed server.
const (
	maxProvision  = 3.0 // seconds beyond writing the files' bytes
	maxResetRatio = 1.3 // of a cp of the files written since the snapshot
)

// managedBench is what the figures of a managed server are measured with.
type managedBench struct {
	*managed
	rounds  int
	bytes   int64 // of the data files of every layout
	inserts filewise.Workload
}

// part is the payload of the loaded build, and that between two resets.
func (b *managedBench) part() int64 { return b.bytes / 8 }

// runMariaDB is the command mariadb.
func runMariaDB(ctx context.Context, args []string, stdout io.Writer) (err error) {
	flags := flag.NewFlagSet("bench mariadb", flag.ContinueOnError)
	rounds := flags.Int("rounds", 7, "`times` that everything is measured, interleaved; the median counts")
	size := flags.Int64("size", 256, "`MiB` of data files of every layout")
	dir := flags.String("dir", ".", "`directory` on the storage in question, where a scratch directory is made")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *rounds < 1 || *size < 128 || flags.NArg() > 0 {
		return fmt.Errorf("at least 1 round and 128 MiB, and no further arguments")
	}
	b := &managedBench{rounds: *rounds, bytes: *size << 20}
	if b.inserts, err = newInserts(4, 1000, 100); err != nil {
		return err
	}
	if b.managed, err = openManaged(ctx, engines["mariadb"], *dir, filewise.DurabilityNormal); err != nil {
		return err
	}
	machine, start := probe.NewSet(probe.System(nil)...), time.Now()
	before := machine.Read(ctx)
	rows, err := b.rows(ctx)
	if err := errors.Join(err, b.Close()); err != nil {
		return err
	}
	if busy, ok := probe.Find(machine.Delta(before, machine.Read(ctx)), "cpu", probe.BusyShare); ok {
		rows = append(rows, row{value: fmt.Sprintf("%.0f %%", busy),
			what: fmt.Sprintf("processors busy over all %.0f s, other processes included", time.Since(start).Seconds())})
	}
	return print(stdout, rows)
}

func (b *managedBench) rows(ctx context.Context) ([]row, error) {
	provision, err := b.provisionRows(ctx)
	if err != nil {
		return nil, err
	}
	reset, err := b.resetRows(ctx)
	return append(provision, reset...), err
}

func (b *managedBench) layout(files int) filewise.Layout {
	return filewise.Layout{Name: filewise.FilesName(files), Kind: filewise.KindSystem, Rank: files, Data: filewise.Spread{
		Files: files, Bytes: b.bytes, Allocation: filewise.Preallocated, Placement: filewise.PlaceOne}}
}

func (b *managedBench) build(ctx context.Context, files int) (*filewise.Database, error) {
	return b.Build(ctx, b.layout(files), experiment.Plan{Preload: b.part(), Work: b.part()}.Program(b.inserts))
}

// provisionRows measures how long it takes until a layout can be worked on,
// against writing its data files' bytes: every round measures both for every
// layout, in turn the one and the other first.
func (b *managedBench) provisionRows(ctx context.Context) (rows []row, err error) {
	type took struct{ all, plain []float64 }
	counts := []int{1, 4, 16, 100}
	times := make([]took, len(counts))
	var things []func() error
	for i, files := range counts {
		things = append(things, into(&times[i].all, func() (float64, error) { return b.provision(ctx, files) }),
			into(&times[i].plain, func() (float64, error) { return b.plain(files) }))
	}
	if err := inTurn(b.rounds, things...); err != nil {
		return nil, err
	}
	for i, files := range counts {
		t, beyond := times[i], make([]float64, b.rounds)
		for k := range beyond {
			beyond[k] = t.all[k] - t.plain[k]
		}
		what := fmt.Sprintf("provision %s of %d MiB, beyond writing the bytes", filewise.FilesName(files), b.bytes>>20)
		rows = append(rows, atMost(what, "%.2f s", beyond, maxProvision), told("  all of it · plain writes and sync", "%.2f s", t.all, t.plain))
	}
	return rows, nil
}

// provision builds a layout, as for a trial, and drops it untimed.
func (b *managedBench) provision(ctx context.Context, files int) (float64, error) {
	unix.Sync() // nobody else's writes are waited for
	var db *filewise.Database
	took, err := seconds(func() (err error) { db, err = b.build(ctx, files); return err })
	if err != nil {
		return 0, err
	}
	return took, db.Dropper.Drop(ctx)
}

// plain writes as many bytes into as many files and syncs them.
func (b *managedBench) plain(files int) (took float64, err error) {
	dir := filepath.Join(b.scratch, "plain")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	unix.Sync()
	buf := make([]byte, 1<<20)
	return seconds(func() error {
		for i, size := range b.layout(files).Data.Sizes(1 << 20) {
			if err := writeFile(filepath.Join(dir, fmt.Sprint(i)), size, buf); err != nil {
				return err
			}
		}
		return nil
	})
}

func writeFile(path string, size int64, buf []byte) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for left := size; left > 0; left -= int64(len(buf)) {
		if _, err := f.Write(buf[:min(left, int64(len(buf)))]); err != nil {
			return err
		}
	}
	return f.Sync()
}
