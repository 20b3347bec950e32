//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/drive"
	"filewise/experiment"
	"filewise/workload"
)

// maxCrowdBytes is what this process may take with all connections open, after
// they have worked; with 2,000 of them it is the design's 200 MB.
const maxCrowdBytes = 200_000_000

// crowdOps is what every connection does before the memory is looked at again.
const crowdOps = 12

// runConnections is the command connections: many sessions on managed servers.
func runConnections(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("bench connections", flag.ContinueOnError)
	engines := flags.String("engines", "mariadb,postgres", "`names` of engines with managed servers")
	counts := flags.String("counts", "600,2000", "`numbers` of connections")
	dir := flags.String("dir", ".", "`directory` on the storage in question, where a scratch directory is made")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var numbers []int
	for text := range strings.SplitSeq(*counts, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > workload.MaxConnections {
			return fmt.Errorf("-counts %q: each is 1 to %d", *counts, workload.MaxConnections)
		}
		numbers = append(numbers, n)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("no further arguments: %q", flags.Args())
	}
	var rows []row
	for name := range strings.SplitSeq(*engines, ",") {
		for _, n := range numbers {
			more, err := crowd(ctx, name, *dir, n)
			if err != nil {
				return fmt.Errorf("%s, %d connections: %w; %s", name, n, err, filewise.RemedyOf(err))
			}
			rows = append(rows, more...)
		}
	}
	return print(stdout, rows)
}

// crowd measures n connections on one engine.
func crowd(ctx context.Context, name, dir string, n int) (_ []row, err error) {
	engine, ok := engines[name]
	if !ok {
		return nil, fmt.Errorf("there is no engine %q here", name)
	}
	if err := experiment.FitsOpenFiles(n); err != nil {
		return nil, err
	}
	s, err := openManaged(ctx, engine, dir, filewise.DurabilityNormal)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	w, err := newInserts(n, 200, crowdOps)
	if err != nil {
		return nil, err
	}
	db, err := s.Build(ctx, s.growing(1, 64<<20), w.Program())
	if err != nil {
		return nil, err
	}
	return crowdRows(ctx, name, db, w, n)
}

func crowdRows(ctx context.Context, name string, db *filewise.Database, w filewise.Workload, n int) ([]row, error) {
	what := func(text string) string { return fmt.Sprintf("%s, %d connections: %s", name, n, text) }
	heap, goroutines := inUse(), runtime.NumGoroutine()
	start := time.Now()
	sessions, err := experiment.Connect(ctx, db.Connector, 0, n)
	if err != nil {
		return nil, err
	}
	connecting := time.Since(start)
	idle := inUse() - heap
	ops := make([]int64, n)
	for i := range ops {
		ops[i] = crowdOps
	}
	result, err := drive.Run(ctx, drive.Load{Sessions: sessions, Ops: ops, Chunk: db.Chunk, Multiple: crowdOps, Retry: w.Program().Retry})
	worked := inUse()
	resident, known := residentBytes()
	start = time.Now()
	if err = errors.Join(err, experiment.CloseAll(sessions)); err != nil {
		return nil, err
	}
	closing := time.Since(start)
	if err := errors.Join(w.Check(ctx, db.Querier, 0, []filewise.Ledger{result.Ledger}), db.Dropper.Drop(ctx)); err != nil {
		return nil, err
	}
	rows := []row{
		{what: what("opened"), value: fmt.Sprintf("%.2f s, %.0f a second", connecting.Seconds(), float64(n)/connecting.Seconds())},
		{what: what("memory of an idle one"), value: fmt.Sprintf("%.1f KB", float64(idle)/float64(n)/1e3)},
		{what: what(fmt.Sprintf("%d rows, a transaction each", result.Ledger.Total())), value: fmt.Sprintf("%.2f s, failures %v",
			result.Measure.Window[1].Seconds(), result.Measure.Errors)},
		{what: what("memory in use after that"), value: fmt.Sprintf("%.0f MB", float64(worked)/1e6),
			target: fmt.Sprintf("< %d MB", maxCrowdBytes/1_000_000), ok: worked < maxCrowdBytes},
		{what: what("closed"), value: fmt.Sprintf("%.2f s, %d goroutines more than before", closing.Seconds(),
			max(settledGoroutines(goroutines)-goroutines, 0))},
	}
	if known {
		rows = append(rows, row{what("resident memory of this process"), fmt.Sprintf("%.0f MB", float64(resident)/1e6),
			fmt.Sprintf("< %d MB", maxCrowdBytes/1_000_000), resident < maxCrowdBytes})
	}
	return rows, nil
}

// inUse is the memory that Go programs hold: heap and stacks, garbage collected.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// settledGoroutines is the number of goroutines once those of closed connections
// have had a second to end.
func settledGoroutines(before int) int {
	for range 20 {
		if runtime.NumGoroutine() <= before {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return runtime.NumGoroutine()
}

// residentBytes is what this process has in memory, by /proc/self/statm
// (proc_pid_statm(5)): the second number, in pages.
func residentBytes() (int64, bool) {
	text, err := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize()), err == nil
}
