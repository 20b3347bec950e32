//go:build linux

package main

import (
	"context"
	_ "embed"
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
func runDriveMariaDB(ctx context.Context, args []string, stdout io.Writer) error {
	flags := newDriveFlags("drive-mariadb")
	return flags.run(ctx, args, stdout, func(ctx context.Context, w filewise.Workload) (*rivals, error) {
		b, err := openMaria(ctx, *flags.dir)
		if err != nil {
			return nil, err
		}
		return &rivals{close: b.close, server: b.server, layout: ownTables(), peer: "sysbench", most: maxSysbenchRatio,
			theirs: func(ctx context.Context) (client, error) { return b.sysbench(ctx, w, *flags.window) }}, nil
	})
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
