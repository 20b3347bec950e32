//go:build linux

// Command attack attacks filewise as accidents and adversaries do: with kills at random moments, storage that is full
// or goes away, clocks of another time, servers that die, and damaged files. It prints what was tried and what failed.
// README.md of bench has the newest table.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"filewise"
	"filewise/cmd/filewise/filewisetest"
)

func main() {
	apart()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
		os.Exit(1)
	}
}

// apart restarts this process in an IPC namespace of its own, in which no other process has shared memory segments.
// Segments that are left there are of this attack.
func apart() {
	const done = "ATTACK_APART"
	self, err := os.Executable()
	unshare, missing := exec.LookPath("unshare")
	if err != nil || missing != nil || os.Geteuid() != 0 || os.Getenv(done) != "" {
		return
	}
	args := append([]string{unshare, "--ipc", self}, os.Args[1:]...)
	if err := syscall.Exec(unshare, args, append(os.Environ(), done+"=1")); err != nil {
		fmt.Fprintln(os.Stderr, "attack: not isolated from other processes' shared memory:", err)
	}
}

// row describes one kind of attack.
type row struct {
	name, what string
	few, many  int // tries in the minute, and at most in the hour
	share      int // of the hour's time
	// try attacks once in its own place, or a few times and counts them.
	try func(*place) error
	// why returns the reason why the attack cannot be tried here. If nil, it always can.
	why func(context.Context, *attack) string
}

// attack holds what all rows share.
type attack struct {
	filewise string // path of the program
	dir      string // directory of all places
	seed     uint64
	fixture  *fixture
	progress io.Writer
}

// outcome holds a line of the table.
type outcome struct {
	row
	tried  int
	failed []string
	not    string // reason why it was not tried
	took   time.Duration
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("attack", flag.ContinueOnError)
	minutes := flags.Float64("minutes", 60, "`minutes` of all rows (0 runs the part that CI runs)")
	only := flags.String("only", "", "the rows alone whose names contain this `word`")
	seed := flags.Uint64("seed", 1, "`seed` of moments and damages")
	dir := flags.String("dir", "", "`directory` to work in (default the system's temporary one)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var chosen []row
	shares := 0
	for _, r := range rows {
		if strings.Contains(r.name, *only) && (*minutes > 0 || r.few > 0) {
			chosen, shares = append(chosen, r), shares+r.share
		}
	}
	if len(chosen) == 0 || flags.NArg() > 0 {
		return fmt.Errorf("no row is called %q; rows: %s", *only, names())
	}
	a := &attack{seed: *seed, progress: stderr}
	var err error
	if a.dir, err = os.MkdirTemp(*dir, "filewise-attack"); err != nil {
		return err
	}
	defer os.RemoveAll(a.dir)
	if err := a.prepare(ctx); err != nil {
		return err
	}
	var table []outcome
	for _, r := range chosen {
		end := time.Now().Add(time.Duration(*minutes * float64(time.Minute) * float64(r.share) / float64(shares)))
		tries := r.few
		if *minutes > 0 {
			tries = r.many
		} else {
			end = time.Now().Add(time.Hour) // the minute limits tries, not time
		}
		table = append(table, a.row(ctx, r, tries, end))
		if ctx.Err() != nil {
			break
		}
	}
	return show(stdout, table)
}

func names() string {
	return strings.Join(filewise.Each(rows, func(r row) string { return r.name }), ", ")
}

// prepare builds the program and makes the fixture.
func (a *attack) prepare(ctx context.Context) error {
	a.filewise = filepath.Join(a.dir, "filewise")
	if err := filewisetest.Build(ctx, a.filewise); err != nil {
		return err
	}
	// If this process is root's, managed servers run as user postgres, which needs access to its directory.
	if err := os.Chmod(a.dir, 0o755); err != nil {
		return err
	}
	var err error
	a.fixture, err = a.newFixture(ctx)
	return err
}

// row tries until the tries or the time are used up, at least once.
func (a *attack) row(ctx context.Context, r row, tries int, end time.Time) (o outcome) {
	o.row = r
	start := time.Now()
	defer func() { o.took = time.Since(start) }()
	if r.why != nil {
		if o.not = r.why(ctx, a); o.not != "" {
			return o
		}
	}
	for n := uint64(0); o.tried < tries && ctx.Err() == nil; n++ {
		if o.tried > 0 && time.Now().After(end) {
			break
		}
		p, err := a.place(ctx, fmt.Sprintf("%s-%d", r.name, n), rand.New(rand.NewPCG(a.seed, n+uint64(len(r.name))<<32)))
		if err == nil {
			p.count, p.most, p.end = 1, tries-o.tried, end
			if err = r.try(p); err == nil {
				err = p.close()
			} else {
				_ = p.close()
			}
			o.tried += p.count
		}
		if err != nil && ctx.Err() == nil {
			o.failed = append(o.failed, err.Error())
			fmt.Fprintf(a.progress, "FAILED %s, seed %d, place %d: %v\n", r.name, a.seed, n, err)
		}
	}
	fmt.Fprintf(a.progress, "%s: %d tried, %d failed, %.0f s\n", r.name, o.tried, len(o.failed), time.Since(start).Seconds())
	return o
}

// show prints the table. It returns an error if a try has failed.
func show(w io.Writer, table []outcome) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "row\twhat\ttried\tfailed\tseconds")
	failed := 0
	for _, o := range table {
		if o.not != "" {
			fmt.Fprintf(tw, "%s\t%s\tnot here: %s\t\t\n", o.name, o.what, o.not)
			continue
		}
		fmt.Fprintf(tw, "%s\t%s\t%d\t%d\t%.0f\n", o.name, o.what, o.tried, len(o.failed), o.took.Seconds())
		failed += len(o.failed)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d tries have failed", failed)
	}
	return nil
}
