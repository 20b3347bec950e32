//go:build linux

package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filewise"
	"filewise/lab/drive"
	"filewise/lab/experiment"
	"filewise/lab/probe"
)

// maxApart limits the difference between Filewise's counters and an independent reader's, in percent, over a window of
// at least leastWindow.
const (
	maxApart    = 2.0
	leastWindow = 30 * time.Second
	// leastMoved is the least change of a counter to compare. Below it, one event between the two readings exceeds the
	// limit.
	leastMoved = 200
)

// counter names one of Filewise's counters: its probe, its name, and the file's name without the directory, since
// programs show different parts of the directory.
type counter struct{ probe, name, file string }

// reader reads counters with an independent program.
type reader func(context.Context) (map[counter]float64, error)

type opener func(ctx context.Context, given agreement) (*agreement, error)

// agreeing lists the comparisons of counters, in their order.
var agreeing = []struct {
	name string
	open opener
}{
	{"mariadb", agreeMariaDB},
	{"mariadb-processes", agreeManaged("mariadb", func(_ agreement, _ *insertsBuild, pid int) reader {
		return allOf(readSystem, readTree(filewise.ProbeServer, pid))
	})},
	{"postgres", agreeManaged("postgres", func(a agreement, _ *insertsBuild, pid int) reader {
		return allOf(readSystem, readTree(filewise.ProbeServer, pid), readPostgres(a.bin, pid))
	})},
	{"sqlite", agreeManaged("sqlite", func(_ agreement, b *insertsBuild, pid int) reader {
		return allOf(readSystem, readProcess("process", pid), readSizes(b.scratch))
	})},
}

// agreement is a build whose counters both readers read.
type agreement struct {
	dir, bin string // given
	db       *filewise.Database
	workload filewise.Workload
	system   []filewise.Probe
	theirs   reader
	close    func() error
}

// runAgree is the command agree.
func runAgree(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("bench agree", flag.ContinueOnError)
	dir := flags.String("dir", ".", "`directory` on the storage in question, where a scratch directory is made")
	window := flags.Duration("window", leastWindow, "`time` that counters are compared over")
	only := flags.String("only", "", "`names` to compare, of mariadb, mariadb-processes, postgres and sqlite (default all)")
	bin := flags.String("bin", "/usr/lib/postgresql/15/bin", "`directory` of psql")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *window < leastWindow || flags.NArg() > 0 {
		return fmt.Errorf("a window of at least %v, and no further arguments", leastWindow)
	}
	var rows []row
	for _, x := range agreeing {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), x.name) {
			continue
		}
		found, err := agreeOn(ctx, x.open, agreement{dir: *dir, bin: *bin}, *window)
		if err != nil {
			return fmt.Errorf("%s: %w", x.name, err)
		}
		for _, r := range found {
			r.what = x.name + ": " + r.what
			rows = append(rows, r)
		}
	}
	return print(stdout, rows)
}

func agreeOn(ctx context.Context, open opener, given agreement, window time.Duration) (rows []row, err error) {
	a, err := open(ctx, given)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	return a.over(ctx, window)
}

// over works for a window, and has both readers read at its edges, one right after the other. On a server, the second
// reader's own session is in neither difference twice, since that reader comes last.
func (a *agreement) over(ctx context.Context, window time.Duration) ([]row, error) {
	program := a.workload.Program()
	sessions, err := experiment.Connect(ctx, a.db, 0, program.Connections())
	defer func() { _ = experiment.CloseAll(sessions) }()
	if err != nil {
		return nil, err
	}
	if _, err := a.theirs(ctx); err != nil { // loads its programs into memory, which would be I/O between the two readings
		return nil, err
	}
	set := probe.NewSet(slices.Concat(a.db.Probes, a.system)...)
	var ours [2]probe.Snapshot
	var readings [2]map[counter]float64
	var errs []error
	_, err = drive.Run(ctx, drive.Load{Sessions: sessions, Window: window, WarmUp: time.Second, Chunk: cmp.Or(a.db.Chunk, 10),
		Multiple: int64(program.First().CommitEvery), Live: new(drive.Live),
		Retry: program.Retry, Edge: func(ctx context.Context, e drive.Edge) {
			ours[e] = set.Read(ctx)
			found, err := a.theirs(ctx)
			readings[e], errs = found, append(errs, err)
		}})
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	rows := compared(set.Delta(ours[0], ours[1]), readings)
	if len(rows) == 0 {
		return nil, errors.New("the two have no counter in common that moved")
	}
	return rows, nil
}

func compared(deltas []filewise.Delta, theirs [2]map[counter]float64) []row {
	var rows []row
	for _, d := range deltas {
		key := counter{d.Probe, d.Name, d.File}
		if d.File != "" {
			key.file = filepath.Base(d.File)
		}
		before, ok := theirs[0][key]
		after, ok2 := theirs[1][key]
		moved := after - before
		if !ok || !ok2 || moved < leastMoved && d.Unit != "s" || moved < 1 {
			continue
		}
		apart := 100 * math.Abs(d.Value-moved) / moved
		rows = append(rows, row{strings.TrimSpace(fmt.Sprintf("%s, %s, %s %s", d.Probe, d.Name, d.Unit, key.file)),
			fmt.Sprintf("%.6g · %.6g: %.2f %% apart", d.Value, moved, apart),
			fmt.Sprintf("≤ %.0f %%", maxApart), apart <= maxApart})
	}
	return rows
}

// agreeMariaDB has the server's own client, in another account's session, print status and performance_schema.
func agreeMariaDB(ctx context.Context, a agreement) (_ *agreement, err error) {
	// With a small buffer pool and log, pages are written to their files during the work.
	p, err := openPeer(ctx, mariaPeer, a.dir, a.bin, "--performance-schema=ON", "--innodb-buffer-pool-size=64M", "--innodb-log-file-size=32M")
	if err != nil {
		return nil, err
	}
	a.close = p.close
	if a.workload, err = newInserts(4, 400); err == nil {
		layout := filewise.Layout{Name: filewise.FilesName(2), Kind: filewise.KindPartitions,
			Data: filewise.Spread{Files: 2, Bytes: 128 << 20, Allocation: filewise.Growing, Placement: filewise.PlaceOne}}
		a.db, err = p.server.Build(ctx, layout, a.workload.Program())
	}
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	a.system = probe.System([]filewise.Volume{{Name: "default", Dir: p.scratch}})
	a.theirs = allOf(readSystem, p.readStatus, p.readFiles)
	return &a, nil
}

// agreeManaged makes a build on a managed server, whose counters theirs reads by the server's process.
func agreeManaged(engine string, theirs func(a agreement, b *insertsBuild, pid int) reader) opener {
	return func(ctx context.Context, a agreement) (*agreement, error) {
		b, err := buildInserts(ctx, engines[engine], a.dir, filewise.DurabilityFull, 400)
		if err != nil {
			return nil, err
		}
		pid := os.Getpid() // without a server, the build is in this process; its children do not count
		if b.target.Mode == filewise.Managed {
			pid, err = serverPID()
		}
		if err != nil {
			return nil, errors.Join(err, b.Close())
		}
		a.theirs, a.db, a.workload, a.system, a.close = theirs(a, b, pid), b.db, b.workload, probe.System(b.target.Volumes), b.Close
		return &a, nil
	}
}
