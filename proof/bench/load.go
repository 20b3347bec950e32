//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/lab/experiment"
	"filewise/lab/workload"
	"golang.org/x/sync/errgroup"
)

// The targets for loading orders.
const (
	minLoadRatio     = 0.8  // of the rate of the server's own client
	maxGenerateShare = 25.0 // percent of the client's processor time
)

// loadPeer returns a command that loads orders, and has the server's own client load them too.
func loadPeer(made *product) command {
	return func(ctx context.Context, args []string, stdout io.Writer) (err error) {
		f := newPeerFlags("load-"+made.engine.Name(), 3, 10, 1)
		if err := f.parse(args); err != nil {
			return err
		}
		w, err := newOrders(*f.warehouses, *f.scale, 8)
		if err != nil {
			return err
		}
		p, err := openPeer(ctx, made, *f.dir, *f.bin)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.close()) }()
		if err := writeTables(w, p.scratch); err != nil {
			return err
		}
		generate, err := bySelf(func() (float64, error) { return generated(w, func(string) filewise.RowWriter { return nowhere{} }) })
		if err != nil {
			return err
		}
		ours := func(ctx context.Context, db *filewise.Database) (work, error) {
			return bySelf(func() (float64, error) { return loaded(ctx, db, w) })
		}
		theirs := func(ctx context.Context, _ *filewise.Database) (work, error) { return p.loads(ctx, w) }
		d, err := interleaved(ctx, *f.rounds, p.onBuild(w, ours), p.onBuild(w, theirs))
		if err != nil {
			return err
		}
		shares := of(d.ours, func(w work) float64 { return 100 * generate.cpu.Seconds() / w.cpu.Seconds() })
		return print(stdout, []row{
			told(fmt.Sprintf("orders loaded by filewise, %.0f rows, rows a second", d.ours[0].ops), "%.0f", of(d.ours, rate)),
			told("  the same from ready-made files by "+p.loader, "%.0f", of(d.theirs, rate)),
			atLeast("  their ratio within a round", "%.2f", d.ratios(rate), minLoadRatio),
			atMost("  generating rows, of filewise's processor time", "%.0f %%", shares, maxGenerateShare),
			told("  processor time of filewise · "+p.loader, "%.1f s", of(d.ours, cpuSeconds), of(d.theirs, cpuSeconds)),
		})
	}
}

// onBuild returns a client that works on a new build with empty tables, and then drops the build.
func (p *peer) onBuild(w filewise.Workload, do func(context.Context, *filewise.Database) (work, error)) client {
	return func(ctx context.Context) (_ work, err error) {
		db, err := p.server.Build(ctx, p.layout, w.Program())
		if err != nil {
			return work{}, err
		}
		defer func() { err = errors.Join(err, db.Drop(ctx)) }()
		return do(ctx, db)
	}
}

// loads has the server's own clients load the same rows from files, the largest table first. As many clients work at a
// time as Filewise has loaders. Then it makes the same indexes and statistics.
func (p *peer) loads(ctx context.Context, w filewise.Workload) (all work, err error) {
	database, err := p.built(ctx)
	if err != nil {
		return work{}, err
	}
	finish, err := p.finishing(w, database)
	if err != nil {
		return work{}, err
	}
	start := time.Now()
	data := w.(filewise.Loadable).Data()
	var loads, ends [][]string
	for _, i := range []int{6, 8, 2, 3, 5, 4, 7, 1, 0} {
		t := data[i]
		loads = append(loads, []string{fmt.Sprintf(p.copied, t.Table, strings.Join(t.Columns, ", "), tableFile(p.scratch, t.Table))})
		ends = append(ends, finish[t.Table])
		all.ops += float64(t.Rows)
	}
	for _, step := range [][][]string{loads, ends} {
		cpu, err := p.together(ctx, database, step)
		if err != nil {
			return all, err
		}
		all.cpu += cpu
	}
	all.wall = time.Since(start)
	return all, nil
}

// finishing returns the statements of the engine's plan that make indexes and statistics, by table.
func (p *peer) finishing(w filewise.Workload, database string) (map[string][]string, error) {
	script, err := p.engine.Statements(p.target, p.layout, w.Program())
	if err != nil {
		return nil, err
	}
	planned := "" // the database's name in plans
	all := map[string][]string{}
	for _, s := range script.Steps {
		if name, ok := strings.CutPrefix(s.SQL, "CREATE DATABASE `"); ok {
			planned, _, _ = strings.Cut(name, "`")
		}
		verb, _, _ := strings.Cut(s.SQL, " ")
		if s.Stage != filewise.StageLoad || !strings.Contains("ALTER ANALYZE CREATE VACUUM", verb) {
			continue
		}
		text := s.SQL
		if planned != "" {
			text = strings.ReplaceAll(text, planned, database)
		}
		for _, t := range w.(filewise.Loadable).Data() {
			if p.isOf(t.Table, text) {
				all[t.Table] = append(all[t.Table], text)
			}
		}
	}
	return all, nil
}

// isOf reports whether a statement names a table, and not one with a longer name.
func (p *peer) isOf(table, statement string) bool {
	_, after, found := strings.Cut(statement, fmt.Sprintf(p.names, table))
	return found && (after == "" || strings.ContainsAny(after[:1], "` \",(;") || strings.HasSuffix(p.names, `"`))
}

// together has clients execute the lists of statements, several lists at a time.
func (p *peer) together(ctx context.Context, database string, lists [][]string) (cpu time.Duration, err error) {
	eg, ctx := errgroup.WithContext(ctx)
	eg.SetLimit(max(runtime.NumCPU(), 2))
	took := make([]time.Duration, len(lists))
	for i, statements := range lists {
		if len(statements) > 0 {
			eg.Go(func() error {
				w, _, err := p.execute(ctx, database, statements...)
				took[i] = w.cpu
				return err
			})
		}
	}
	err = eg.Wait()
	for _, t := range took {
		cpu += t
	}
	return cpu, err
}

// loaded loads the workload's data as an experiment does, indexes included. It returns the number of rows.
func loaded(ctx context.Context, db *filewise.Database, w filewise.Workload) (rows float64, err error) {
	tables := w.(filewise.Loadable).Data()
	for _, t := range tables {
		rows += float64(t.Rows)
	}
	return rows, experiment.Load(ctx, db.Bulk, tables)
}

// loadedBuild returns a build with the workload's data.
func loadedBuild(ctx context.Context, s filewise.Server, l filewise.Layout, w filewise.Workload) (*filewise.Database, error) {
	db, err := s.Build(ctx, l, w.Program())
	if err == nil {
		_, err = loaded(ctx, db, w)
	}
	return db, err
}

// generated writes the workload's rows, and returns their number.
func generated(w filewise.Workload, to func(table string) filewise.RowWriter) (rows float64, err error) {
	for _, t := range w.(filewise.Loadable).Data() {
		rows += float64(t.Rows)
		writer := to(t.Table)
		for batch := range t.Batches {
			if err := t.Write(batch, writer); err != nil {
				return 0, fmt.Errorf("%s: %w", t.Table, err)
			}
		}
	}
	return rows, nil
}

// nowhere is a RowWriter that keeps nothing.
type nowhere struct{}

func (nowhere) Int(int64)     {}
func (nowhere) Float(float64) {}
func (nowhere) Text([]byte)   {}
func (nowhere) Null()         {}
func (nowhere) EndRow() error { return nil }

// writeTables writes the workload's rows into one file per table, TABLE.tsv. Columns are separated by tabs, and NULL is
// \N, as COPY and LOAD DATA both expect.
func writeTables(w filewise.Workload, dir string) (err error) {
	var files []*lines
	_, err = generated(w, func(table string) filewise.RowWriter {
		f, openErr := os.Create(tableFile(dir, table))
		l := &lines{file: f, to: bufio.NewWriterSize(f, 1<<20), err: openErr}
		files = append(files, l)
		return l
	})
	for _, l := range files {
		err = errors.Join(err, l.to.Flush(), l.file.Close())
	}
	return err
}

func tableFile(dir, table string) string { return filepath.Join(dir, table+".tsv") }

// lines is a RowWriter of text. Texts of orders are letters, digits and blanks.
type lines struct {
	file *os.File
	to   *bufio.Writer
	err  error
	row  []byte
}

func (l *lines) Int(v int64)     { l.row = append(strconv.AppendInt(l.row, v, 10), '\t') }
func (l *lines) Float(v float64) { l.row = append(strconv.AppendFloat(l.row, v, 'g', -1, 64), '\t') }
func (l *lines) Text(v []byte)   { l.row = append(append(l.row, v...), '\t') }
func (l *lines) Null()           { l.row = append(l.row, `\N`+"\t"...) }

// EndRow ends the row with a newline in place of its last tab.
func (l *lines) EndRow() error {
	l.row[len(l.row)-1] = '\n'
	_, err := l.to.Write(l.row)
	l.row = l.row[:0]
	return errors.Join(l.err, err)
}

// newOrders returns the workload at a size, for a number of connections.
func newOrders(warehouses int, scale float64, connections int) (filewise.Workload, error) {
	return workload.NewOrders(workload.Params{Connections: connections, Warehouses: warehouses, Scale: scale}, 1)
}

// ordersSize holds other clients' parameters of the workload.
type ordersSize struct {
	connections                  int
	warehouses, customers, items int64
}

func sizeOf(w filewise.Workload) ordersSize {
	p := w.Program()
	n, _ := p.Params.(workload.OrdersSizes)
	return ordersSize{p.Connections(), n.Warehouses, n.Customers, n.Items}
}
