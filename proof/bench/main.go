//go:build linux

// Command bench measures Filewise's own costs: the driver's loop against a session that does nothing, and a trial
// against the fake engine. Its commands measure driving and loading orders against the servers' own clients, sampling a
// trial, and the gain from exchange's connections. Others measure how far counters are from an independent reader's,
// how certain default runs are, and how much backup tuning and capture are worth. It exits with 1 if a target is
// missed. The README lists the measurements and their methods.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"text/tabwriter"
	"time"

	"filewise"
	"filewise/lab/probe"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) // so that nothing is left
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// row holds one figure of the table.
type row struct {
	what   string
	value  string
	target string // empty means the figure is for comparison only
	ok     bool
}

// commands holds the commands by name, except the default one.
var commands = map[string]command{
	"agree": runAgree, "sampling": runSampling,
	"drive-postgres": drivePeer(postgresPeer), "load-postgres": loadPeer(postgresPeer),
	"drive-mariadb": drivePeer(mariaPeer), "load-mariadb": loadPeer(mariaPeer), "hotpath": runHotPath,
	"decide": runDecide, "backup-tuning": runBackupTuning, "capture": runCapture,
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) > 0 {
		if command := commands[args[0]]; command != nil {
			return command(ctx, args[1:], stdout)
		}
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	repeats := flags.Int("repeats", 7, "`times` that everything is measured; the median counts")
	ops := flags.Int64("ops", 2_000_000, "`operations` of one measurement of the loop")
	blocks := flags.Int("blocks", 20, "`blocks` of the experiment in virtual time")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *repeats < 1 || *ops < 100_000 || *blocks < 3 {
		return fmt.Errorf("at least 1 repeat, 100000 ops and 3 blocks, not %d, %d and %d", *repeats, *ops, *blocks)
	}
	machine := probe.NewSet(probe.System(nil)...)
	before := machine.Read(ctx)
	var rows []row
	for _, measure := range []func() ([]row, error){
		func() ([]row, error) { return loopRows(ctx, *repeats, *ops) },
		func() ([]row, error) { return pacingRows(ctx) },
		func() ([]row, error) { return trialRows(ctx, *blocks) },
	} {
		more, err := measure()
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	if others, ok := othersShare(machine.Delta(before, machine.Read(ctx))); ok {
		rows = append(rows, row{what: "CPU taken by other processes during it", value: fmt.Sprintf("%.0f %%", others)})
	}
	return print(stdout, rows)
}

// othersShare returns other processes' share of processor time, in percent. If it exceeds a few percent, the table's
// wall times are too long.
func othersShare(deltas []filewise.Delta) (percent float64, ok bool) {
	busy, known := probe.Find(deltas, "cpu", probe.BusyShare)
	user, knownUser := probe.Find(deltas, "process", "user")
	system, knownSystem := probe.Find(deltas, "process", "system")
	var all float64
	for _, d := range deltas {
		if d.Probe == "cpu" && d.Unit == "s" {
			all += d.Value
		}
	}
	if !known || !knownUser || !knownSystem || all <= 0 {
		return 0, false
	}
	return max(busy-100*(user+system)/all, 0), true
}

// print writes the table and returns an error that names the missed targets.
func print(w io.Writer, rows []row) error {
	fmt.Fprintf(w, "%s, %s %s/%s, %d processors\n\n", time.Now().UTC().Format(time.DateOnly),
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "what\tmeasured\ttarget\t")
	missed := 0
	for _, r := range rows {
		mark := ""
		if r.target != "" && !r.ok {
			mark, missed = "MISSED", missed+1
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", r.what, r.value, r.target, mark)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if missed > 0 {
		return fmt.Errorf("%d of the targets are missed", missed)
	}
	return nil
}
