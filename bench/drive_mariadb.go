package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"filewise"
)

// maxSysbenchRatio is the target of driving orders: of sysbench's processor time for
// a transaction.
const maxSysbenchRatio = 1.8

// ordersLua is what sysbench does.
//
//go:embed orders.lua
var ordersLua []byte

// runDriveMariaDB is the command drive-mariadb.
func runDriveMariaDB(ctx context.Context, args []string, stdout io.Writer) (err error) {
	flags := newPeerFlags("drive-mariadb", 9, 4, 0.1)
	connections := flags.Int("connections", 8, "`number` of connections of each client")
	window := flags.Duration("window", 10*time.Second, "`time` that each client works in a round")
	profile := flags.String("profile", "", "`file` for a profile of this process's processor time, for go tool pprof")
	if err := flags.parse(args); err != nil {
		return err
	}
	if *connections < 1 || *connections > 40 || *window < time.Second {
		return fmt.Errorf("1 to 40 connections, and a window of a second or more")
	}
	w, err := newOrders(*flags.warehouses, *flags.scale, *connections)
	if err != nil {
		return err
	}
	b, err := openMaria(ctx, *flags.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	db, err := b.server.Build(ctx, ownTables(), w.Program())
	if err != nil {
		return err
	}
	if _, err := loaded(ctx, db, w); err != nil {
		return err
	}
	theirs, err := b.sysbench(ctx, w, *window)
	if err != nil {
		return err
	}
	if *profile != "" {
		stop, err := profileTo(*profile)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	ours := func(ctx context.Context) (work, error) { return driven(ctx, db, w, *window) }
	rows, err := driveRows(ctx, *flags.rounds, "sysbench", maxSysbenchRatio, ours, theirs)
	if err != nil {
		return err
	}
	return print(stdout, rows)
}

var events = regexp.MustCompile(`transactions:\s+(\d+)`)

// sysbench does the same work: the same procedures with the same mix and
// connections, each of which is a thread.
func (b *mariaBench) sysbench(ctx context.Context, w filewise.Workload, window time.Duration) (func(context.Context) (work, error), error) {
	_, out, err := b.client(ctx, "", `SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE 'filewise\_%'`)
	names := strings.Fields(string(out))
	if err == nil && len(names) != 1 {
		err = fmt.Errorf("databases %q, want one", names)
	}
	if err != nil {
		return nil, err
	}
	path := filepath.Join(b.scratch, "orders.lua")
	if err := os.WriteFile(path, ordersLua, 0o600); err != nil {
		return nil, err
	}
	p := w.Program()
	args := []string{"--mysql-socket=" + b.socket(), "--mysql-user=root", "--mysql-db=" + names[0], "--threads=" + strconv.Itoa(p.Connections),
		fmt.Sprintf("--time=%.0f", window.Seconds()), fmt.Sprintf("--warehouses=%d", p.Vars["Warehouses"]),
		fmt.Sprintf("--customers=%d", p.Vars["Customers"]), fmt.Sprintf("--items=%d", p.Vars["Items"]), path, "run"}
	return func(ctx context.Context) (work, error) {
		w, out, err := byCommand(exec.CommandContext(ctx, "sysbench", args...))
		if err != nil {
			return w, err
		}
		found := events.FindSubmatch(out)
		if found == nil {
			return w, fmt.Errorf("sysbench: %s", out)
		}
		w.ops, err = strconv.ParseFloat(string(found[1]), 64)
		return w, err
	}, nil
}
