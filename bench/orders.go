//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"filewise"
	"filewise/drive"
	"filewise/experiment"
	"filewise/workload"
)

// What is shared by the figures of workload orders, on whatever engine.

// peerFlags are those of both commands.
type peerFlags struct {
	*flag.FlagSet
	rounds, warehouses *int
	scale              *float64
	dir                *string
}

func newPeerFlags(name string, rounds, warehouses int, scale float64) peerFlags {
	f := flag.NewFlagSet("bench "+name, flag.ContinueOnError)
	return peerFlags{f, f.Int("rounds", rounds, "`times` that both are measured, interleaved; the median of the ratios counts"),
		f.Int("warehouses", warehouses, "`number` of warehouses"), f.Float64("scale", scale, "customers and items by the specification's"),
		f.String("dir", ".", "`directory` on the storage in question, where a scratch directory is made")}
}

func (f peerFlags) parse(args []string) error {
	if err := f.Parse(args); err != nil {
		return err
	}
	if *f.rounds < 1 || *f.warehouses < 1 || !(*f.scale > 0 && *f.scale <= 1) || f.NArg() > 0 {
		return fmt.Errorf("at least 1 round and 1 warehouse, a scale above 0 and up to 1, and no further arguments")
	}
	return nil
}

// driven has all connections of the workload's first phase work for a while.
func driven(ctx context.Context, db *filewise.Database, w filewise.Workload, window time.Duration) (work, error) {
	phase := w.Program().Phases[0]
	return bySelf(func() (float64, error) {
		sessions, err := experiment.Connect(ctx, firstPhase{db.Connector.(filewise.PhaseConnector)}, phase.Connections)
		if err != nil {
			return 0, errors.Join(err, experiment.CloseAll(sessions))
		}
		result, err := drive.Run(ctx, drive.Load{Sessions: sessions, Window: window, Chunk: 1, Multiple: 1, Live: new(drive.Live),
			Retry: w.Program().Retry, Types: phase.Types, TypeOf: phase.Args.(filewise.TypedArgs).TypeOf})
		return float64(result.Ledger.Total()), errors.Join(err, experiment.CloseAll(sessions))
	})
}

type firstPhase struct{ filewise.PhaseConnector }

// Connect opens the connection of a worker.
func (c firstPhase) Connect(ctx context.Context, worker int) (filewise.Session, error) {
	return c.ConnectPhase(ctx, 0, worker)
}

// loaded loads the workload's data as an experiment does, indexes included, and
// returns the number of rows.
func loaded(ctx context.Context, db *filewise.Database, w filewise.Workload) (rows float64, err error) {
	tables := w.(filewise.Loadable).Data()
	for _, t := range tables {
		rows += float64(t.Rows)
	}
	return rows, experiment.Load(ctx, db.Bulk, tables)
}

// generated is what generating the same rows takes, written to nowhere.
func generated(w filewise.Workload) (work, error) {
	return bySelf(func() (rows float64, err error) {
		for _, t := range w.(filewise.Loadable).Data() {
			rows += float64(t.Rows)
			for batch := range t.Batches {
				if err := t.Write(batch, nowhere{}); err != nil {
					return 0, err
				}
			}
		}
		return rows, nil
	})
}

// nowhere is a RowWriter that keeps nothing.
type nowhere struct{}

func (nowhere) Int(int64)     {}
func (nowhere) Float(float64) {}
func (nowhere) Text([]byte)   {}
func (nowhere) Null()         {}
func (nowhere) EndRow() error { return nil }

// writeTables writes the workload's rows into a file for each table, TABLE.tsv:
// columns divided by tabs, NULL as \N, which COPY and LOAD DATA read alike.
func writeTables(w filewise.Workload, dir string) error {
	for _, t := range w.(filewise.Loadable).Data() {
		if err := writeTable(t, tableFile(dir, t.Table)); err != nil {
			return fmt.Errorf("%s: %w", t.Table, err)
		}
	}
	return nil
}

func tableFile(dir, table string) string { return filepath.Join(dir, table+".tsv") }

func writeTable(t filewise.TableData, path string) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	to := &lines{to: bufio.NewWriterSize(f, 1<<20)}
	for batch := range t.Batches {
		if err := t.Write(batch, to); err != nil {
			return err
		}
	}
	return to.to.Flush()
}

// lines are a RowWriter of text. Texts of orders are letters, digits and blanks.
type lines struct {
	to  *bufio.Writer
	row []byte
}

func (l *lines) Int(v int64)     { l.row = append(strconv.AppendInt(l.row, v, 10), '\t') }
func (l *lines) Float(v float64) { l.row = append(strconv.AppendFloat(l.row, v, 'g', -1, 64), '\t') }
func (l *lines) Text(v []byte)   { l.row = append(append(l.row, v...), '\t') }
func (l *lines) Null()           { l.row = append(l.row, `\N`+"\t"...) }

// EndRow writes the row, with a line's end in the place of its last tab.
func (l *lines) EndRow() error {
	l.row[len(l.row)-1] = '\n'
	_, err := l.to.Write(l.row)
	l.row = l.row[:0]
	return err
}

// newOrders is the workload at a size, on so many connections.
func newOrders(warehouses int, scale float64, connections int) (filewise.Workload, error) {
	return workload.NewOrders(workload.Params{Connections: connections, Warehouses: warehouses, Scale: scale}, 1)
}

// finishing are, for each of the workload's tables, the statements that make its
// indexes and statistics, which have its quoted name.
func finishing(w filewise.Workload, finish []string, names func(table, statement string) bool) [][]string {
	var ends [][]string
	for _, t := range w.(filewise.Loadable).Data() {
		var end []string
		for _, statement := range finish {
			if names(t.Table, statement) {
				end = append(end, statement)
			}
		}
		ends = append(ends, end)
	}
	return ends
}

// loadedBy loads every table by a peer, the largest first, several at a time, and
// then finishes them likewise. Client executes statements.
func loadedBy(ctx context.Context, w filewise.Workload, load func(filewise.TableData) string, ends [][]string,
	client func(ctx context.Context, statements []string) (work, error)) (all work, err error) {
	start := time.Now()
	data := w.(filewise.Loadable).Data()
	var loads [][]string
	for _, i := range []int{6, 8, 2, 3, 5, 4, 7, 1, 0} {
		loads = append(loads, []string{load(data[i])})
		all.ops += float64(data[i].Rows)
	}
	for _, step := range [][][]string{loads, ends} {
		cpu, err := together(ctx, step, client)
		if err != nil {
			return all, err
		}
		all.cpu += cpu
	}
	all.wall = time.Since(start)
	return all, nil
}

// together has a client execute each list of statements, several at a time.
func together(ctx context.Context, lists [][]string, client func(ctx context.Context, statements []string) (work, error)) (cpu time.Duration, err error) {
	eg, ctx := errgroup.WithContext(ctx)
	eg.SetLimit(loaders())
	took := make([]time.Duration, len(lists))
	for i, statements := range lists {
		if len(statements) > 0 {
			eg.Go(func() error {
				w, err := client(ctx, statements)
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
