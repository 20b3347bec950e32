//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"

	"filewise"
	"filewise/engine/postgres"
)

// The targets of loading orders.
const (
	minLoadRatio     = 0.8  // of the rate of the server's own client
	maxGenerateShare = 25.0 // percent of the client's processor time
)

// runLoadPostgres is the command load-postgres.
func runLoadPostgres(ctx context.Context, args []string, stdout io.Writer) (err error) {
	flags := newPeerFlags("load-postgres", 3, 10, 1)
	bin := flags.bin()
	if err := flags.parse(args); err != nil {
		return err
	}
	w, err := newOrders(*flags.warehouses, *flags.scale, 8)
	if err != nil {
		return err
	}
	b, err := openPeers(ctx, *flags.dir, *bin)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if err := writeTables(w, b.scratch); err != nil {
		return err
	}
	theirs, err := b.copier(w)
	if err != nil {
		return err
	}
	generate, err := generated(w)
	if err != nil {
		return err
	}
	ours := func(ctx context.Context) (work, error) { return b.load(ctx, w) }
	rows, err := loadRows(ctx, *flags.rounds, `psql's \copy`, generate, ours, theirs)
	if err != nil {
		return err
	}
	return print(stdout, rows)
}

// loadRows compares the rates of two clients, indexes included.
func loadRows(ctx context.Context, rounds int, peer string, generate work, ours, theirs func(context.Context) (work, error)) ([]row, error) {
	d, err := interleaved(ctx, rounds, ours, theirs)
	if err != nil {
		return nil, err
	}
	ratios := d.ratios(rate)
	var shares []float64
	for _, w := range d.ours {
		shares = append(shares, 100*generate.cpu.Seconds()/w.cpu.Seconds())
	}
	return []row{
		{what: fmt.Sprintf("orders loaded by filewise, %.0f rows, rows a second", d.ours[0].ops), value: spreadOf("%.0f", of(d.ours, rate))},
		{what: "  the same from ready-made files by " + peer, value: spreadOf("%.0f", of(d.theirs, rate))},
		{"  their ratio within a round", spreadOf("%.2f", ratios), fmt.Sprintf("≥ %.1f", minLoadRatio), middle(ratios) >= minLoadRatio},
		{"  generating rows, of filewise's processor time", spreadOf("%.0f %%", shares), fmt.Sprintf("≤ %.0f %%", maxGenerateShare), middle(shares) <= maxGenerateShare},
		{what: "  processor time of filewise · " + peer, value: spreadOf("%.1f s", of(d.ours, cpuSeconds)) + " · " + spreadOf("%.1f s", of(d.theirs, cpuSeconds))},
	}, nil
}

func cpuSeconds(w work) float64 { return w.cpu.Seconds() }

// loaders are the batches, or files, that are loaded at the same time.
func loaders() int { return max(runtime.NumCPU(), 2) }

// load loads a build, and drops it.
func (b *peerBench) load(ctx context.Context, w filewise.Workload) (_ work, err error) {
	db, err := b.server.Build(ctx, plainTable(), w.Program())
	if err != nil {
		return work{}, err
	}
	defer func() { err = errors.Join(err, db.Dropper.Drop(ctx)) }()
	return bySelf(func() (float64, error) { return loaded(ctx, db, w) })
}

// copier has psql load the same rows from files: the same tables before, and the
// same indexes and statistics after, by as many psql at a time as Filewise has
// loaders.
func (b *peerBench) copier(w filewise.Workload) (func(context.Context) (work, error), error) {
	script, err := (postgres.Engine{}).Script(b.target, plainTable(), w.Program())
	if err != nil {
		return nil, err
	}
	var create, finish []string
	for _, s := range script.Steps {
		switch {
		case s.Stage == filewise.StageBuild && strings.HasPrefix(s.SQL, "CREATE TABLE") && !strings.Contains(s.SQL, "filewise."):
			create = append(create, s.SQL)
		case s.Stage == filewise.StageLoad && !strings.HasPrefix(s.SQL, "COPY"):
			finish = append(finish, s.SQL)
		}
	}
	const database = "peer"
	return func(ctx context.Context) (_ work, err error) {
		if _, _, err := b.psql(ctx, "postgres", "CREATE DATABASE "+database+" TEMPLATE template0"); err != nil {
			return work{}, err
		}
		defer func() {
			_, _, dropErr := b.psql(ctx, "postgres", "DROP DATABASE "+database)
			err = errors.Join(err, dropErr)
		}()
		if _, _, err := b.psql(ctx, database, strings.Join(create, ";\n")); err != nil {
			return work{}, err
		}
		return b.copyAll(ctx, database, w, finish)
	}, nil
}

// copyAll copies every table, and then finishes.
func (b *peerBench) copyAll(ctx context.Context, database string, w filewise.Workload, finish []string) (work, error) {
	ends := finishing(w, finish, func(table, statement string) bool { return strings.Contains(statement, `"`+table+`"`) })
	copied := func(t filewise.TableData) string {
		return fmt.Sprintf(`\copy %s (%s) FROM '%s'`, t.Table, strings.Join(t.Columns, ", "), tableFile(b.scratch, t.Table))
	}
	return loadedBy(ctx, w, copied, ends, func(ctx context.Context, commands []string) (work, error) {
		args := append([]string{"-X", "-q", "-v", "ON_ERROR_STOP=1"}, b.connect(database)...)
		for _, c := range commands {
			args = append(args, "-c", c)
		}
		cmd := exec.CommandContext(ctx, b.program("psql"), args...)
		cmd.Env = environment()
		w, _, err := byCommand(cmd)
		return w, err
	})
}
