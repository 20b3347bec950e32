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
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"filewise"
	"filewise/engine/mariadb"
	"filewise/experiment"
	"filewise/probe"
	"filewise/workload"
)

// The targets of a managed server.
const (
	maxProvision  = 3 * time.Second // beyond writing the files' bytes
	maxResetRatio = 1.3             // of a cp of the files written since the snapshot
)

// managedBench is what the figures of a managed server are measured with.
type managedBench struct {
	rounds  int
	bytes   int64 // of the data files of every layout
	load    int64 // payload of the loaded build
	work    int64 // payload between two resets
	dir     string
	server  filewise.Server
	inserts filewise.Workload
}

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
	b := &managedBench{rounds: *rounds, bytes: *size << 20, load: *size << 20 / 8, work: *size << 20 / 8}
	if b.dir, err = os.MkdirTemp(*dir, "filewise-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	if err := b.open(ctx); err != nil {
		return err
	}
	machine, start := probe.NewSet(probe.System(nil)...), time.Now()
	before := machine.Read(ctx)
	rows, err := b.rows(ctx)
	if err := errors.Join(err, b.server.Close()); err != nil {
		return err
	}
	if busy, ok := probe.Find(machine.Delta(before, machine.Read(ctx)), "cpu", probe.BusyShare); ok {
		rows = append(rows, row{what: fmt.Sprintf("processors busy over all %.0f s, other processes included", time.Since(start).Seconds()), value: fmt.Sprintf("%.0f %%", busy)})
	}
	return print(stdout, rows)
}

func (b *managedBench) open(ctx context.Context) (err error) {
	volume := filepath.Join(b.dir, "volume")
	if err := os.Mkdir(volume, 0o700); err != nil {
		return err
	}
	b.inserts, err = workload.NewInserts(workload.Params{Connections: 4, RowBytes: 1000, CommitEvery: 100,
		Table: workload.TableShared, Key: workload.KeySequential}, 1)
	if err != nil {
		return err
	}
	b.server, err = mariadb.Engine{}.Open(ctx, filewise.Target{Engine: "mariadb", Mode: filewise.Managed,
		Volumes: []filewise.Volume{{Name: "here", Dir: volume}}, Durability: filewise.DurabilityNormal})
	return err
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
	return b.server.Build(ctx, b.layout(files), experiment.Plan{Preload: b.load, Work: b.work}.Program(b.inserts))
}

// provisionRows measures how long it takes until a layout can be worked on,
// against writing its data files' bytes: every round measures both for every
// layout, in turn the one and the other first.
func (b *managedBench) provisionRows(ctx context.Context) (rows []row, err error) {
	counts := []int{1, 4, 16, 100}
	took := make(map[int][2][]time.Duration)
	for round := range b.rounds {
		for _, files := range counts {
			t := took[files]
			for half := range 2 {
				which := (round + half) % 2
				var d time.Duration
				if which == 0 {
					d, err = b.provision(ctx, files)
				} else {
					d, err = b.plain(files)
				}
				if err != nil {
					return nil, fmt.Errorf("%s: %w", filewise.FilesName(files), err)
				}
				t[which] = append(t[which], d)
			}
			took[files] = t
		}
	}
	for _, files := range counts {
		var beyond []time.Duration
		for i, d := range took[files][0] {
			beyond = append(beyond, d-took[files][1][i])
		}
		rows = append(rows,
			row{fmt.Sprintf("provision %s of %d MiB, beyond writing the bytes", filewise.FilesName(files), b.bytes>>20), spread(beyond), fmt.Sprintf("≤ %.0f s", maxProvision.Seconds()), median50(beyond) <= maxProvision},
			row{what: "  all of it · plain writes and sync", value: fmt.Sprintf("%s · %s", spread(took[files][0]), spread(took[files][1]))})
	}
	return rows, nil
}

// provision builds a layout, as for a trial, and drops it untimed.
func (b *managedBench) provision(ctx context.Context, files int) (time.Duration, error) {
	unix.Sync() // nobody else's writes are waited for
	start := time.Now()
	db, err := b.build(ctx, files)
	if err != nil {
		return 0, err
	}
	took := time.Since(start)
	return took, db.Dropper.Drop(ctx)
}

// plain writes as many bytes into as many files and syncs them.
func (b *managedBench) plain(files int) (took time.Duration, err error) {
	dir := filepath.Join(b.dir, "plain")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	unix.Sync()
	buf := make([]byte, 1<<20)
	start := time.Now()
	for i, size := range b.layout(files).Data.Sizes(1 << 20) {
		if err := writeFile(filepath.Join(dir, fmt.Sprint(i)), size, buf); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
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

func median50(ds []time.Duration) time.Duration { return quantile(ds, 50) }

// spread is a median with the least and the most.
func spread(ds []time.Duration) string {
	return fmt.Sprintf("%s (%s … %s)", seconds(median50(ds)), seconds(slices.Min(ds)), seconds(slices.Max(ds)))
}

func seconds(d time.Duration) string {
	return strings.Replace(fmt.Sprintf("%.2f s", d.Seconds()), "-", "−", 1)
}
