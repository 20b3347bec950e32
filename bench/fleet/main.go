//go:build linux

// Command fleet has three workers measure a study through a real Temporal, kills workers,
// Temporal and whoever waits for the end with SIGKILL, and proves that nothing is lost and
// nothing counts twice: go run ./bench/fleet [-kills 12] [-engines sqlite,postgres].
// It prints what coordination costs for each trial, and how long histories are.
// With -drivers 4 workers load one PostgreSQL in lockstep instead.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	enums "go.temporal.io/api/enums/v1"

	"filewise/archive"
	"filewise/experiment"
	"filewise/fleet"
	"filewise/store"
)

func main() {
	kills := flag.Int("kills", 6, "`number` of kills")
	engines := flag.String("engines", "sqlite", "`engines`, each an experiment")
	seed := flag.Uint64("seed", 1, "`number` from which the kills follow")
	drivers := flag.Int("drivers", 0, "`number` of drivers that load one PostgreSQL in lockstep, in place of the campaign")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *drivers > 0 {
		if err := driven(ctx, *drivers); err != nil {
			fmt.Fprintln(os.Stderr, "fleet:", err)
			os.Exit(1)
		}
		return
	}
	if err := bench(ctx, *kills, strings.Split(*engines, ","), *seed); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

// hosts are the workers, by name, with their label.
var hosts = []struct{ name, label string }{{"db1", "storage=nvme"}, {"db2", "storage=nvme"}, {"db3", "storage=network"}}

// ground is where all of it lives.
type ground struct {
	dir, filewise, temporal, address string
	running                          map[string]*exec.Cmd // by name: temporal, campaign, and hosts
}

func bench(ctx context.Context, kills int, engines []string, seed uint64) (err error) {
	g := &ground{running: map[string]*exec.Cmd{}}
	if g.dir, err = os.MkdirTemp("", "filewise-fleet-"); err != nil {
		return err
	}
	defer os.RemoveAll(g.dir)
	defer g.end()
	if err := g.build(ctx, engines); err != nil {
		return err
	}
	for _, name := range []string{"temporal", hosts[0].name, hosts[1].name, hosts[2].name} {
		if err := g.start(ctx, name); err != nil {
			return err
		}
	}
	if err := g.known(ctx); err != nil {
		return err
	}
	if err := g.killed(ctx, kills, seed); err != nil {
		return err
	}
	return g.prove(ctx, len(engines)*len(hosts))
}

// build makes the program, finds Temporal, and writes the study.
func (g *ground) build(ctx context.Context, engines []string) error {
	out, err := exec.CommandContext(ctx, "scripts/get-temporal").Output()
	if err != nil {
		return fmt.Errorf("scripts/get-temporal: %w", err)
	}
	g.temporal, g.filewise = strings.TrimSpace(string(out)), filepath.Join(g.dir, "filewise")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", g.filewise, "./cmd/filewise").CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w: %s", err, out)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	g.address = l.Addr().String()
	study := "scenario: inserts\nfiles: [1, 2]\nsize: 4MiB\nwindow: 500ms\nwarm-up: 50ms\nmax-blocks: 6\ngoal: verdicts\nbudget: 0s\n" +
		"connections: 2\nstorage-limit: \"off\"\nseed: 7\nexperiments:\n"
	for _, e := range engines {
		study += "  - name: " + e + "\n    engine: " + e + "\n"
	}
	return errors.Join(l.Close(), os.WriteFile(g.study(), []byte(study), 0o600))
}

func (g *ground) study() string { return filepath.Join(g.dir, "study.yaml") }

// command is one of the program's, in a home of its own.
func (g *ground) command(ctx context.Context, home string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, g.filewise, args...)
	dir := filepath.Join(g.dir, home)
	cmd.Env = append(os.Environ(), "FILEWISE_STATE="+filepath.Join(dir, "state"), "FILEWISE_STORE="+filepath.Join(dir, "store.db"),
		"FILEWISE_LOCK=fleet-"+filepath.Base(g.dir)+home, "TEMPORAL_ADDRESS="+g.address)
	return cmd
}

func (g *ground) volume(host string) string { return filepath.Join(g.dir, host, "volume") }

// start starts Temporal, a host's worker, or the campaign.
func (g *ground) start(ctx context.Context, name string) error {
	var cmd *exec.Cmd
	switch i := slices.IndexFunc(hosts, func(h struct{ name, label string }) bool { return h.name == name }); {
	case name == "temporal":
		_, port, err := net.SplitHostPort(g.address)
		if err != nil {
			return err
		}
		cmd = exec.CommandContext(ctx, g.temporal, "server", "start-dev", "--headless", "--port", port, "--log-level", "never",
			"--db-filename", filepath.Join(g.dir, "temporal.db"))
	case i >= 0:
		if err := os.MkdirAll(g.volume(name), 0o755); err != nil {
			return err
		}
		cmd = g.command(ctx, name, "worker", "--host", name, "--label", hosts[i].label, "--volume", "here="+g.volume(name))
	default:
		cmd = g.command(ctx, "home", "campaign", g.study(), "--name", "fleet")
	}
	log, err := os.OpenFile(filepath.Join(g.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = log, log
	g.running[name] = cmd
	return errors.Join(cmd.Start(), log.Close(), g.answers(ctx))
}

// answers returns when Temporal listens.
func (g *ground) answers(ctx context.Context) error {
	return until(ctx, "Temporal does not answer", func() bool {
		c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", g.address)
		return err == nil && c.Close() == nil
	})
}

// until asks until it is so, for two minutes.
func until(ctx context.Context, otherwise string, so func() bool) error {
	for end := time.Now().Add(2 * time.Minute); !so(); {
		if ctx.Err() != nil || time.Now().After(end) {
			return errors.Join(errors.New(otherwise), ctx.Err())
		}
		time.Sleep(200 * time.Millisecond)
	}
	return nil
}

// known returns when all hosts are known to campaigns.
func (g *ground) known(ctx context.Context) error {
	return g.asked(ctx, func(c fleet.Campaigns) error {
		return until(ctx, "the hosts do not come", func() bool { all, err := c.Hosts(ctx); return err == nil && len(all) == len(hosts) })
	})
}

func (g *ground) asked(ctx context.Context, do func(fleet.Campaigns) error) error {
	c, err := fleet.Dial(ctx, g.address, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer c.Close()
	return do(c)
}

// kill ends a process at once, and waits for that.
func (g *ground) kill(name string) error {
	cmd := g.running[name]
	err := cmd.Process.Kill()
	_ = cmd.Wait() // which says that it was killed
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	return err
}

// killed starts the campaign and kills at random: workers, Temporal, and who waits.
func (g *ground) killed(ctx context.Context, kills int, seed uint64) error {
	if err := g.start(ctx, "campaign"); err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(seed, 0))
	names := []string{"campaign", "db2", "temporal", "db1", "db3"}
	for i := range kills {
		time.Sleep(time.Duration(500+r.IntN(2500)) * time.Millisecond)
		name := names[i%len(names)]
		fmt.Printf("kill -9 %s\n", name)
		if err := g.kill(name); err != nil {
			return err
		}
		time.Sleep(time.Duration(r.IntN(1000)) * time.Millisecond)
		if err := g.start(ctx, name); err != nil {
			return err
		}
	}
	if err := g.kill("campaign"); err != nil {
		return err
	}
	began := time.Now()
	out, err := g.command(ctx, "home", "campaign", g.study(), "--name", "fleet").CombinedOutput()
	fmt.Printf("%sthe end came %v after the last kill\n", out, time.Since(began).Round(time.Second))
	return err
}

// end ends what runs.
func (g *ground) end() {
	for name := range g.running {
		_ = g.kill(name) // it may have ended
	}
}

// prove holds what came home against the plan, and prints the figures.
func (g *ground) prove(ctx context.Context, want int) error {
	home := filepath.Join(g.dir, "home", "store.db")
	runs, err := archive.List(ctx, home)
	if err != nil || len(runs) != want {
		return fmt.Errorf("%d runs came home of %d: %w", len(runs), want, err)
	}
	trials := 0
	for _, info := range runs {
		r, err := archive.Load(ctx, home, fmt.Sprint(info.ID))
		if err != nil {
			return err
		}
		trials += len(r.Trials)
		if r.State != store.Done {
			return fmt.Errorf("run %d is %s", r.ID, r.State)
		}
		if err := asPlanned(r); err != nil {
			return err
		}
	}
	fmt.Printf("%d trials of %d runs, each where its plan has it, none twice\n", trials, len(runs))
	for _, h := range hosts {
		if err := g.kill(h.name); err != nil { // idle; what is left would be found
			return err
		}
		if left, err := os.ReadDir(g.volume(h.name)); err != nil || len(left) > 0 {
			return fmt.Errorf("left on %s: %v, %w", h.name, left, err)
		}
	}
	return g.asked(ctx, func(c fleet.Campaigns) error {
		orders, err := c.Orders(ctx, "fleet")
		for _, id := range orders {
			if err := figures(ctx, c, id); err != nil {
				return err
			}
		}
		return err
	})
}

// figures prints how long an order's history is, and what coordination took between two trials:
// from the end of one to the start of the next, and which way it went.
func figures(ctx context.Context, c fleet.Campaigns, id string) error {
	d, err := c.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		return err
	}
	took := map[string][]time.Duration{}
	var ended, before time.Time
	for h := c.GetWorkflowHistory(ctx, id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); h.HasNext(); {
		e, err := h.Next()
		if err != nil {
			return err
		}
		at := e.GetEventTime().AsTime()
		note := func(what string, since time.Time) {
			if !ended.IsZero() {
				took[what] = append(took[what], at.Sub(since))
			}
		}
		switch e.GetEventType() {
		case enums.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
			ended = at
		case enums.EVENT_TYPE_WORKFLOW_TASK_STARTED:
			note("until it is decided", before)
		case enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
			note("deciding", before)
		case enums.EVENT_TYPE_ACTIVITY_TASK_STARTED:
			note("until the host starts", before)
			note("all", ended)
		}
		before = at
	}
	i := d.GetWorkflowExecutionInfo()
	fmt.Printf("%s: a history of %d events, %d KiB; coordination, median and most:", id, i.GetHistoryLength(), i.GetHistorySizeBytes()>>10)
	for _, what := range []string{"all", "until it is decided", "deciding", "until the host starts"} {
		slices.Sort(took[what])
		fmt.Printf(" %s %v, %v;", what, took[what][len(took[what])/2].Round(100*time.Microsecond), slices.Max(took[what]).Round(time.Millisecond))
	}
	fmt.Println()
	return nil
}

// asPlanned tells the first trial that is not what Plan.Next asks for after those before.
func asPlanned(r archive.Run) error {
	for i, t := range r.Trials {
		want, d := r.Plan.Next(r.Trials[:i])
		if d.Ending != experiment.GoesOn || !r.Plan.TakesTurns() && t.Cell != want {
			return fmt.Errorf("trial %d of run %d is %+v, want %+v", i+1, r.ID, t.Cell, want)
		}
	}
	if _, d := r.Plan.Next(r.Trials); d.Ending == experiment.GoesOn {
		return fmt.Errorf("run %d is not at its end", r.ID)
	}
	return nil
}
