//go:build linux

package main

import (
	"context"
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

// maxDriveRatio is the target of driving orders: of pgbench's processor time for a
// transaction.
const maxDriveRatio = 2.0

// runDrivePostgres is the command drive-postgres.
func runDrivePostgres(ctx context.Context, args []string, stdout io.Writer) error {
	flags := newDriveFlags("drive-postgres")
	bin := flags.bin()
	return flags.run(ctx, args, stdout, func(ctx context.Context, w filewise.Workload) (*rivals, error) {
		b, err := openPeers(ctx, *flags.dir, *bin)
		if err != nil {
			return nil, err
		}
		return &rivals{close: b.close, server: b.server, layout: plainTable(), peer: "pgbench", most: maxDriveRatio,
			theirs: func(ctx context.Context) (client, error) { return b.pgbench(ctx, w, *flags.window) }}, nil
	})
}

var processed = regexp.MustCompile(`number of transactions actually processed: (\d+)`)

// pgbench is PostgreSQL's own client at the same work: scripts of one call each,
// prepared, with the same mix and connections, by as many threads as are cheapest.
func (b *peerBench) pgbench(ctx context.Context, w filewise.Workload, window time.Duration) (func(context.Context) (work, error), error) {
	database, err := b.built(ctx)
	if err != nil {
		return nil, err
	}
	p := w.Program()
	args := append([]string{"-n", "-M", "prepared", "-c", strconv.Itoa(p.Connections), "-j", "1", "-T", fmt.Sprintf("%.0f", window.Seconds()),
		"-D", fmt.Sprintf("warehouses=%d", p.Vars["Warehouses"]), "-D", fmt.Sprintf("customers=%d", p.Vars["Customers"]), "-D", fmt.Sprintf("items=%d", p.Vars["Items"])},
		b.connect(database)[:6]...)
	for _, s := range pgbenchScripts() {
		path := filepath.Join(b.scratch, s.name+".sql")
		if err := os.WriteFile(path, []byte(s.text), 0o600); err != nil {
			return nil, err
		}
		args = append(args, "-f", fmt.Sprintf("%s@%d", path, s.weight))
	}
	args = append(args, database)
	return func(ctx context.Context) (work, error) {
		cmd := exec.CommandContext(ctx, b.program("pgbench"), args...)
		cmd.Env = environment()
		w, out, err := byCommand(cmd)
		if err != nil {
			return w, err
		}
		found := processed.FindSubmatch(out)
		if found == nil || strings.Contains(string(out), "aborted") {
			return w, fmt.Errorf("pgbench: %s", out)
		}
		w.ops, err = strconv.ParseFloat(string(found[1]), 64)
		return w, err
	}, nil
}

// built is the database of the one build on the server.
func (b *peerBench) built(ctx context.Context) (string, error) {
	_, out, err := b.psql(ctx, "postgres", "SELECT datname FROM pg_database WHERE datname LIKE 'filewise\\_%'")
	names := strings.Fields(string(out))
	if err == nil && len(names) != 1 {
		err = fmt.Errorf("databases %q, want one", names)
	}
	if err != nil {
		return "", err
	}
	return names[0], nil
}

// psql has psql execute a command.
func (b *peerBench) psql(ctx context.Context, database, command string) (work, []byte, error) {
	cmd := exec.CommandContext(ctx, b.program("psql"), append([]string{"-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-c", command}, b.connect(database)...)...)
	cmd.Env = environment()
	return byCommand(cmd)
}

type pgbenchScript struct {
	name   string
	weight int
	text   string
}

// pgbenchScripts are the five transactions by their mix. Lines are ten, the mean, and
// customers are asked for by number.
func pgbenchScripts() []pgbenchScript {
	const home = `\set w 1 + :client_id % :warehouses
\set d random(1, 10)
`
	const customer = `\set c ((random(0, 1023) | random(1, :customers)) + 77) % :customers + 1
`
	var order strings.Builder
	order.WriteString(home + customer)
	lists := map[string][]string{}
	for n := range 10 {
		item := `((random(0, 8191) | random(1, :items)) + 999) % :items + 1`
		if n == 9 { // 1 % ask for an item that does not exist
			item = `case when random(1, 100) = 1 then :items + 1 else ` + item + ` end`
		}
		fmt.Fprintf(&order, "\\set i%d %s\n\\set s%d case when random(1, 100) = 1 then random(1, :warehouses) else :w end\n\\set q%d random(1, 10)\n", n, item, n, n)
		for _, of := range []string{"i", "s", "q"} {
			lists[of] = append(lists[of], fmt.Sprintf(":%s%d::text", of, n))
		}
	}
	list := func(of string) string { return "concat_ws(',', " + strings.Join(lists[of], ", ") + ")" }
	fmt.Fprintf(&order, "CALL fw_new_order(:w, :d, :c, 1100000000, %s, %s, %s, NULL, NULL);\n", list("i"), list("s"), list("q"))
	return []pgbenchScript{
		{"new-order", 45, order.String()},
		{"payment", 43, home + customer + "\\set a random(100, 500000)\nSELECT fw_payment(:w, :d, :w, :d, :c, '', :a, 1100000000);\n"},
		{"order-status", 4, home + customer + "SELECT balance, o, lines FROM fw_order_status(:w, :d, :c, '');\n"},
		{"delivery", 4, home + "\\set k random(1, 10)\nSELECT fw_delivery(:w, :k, 1100000000);\n"},
		{"stock-level", 4, home + "\\set t random(10, 20)\nSELECT fw_stock_level(:w, :d, :t);\n"},
	}
}
