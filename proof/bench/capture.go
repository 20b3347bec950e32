//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"filewise"
	"filewise/engine/all"
	"filewise/lab/verdict"
	"filewise/own/capture"
	running "filewise/run"
	"filewise/run/plan"
	"filewise/run/study"
	"golang.org/x/sync/errgroup"
)

// The targets for capture.
const (
	mostAdded = 1.0 // percent of the processors that the server may use in addition
	mostAside = 2.0 // percentage points that a share may differ from the mix
)

// captured lists the servers whose work is captured, with the settings that make them count it.
var captured = []struct {
	peer             *product
	settings         []string
	extend, analyzed string
}{
	{postgresPeer, []string{"-c", "shared_preload_libraries=pg_stat_statements"}, "CREATE EXTENSION pg_stat_statements", "ANALYZE orders"},
	{mariaPeer, []string{"--performance-schema=ON", "--performance-schema-consumer-statements-digest=ON"}, "DO 0", "ANALYZE TABLE orders"},
	{mysqlPeer, nil, "DO 0", "ANALYZE TABLE orders"},
}

// mixed lists the statements that clients execute, in turns of ten, by their beginnings.
var mixed = []struct {
	begins, text string
	of10         int
}{
	{"SELECT total", "SELECT total FROM orders WHERE id = :id", 5},
	{"SELECT COUNT", "SELECT COUNT(*), SUM(total) FROM orders WHERE customer = :customer", 2},
	{"UPDATE", "UPDATE orders SET status = :status WHERE id = :id", 2},
	{"INSERT", "INSERT INTO orders (id, customer, status, total, note) VALUES (:new, :customer, :status, 5, 'x')", 1},
}

// mixedRows and mixedCustomers are the table's sizes.
const mixedRows, mixedCustomers = 32_000, 3_200

// runCapture is the command capture. It measures what capture adds to a server's processor time, and how close its
// study is to the mix of statements.
func runCapture(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("bench capture", flag.ContinueOnError)
	names := flags.String("engines", "postgres,mariadb,mysql", "`engines` to measure")
	rounds := flags.Int("rounds", 5, "`times` that the server works with capture and without, interleaved")
	window := flags.Duration("window", 20*time.Second, "`time` that each captures; the default of filewise capture is 30 times as long")
	blocks := flags.Int("blocks", 12, "`blocks` of the runs of both studies at most")
	dir := flags.String("dir", ".", "`directory` on the storage in question, where scratch directories are made")
	bin := flags.String("bin", "/usr/lib/postgresql/15/bin", "`directory` of PostgreSQL's programs")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *rounds < 1 || *window < time.Second || *blocks < 3 || flags.NArg() > 0 {
		return fmt.Errorf("at least 1 round, a window of a second and 3 blocks, and no further arguments")
	}
	whole, err := filepath.Abs(*dir)
	if err != nil {
		return err
	}
	var rows []row
	for _, c := range captured {
		name := c.peer.engine.Name()
		if !strings.Contains(*names, name) {
			continue
		}
		b := captureBench{rounds: *rounds, blocks: *blocks, window: *window, dir: whole}
		more, err := b.rows(ctx, func() (*peer, error) { return openPeer(ctx, c.peer, whole, *bin, c.settings...) }, c.extend, c.analyzed)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, r := range more {
			r.what = name + ": " + r.what
			rows = append(rows, r)
		}
	}
	return print(stdout, rows)
}

// captureBench holds a server whose work is captured.
type captureBench struct {
	*peer
	rounds, blocks int
	window         time.Duration
	dir            string
	done           int // statements so far
}

func (b *captureBench) rows(ctx context.Context, open func() (*peer, error), extend, analyzed string) (rows []row, err error) {
	if b.peer, err = open(); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if err := b.fill(ctx, extend, analyzed); err != nil {
		return nil, err
	}
	var with, without, added []float64
	var s *capture.Study
	work := func() error { return b.work(ctx) }
	err = inTurn(b.rounds, into(&without, func() (float64, error) { return b.busy(ctx, work) }),
		into(&with, func() (float64, error) {
			return b.busy(ctx, func() error {
				var g errgroup.Group
				g.Go(work)
				g.Go(func() (err error) { s, err = b.capture(ctx); return err })
				return g.Wait()
			})
		}))
	if err != nil {
		return nil, err
	}
	for i := range with {
		added = append(added, 100*(with[i]-without[i])/b.window.Seconds()/float64(runtime.NumCPU()))
	}
	rows = []row{
		atMost(fmt.Sprintf("a capture of %v adds, of all processors", b.window), "%.2f %%", added, mostAdded),
		told("  the server's processor time with it · without", "%.2f s", with, without),
		b.shares(s),
	}
	original, err := b.effect(ctx, b.study())
	if err != nil {
		return nil, err
	}
	found, err := b.effect(ctx, s.YAML())
	if err != nil {
		return nil, err
	}
	ratio := func(e verdict.Estimate) string {
		return fmt.Sprintf("%.3f (%.3f … %.3f)", math.Exp(e.Effect), math.Exp(e.Lo), math.Exp(e.Hi))
	}
	return append(rows, row{what: "throughput of 16 files to the baseline's, as captured", value: ratio(found),
		target: "in " + ratio(original), ok: original.Lo <= found.Effect && found.Effect <= original.Hi}), nil
}

// fill makes the table. It doubles the rows, which works on all servers.
func (b *captureBench) fill(ctx context.Context, extend, analyzed string) error {
	statements := []string{extend, "CREATE TABLE orders (id BIGINT PRIMARY KEY, customer INT NOT NULL, status VARCHAR(10) NOT NULL, " +
		"total DECIMAL(9,2), note VARCHAR(100))",
		"INSERT INTO orders (id, customer, status) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) " +
			"SELECT i, 0, 'open' FROM n"}
	for n := 500; n < mixedRows; n *= 2 {
		statements = append(statements, fmt.Sprintf("INSERT INTO orders (id, customer, status) SELECT id + %d, 0, 'open' FROM orders", n))
	}
	statements = append(statements, fmt.Sprintf("UPDATE orders SET customer = id %% %d, total = id %% 100, note = 'some text of an order', "+
		"status = CASE WHEN id %% 4 = 0 THEN 'open' ELSE 'done' END", mixedCustomers), "CREATE INDEX by_customer ON orders (customer)", analyzed)
	_, _, err := b.execute(ctx, "", "CREATE DATABASE shop")
	if err == nil {
		_, _, err = b.execute(ctx, "shop", statements...)
	}
	return err
}

// work has the server's own client execute the mix for the window, at 100 statements a second: as many with capture as
// without.
func (b *captureBench) work(ctx context.Context) error {
	cmd := b.program(ctx, b.command(b.peer, "execute", "shop"))
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return err
	}
	start := time.Now()
	for i := range int(b.window.Seconds() * 100) {
		time.Sleep(time.Until(start.Add(time.Duration(i) * 10 * time.Millisecond)))
		if _, err = fmt.Fprintln(in, b.statement()+";"); err != nil {
			break
		}
	}
	if err = errors.Join(err, in.Close(), cmd.Wait()); err != nil {
		return fmt.Errorf("%w: %s", err, said.String())
	}
	return nil
}

// statement returns the next statement of the mix, with values.
func (b *captureBench) statement() string {
	n := b.done
	b.done++
	values := strings.NewReplacer(":id", fmt.Sprint(n*7919%mixedRows+1), ":customer", fmt.Sprint(n*7919%mixedCustomers), ":status",
		[]string{"'open'", "'done'"}[n/10%2], ":new", fmt.Sprint(mixedRows+1+n))
	at := n % 10
	for _, m := range mixed {
		if at -= m.of10; at < 0 {
			return values.Replace(m.text)
		}
	}
	return "" // there are ten
}

// busy returns the processor time of the server's processes during do, including processes that have come and gone.
func (b *captureBench) busy(ctx context.Context, do func() error) (float64, error) {
	read := readTree("server", b.process.Process.Pid)
	before, err := read(ctx)
	if err == nil {
		err = do()
	}
	if err != nil {
		return 0, err
	}
	time.Sleep(200 * time.Millisecond) // processes of closed connections end in this time
	after, err := read(ctx)
	used := 0.0
	for of, seconds := range after {
		if of.name == "user" || of.name == "system" {
			used += seconds - before[of]
		}
	}
	return used, err
}

func (b *captureBench) capture(ctx context.Context) (s *capture.Study, err error) {
	e, _ := capture.Of(b.engine)
	w, err := e.Watch(ctx, b.target, "shop")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	return capture.Take(ctx, e, w, capture.Options{Engine: b.engine.Name(), Database: "shop", For: b.window})
}

// shares compares the study's shares with the mix.
func (b *captureBench) shares(s *capture.Study) row {
	aside, said := 0.0, []string{}
	for _, m := range mixed {
		share := 0.0
		for _, t := range s.Transactions {
			if strings.HasPrefix(strings.ReplaceAll(t.SQL[0], "`", ""), m.begins) {
				share += t.Share
			}
		}
		aside = max(aside, math.Abs(100*share-10*float64(m.of10)))
		said = append(said, fmt.Sprintf("%.1f", 100*share))
	}
	return row{what: "shares differ from 50, 20, 20 and 10 % by", value: fmt.Sprintf("%.1f points (%s)", aside, strings.Join(said, ", ")),
		target: fmt.Sprintf("≤ %.1f points", mostAside), ok: aside <= mostAside}
}

// study returns the mix as a study, made without capture.
func (b *captureBench) study() string {
	var text strings.Builder
	fmt.Fprintf(&text, "name: original\nengine: %s\ncustom:\n  tables: {orders: id}\n  parameters:\n    id: {int: {from: 1, to: %d}}\n"+
		"    customer: {int: {from: 0, to: %d}}\n    status: {choice: {open: 1, done: 1}}\n    new: {sequential: {from: 100000000}}\n"+
		"  transactions:\n", b.engine.Name(), mixedRows, mixedCustomers-1)
	for i, m := range mixed {
		fmt.Fprintf(&text, "    t%d: {weight: %d, sql: %q}\n", i, m.of10, m.text)
	}
	return text.String()
}

// effect runs a study on copies of the database, with 16 files against the plain table or 1 file.
func (b *captureBench) effect(ctx context.Context, text string) (e verdict.Estimate, err error) {
	engines := plan.Engines(all.Engines())
	s, err := study.Parse("study.yaml", []byte(text), study.Form{Engines: engines.Names(), Scenarios: []string{"custom"}}, os.LookupEnv)
	if err != nil {
		return e, err
	}
	of, o := *b.target.Address, engines.New()
	of.Path = "shop"
	o.From, o.Files, o.Kind, o.Size = plan.Of(of.String()), plan.Of([]int{1, 16}), plan.Of(string(filewise.KindPartitions)), plan.Of("64MiB")
	o.Builds, o.Connections, o.MaxBlocks = plan.Of(1), plan.Of(4), plan.Of(b.blocks)
	o.Goal = plan.Of(string(verdict.GoalVerdicts)) // a layout dropped early would have no interval
	o.Window, o.WarmUp, o.Budget = plan.Of(time.Second), plan.Of(time.Duration(0)), plan.Of(time.Duration(0))
	o.Volumes = plan.Of([]plan.Pair{{Name: "here", Value: b.dir}})
	if b.product == postgresPeer {
		o.ServerBin = plan.Of(b.bin)
	}
	planned, err := s.Plan(engines, o, nil, func(plan.Made) error { return nil })
	if err != nil {
		return e, err
	}
	m := planned[0].Made
	login := func(context.Context) (filewise.Address, error) { return of, nil }
	trials, end, err := running.Unstored(ctx, m.Plan, running.Options{Engine: m.Engine, Login: login})
	if err != nil {
		return e, err
	}
	j, err := m.Plan.Judge(trials)
	if err != nil {
		return e, err
	}
	r := j.First().Result
	analysis, ok := r.Last()
	if !ok {
		return e, fmt.Errorf("%d trials, and nothing is known: %s", len(trials), end.Why)
	}
	return r.Shown(analysis, len(r.Arms)-1), nil
}
