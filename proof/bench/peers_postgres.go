//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"filewise"
	"filewise/engine/postgres"
)

// pgPort is part of the name of the server's socket.
const pgPort = 5432

// pgSettings holds the settings of a server that has space for the data, and syncs every commit.
var pgSettings = []string{"listen_addresses=", "unix_socket_directories=.", "port=5432", "shared_buffers=1GB", "max_wal_size=4GB",
	"maintenance_work_mem=256MB"}

var postgresPeer = &product{
	engine: postgres.Engine{},
	layout: filewise.Layout{Name: "plain table", Kind: filewise.KindSingle,
		Data: filewise.Spread{Files: 1, Bytes: 512 << 20, Allocation: filewise.Growing, Placement: filewise.PlaceOne}},
	command: postgresCommand,
	end:     syscall.SIGINT, // its “fast shutdown”
	address: func(p *peer) *filewise.Address {
		return &filewise.Address{Scheme: "postgres", Host: p.data(), Port: pgPort, User: "filewise", Path: "postgres"}
	},
	builds:   `SELECT datname FROM pg_database WHERE datname LIKE 'filewise\_%'`,
	mistaken: "aborted",
	driver:   "pgbench",
	most:     2.0,
	driving:  pgbench,
	reported: regexp.MustCompile(`number of transactions actually processed: (\d+)`),
	loader:   `psql's \copy`,
	copied:   `\copy %[1]s (%[2]s) FROM '%[3]s'`,
	names:    `"%s"`,
}

// databaseUser returns the account for a server that refuses root. It is nil if the server accepts root, or this user
// is not root.
func databaseUser(engine string) (*syscall.Credential, error) {
	if engine != "postgres" || os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(uidErr, gidErr)
}

func postgresCommand(p *peer, purpose, database string, statements ...string) []string {
	program := func(name string) string { return filepath.Join(p.bin, name) }
	switch purpose {
	case "install":
		return []string{program("initdb"), "-D", p.data(), "-U", "filewise", "-A", "trust", "--encoding=UTF8", "--no-locale"}
	case "serve":
		line := []string{program("postgres"), "-D", p.data()}
		for _, s := range pgSettings {
			line = append(line, "-c", s)
		}
		return line
	}
	line := append([]string{program("psql"), "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1"}, p.at(database)...)
	for _, s := range statements {
		line = append(line, "-c", s)
	}
	return line
}

// at returns the arguments by which PostgreSQL's own programs find a database.
func (p *peer) at(database string) []string {
	if database == "" {
		database = "postgres"
	}
	return []string{"-h", p.data(), "-p", fmt.Sprint(pgPort), "-U", "filewise", database}
}

// pgbench returns the command of PostgreSQL's own client for the same work: prepared scripts of one call each, with the
// same mix and connections, and as many threads as are cheapest.
func pgbench(p *peer, database string, w filewise.Workload, window time.Duration) ([]string, error) {
	size := sizeOf(w)
	line := []string{filepath.Join(p.bin, "pgbench"), "-n", "-M", "prepared", "-c", strconv.Itoa(size.connections), "-j", "1",
		"-T", fmt.Sprintf("%.0f", window.Seconds()), "-D", fmt.Sprintf("warehouses=%d", size.warehouses),
		"-D", fmt.Sprintf("customers=%d", size.customers), "-D", fmt.Sprintf("items=%d", size.items)}
	for _, s := range pgbenchScripts() {
		path := filepath.Join(p.scratch, s.name+".sql")
		if err := os.WriteFile(path, []byte(s.text), 0o644); err != nil {
			return nil, err
		}
		line = append(line, "-f", fmt.Sprintf("%s@%d", path, s.weight))
	}
	return append(line, p.at(database)...), nil
}

type pgbenchScript struct {
	name   string
	weight int
	text   string
}

// pgbenchScripts returns the five transactions by their shares in the mix. Orders have ten lines, the mean, and
// customers are chosen by number.
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
		if n == 9 { // 1 % request an item that does not exist
			item = `case when random(1, 100) = 1 then :items + 1 else ` + item + ` end`
		}
		fmt.Fprintf(&order, "\\set i%d %s\n\\set s%d case when random(1, 100) = 1 then random(1, :warehouses) else :w end\n"+
			"\\set q%d random(1, 10)\n", n, item, n, n)
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
