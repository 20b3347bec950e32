//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/drive"
	"filewise/experiment"
	"filewise/probe"
	"filewise/workload"
)

// maxApart is how far Filewise's counters may be from an independent reader's, in
// percent, over a window of at least leastWindow.
const (
	maxApart    = 2.0
	leastWindow = 30 * time.Second
	// leastMoved is what a counter must have moved by to be compared: below, one
	// event between the two readings is more than the limit.
	leastMoved = 200
)

// reader reads counters by a program of its own: by Filewise's probe and name.
type reader func(context.Context) (map[[2]string]float64, error)

// runAgree is the command agree.
func runAgree(ctx context.Context, args []string, stdout io.Writer) (err error) {
	flags := flag.NewFlagSet("bench agree", flag.ContinueOnError)
	dir := flags.String("dir", ".", "`directory` on the storage in question, where a scratch directory is made")
	window := flags.Duration("window", leastWindow, "`time` that counters are compared over")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *window < leastWindow || flags.NArg() > 0 {
		return fmt.Errorf("a window of at least %v, and no further arguments", leastWindow)
	}
	b, err := openMaria(ctx, *dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	w, err := workload.NewInserts(workload.Params{Connections: 4, RowBytes: 400, CommitEvery: 1, Table: workload.TableShared, Key: workload.KeySequential}, 1)
	if err != nil {
		return err
	}
	layout := filewise.Layout{Name: filewise.FilesName(2), Kind: filewise.KindPartitions, Data: filewise.Spread{Files: 2, Bytes: 128 << 20, Allocation: filewise.Growing, Placement: filewise.PlaceOne}}
	db, err := b.server.Build(ctx, layout, w.Program())
	if err != nil {
		return err
	}
	theirs := allOf(b.readStatus, readSystem)
	rows, err := agreed(ctx, db, w, probe.System([]filewise.Volume{{Name: "default", Dir: b.scratch}}), *window, theirs)
	if err != nil {
		return err
	}
	return print(stdout, rows)
}

// agreed works for a window, and has both read at its edges, one right after the other.
func agreed(ctx context.Context, db *filewise.Database, w filewise.Workload, system []filewise.Probe, window time.Duration, theirs reader) ([]row, error) {
	sessions, err := experiment.Connect(ctx, db.Connector, w.Program().Connections)
	defer func() { _ = experiment.CloseAll(sessions) }()
	if err != nil {
		return nil, err
	}
	if _, err := theirs(ctx); err != nil { // its programs are in memory then: loading them would be I/O between the two
		return nil, err
	}
	set := probe.NewSet(slices.Concat(db.Probes, system)...)
	var ours [2]probe.Snapshot
	var readings [2]map[[2]string]float64
	var errs []error
	_, err = drive.Run(ctx, drive.Load{Sessions: sessions, Window: window, WarmUp: time.Second, Chunk: db.Chunk, Multiple: int64(w.Program().CommitEvery), Live: new(drive.Live),
		Retry: w.Program().Retry, Edge: func(ctx context.Context, e drive.Edge) {
			ours[e] = set.Read(ctx)
			found, err := theirs(ctx)
			readings[e], errs = found, append(errs, err)
		}})
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	return compared(set.Delta(ours[0], ours[1]), readings), nil
}

func compared(deltas []filewise.Delta, theirs [2]map[[2]string]float64) []row {
	var rows []row
	for _, d := range deltas {
		key := [2]string{d.Probe, d.Name}
		before, ok := theirs[0][key]
		after, ok2 := theirs[1][key]
		moved := after - before
		unit := d.Unit
		if !ok || !ok2 || d.File != "" || moved < leastMoved && unit != "s" || moved < 1 {
			continue
		}
		apart := 100 * math.Abs(d.Value-moved) / moved
		rows = append(rows, row{fmt.Sprintf("%s, %s, %s", d.Probe, d.Name, unit), fmt.Sprintf("%.6g · %.6g: %.2f %% apart", d.Value, moved, apart),
			fmt.Sprintf("≤ %.0f %%", maxApart), apart <= maxApart})
	}
	return rows
}

func allOf(readers ...reader) reader {
	return func(ctx context.Context) (map[[2]string]float64, error) {
		all := map[[2]string]float64{}
		for _, r := range readers {
			found, err := r(ctx)
			if err != nil {
				return nil, err
			}
			for k, v := range found {
				all[k] = v
			}
		}
		return all, nil
	}
}

// readStatus has the server's own client print the status.
func (b *mariaBench) readStatus(ctx context.Context) (map[[2]string]float64, error) {
	_, out, err := b.client(ctx, "", "SHOW GLOBAL STATUS")
	all := map[[2]string]float64{}
	for line := range strings.Lines(string(out)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if x, err := strconv.ParseFloat(value, 64); err == nil {
			all[[2]string{"mariadb", name}] = x
		}
	}
	return all, err
}

// systemScript prints by awk, in Filewise's names and units, what the kernel counts.
const systemScript = `$1 == "cpu" { for (i = 2; i <= 9; i++) { split("user nice system idle iowait irq softirq steal", n, " "); print "cpu|" n[i-1] "|" $i / 100 } }
FILENAME == "/proc/diskstats" { print "disk|" $3 " reads|" $4; print "disk|" $3 " bytes read|" $6 * 512; print "disk|" $3 " writes|" $8
  print "disk|" $3 " bytes written|" $10 * 512; print "disk|" $3 " write time|" $11; print "disk|" $3 " busy time|" $13; print "disk|" $3 " flushes|" $19 }`

// readSystem has awk read /proc.
func readSystem(ctx context.Context) (map[[2]string]float64, error) {
	out, err := exec.CommandContext(ctx, "awk", "-v", "CONVFMT=%.15g", "-v", "OFMT=%.15g", systemScript, "/proc/stat", "/proc/diskstats").Output()
	all := map[[2]string]float64{}
	for line := range strings.Lines(string(out)) {
		if f := strings.Split(strings.TrimSpace(line), "|"); len(f) == 3 {
			if x, err := strconv.ParseFloat(f[2], 64); err == nil {
				all[[2]string{f[0], f[1]}] = x
			}
		}
	}
	return all, err
}
