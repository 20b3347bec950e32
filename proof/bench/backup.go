//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"filewise"
	"filewise/lab/experiment"
	"filewise/lab/workload"
	"filewise/own/all"
	running "filewise/run"
	"filewise/run/plan"
	"gonum.org/v1/gonum/stat"
)

// The targets for tuning backups.
const (
	mostOfGrid = 100.0 / 3 // percent of the full grid's backups
	mostSlower = 2.0       // percent by which the found setting takes longer than the grid's best
)

// tuned lists the servers whose backups are tuned, with the statement that makes a table of a number of rows of about
// 180 bytes.
var tuned = []struct {
	peer  *product
	table string
}{
	{postgresPeer, "CREATE TABLE t%d AS SELECT g AS id, md5(g::text) AS a, repeat(md5((g * 7)::text), 4) AS b FROM generate_series(1, %d) g"},
	{mariaPeer, "CREATE TABLE t%d (id INT PRIMARY KEY, a CHAR(32), b TEXT) SELECT seq AS id, MD5(seq) AS a, REPEAT(MD5(seq * 7), 4) AS b " +
		"FROM seq_1_to_%d"},
}

// runBackupTuning is the command backup-tuning. It compares filewise backup's race of settings with all settings,
// measured as often as a plan allows.
func runBackupTuning(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("bench backup-tuning", flag.ContinueOnError)
	names := flags.String("engines", "postgres,mariadb", "`engines` to measure")
	mib := flags.Int("size", 64, "`MiB` of the database, about, in 6 tables")
	rounds := flags.Int("rounds", 20, "`times` that each setting of the full grid is measured")
	dir := flags.String("dir", ".", "`directory` on the storage in question, where scratch directories are made")
	bin := flags.String("bin", "/usr/lib/postgresql/15/bin", "`directory` of PostgreSQL's programs")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var rows []row
	for _, t := range tuned {
		if !strings.Contains(*names, t.peer.engine.Name()) {
			continue
		}
		more, err := tuneOne(ctx, t.peer, t.table, *mib, *rounds, *dir, *bin)
		if err != nil {
			return fmt.Errorf("%s: %w", t.peer.engine.Name(), err)
		}
		rows = append(rows, more...)
	}
	return print(stdout, rows)
}

func tuneOne(ctx context.Context, made *product, table string, mib, rounds int, dir, bin string) (rows []row, err error) {
	p, err := openPeer(ctx, made, dir, bin)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if _, _, err := p.execute(ctx, "", "CREATE DATABASE shop"); err != nil {
		return nil, err
	}
	for i := range 6 { // the largest has a third of the rows, the smallest an eleventh
		if _, _, err := p.execute(ctx, "shop", fmt.Sprintf(table, i, mib<<20/180*2/(3*(i+2)))); err != nil {
			return nil, err
		}
	}
	o := plan.Engines(all.Engines()).New()
	o.Scenario, o.Target, o.Database = "dump", plan.Of(p.target.Address.String()), plan.Of("shop")
	o.NoPassword, o.Budget = plan.Of(true), plan.Of(time.Duration(0))
	o.Volumes = plan.Of([]plan.Pair{{Name: "here", Value: p.scratch}}) // the grid's tools leave their files there too
	if made == postgresPeer {
		o.ServerBin = plan.Of(bin)
	}
	m, err := plan.Engines(all.Engines()).Make(o)
	if err != nil {
		return nil, err
	}
	login := func(context.Context) (filewise.Address, error) { return *p.target.Address, nil }
	trials, end, err := running.Unstored(ctx, m.Plan, running.Options{Engine: m.Engine, Login: login})
	if err != nil {
		return nil, err
	}
	times, err := grid(ctx, m, *p.target.Address, rounds)
	if err != nil {
		return nil, err
	}
	return tuningRows(m.Plan, trials, end, times)
}

// grid measures every setting equally often, in random order. It returns the logarithms of the times.
func grid(ctx context.Context, m plan.Made, a filewise.Address, rounds int) (times [][]float64, err error) {
	t := m.Target
	t.Address, t.Database, t.Volumes, t.ServerBin = &a, m.Plan.Target.Database, m.Plan.Target.Volumes, m.Plan.Target.ServerBin
	s, err := m.Engine.Open(ctx, t)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	w, err := workload.NewDump(m.Params, m.Seed)
	if err != nil {
		return nil, err
	}
	times = make([][]float64, len(m.Layouts))
	for b := range rounds {
		for _, j := range m.Order(b+1, len(m.Layouts)) {
			db, err := s.Build(ctx, m.Layouts[j], w.Program())
			if err != nil {
				return nil, err
			}
			start := time.Now()
			_, err = db.Backup.Backup(ctx)
			took := time.Since(start)
			if err = errors.Join(err, db.Drop(ctx)); err != nil {
				return nil, err
			}
			times[j] = append(times[j], math.Log(took.Seconds()))
		}
	}
	return times, nil
}

// tuningRows compares the race's result with the best setting of the full grid.
func tuningRows(p experiment.Plan, trials []filewise.Trial, end experiment.Decision, times [][]float64) ([]row, error) {
	j, err := p.Judge(trials)
	if err != nil {
		return nil, err
	}
	analysis, ok := j.First().Result.Last()
	if !ok || analysis.Leader < 0 {
		return nil, fmt.Errorf("nothing was found: %s", end.Why)
	}
	found := analysis.Recommended
	if found < 0 {
		found = analysis.Leader
	}
	slower, pm, best := excess(times, found)
	full := len(p.Layouts) * p.MaxBlocks
	used := 100 * float64(len(trials)) / float64(full)
	return []row{
		{what: p.Target.Engine + ": backups until a setting is found", target: fmt.Sprintf("≤ %.0f %%", mostOfGrid), ok: used <= mostOfGrid,
			value: fmt.Sprintf("%d of the full grid's %d (%d settings × %d), %.0f %%; %s", len(trials), full, len(p.Layouts), p.MaxBlocks, used,
				end.Why)},
		{what: p.Target.Engine + ": it takes longer than the grid's best", target: fmt.Sprintf("≤ %.0f %%", mostSlower), ok: slower <= mostSlower,
			value: fmt.Sprintf("%.1f ±%.1f %% (%s in %.2f s; best %s)", slower, pm, p.Layouts[found].Name,
				math.Exp(stat.Mean(times[found], nil)), p.Layouts[best].Name)},
	}, nil
}

// excess returns by how many percent a setting takes longer than the grid's best, with the standard error, and that
// best. The best for rounds of odd number is chosen from rounds of even number, and the other way round: the least of
// many noisy means is too low by itself.
func excess(times [][]float64, found int) (percent, pm float64, best int) {
	fastest := func(counts func(round int) bool) (at int) {
		least := math.Inf(1)
		for i, all := range times {
			sum := 0.0
			for r, x := range all {
				if counts(r) {
					sum += x
				}
			}
			if sum < least {
				at, least = i, sum
			}
		}
		return at
	}
	best = fastest(func(int) bool { return true })
	by := [2]int{fastest(func(r int) bool { return r%2 == 0 }), fastest(func(r int) bool { return r%2 == 1 })}
	over := slices.Clone(times[found])
	for r := range over {
		over[r] -= times[by[1-r%2]][r]
	}
	mean, sd := stat.MeanStdDev(over, nil)
	return 100 * math.Expm1(mean), 100 * sd / math.Sqrt(float64(len(over))), best
}
