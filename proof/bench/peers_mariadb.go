//go:build linux

package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"filewise"
	"filewise/engine/innodb"
	"filewise/engine/innodb/dialect"
)

// ordersLua is sysbench's script.
//
//go:embed orders.lua
var ordersLua []byte

// mariaSettings holds the settings of a server that has space for the data, and syncs every commit.
var mariaSettings = []string{"--skip-networking", "--skip-log-bin", "--local-infile=1", "--innodb-buffer-pool-size=1G",
	"--innodb-log-file-size=1G"}

var mariaPeer = &product{
	engine: innodb.MariaDB,
	layout: filewise.Layout{Name: "tables", Kind: filewise.KindPerTable,
		Data: filewise.Spread{Files: 9, Bytes: 512 << 20, Allocation: filewise.Growing, Placement: filewise.PlaceOne}},
	command: mariaCommand,
	end:     syscall.SIGTERM,
	address: func(p *peer) *filewise.Address {
		return &filewise.Address{Scheme: "mariadb", Host: p.socket(), User: "root"}
	},
	builds:   `SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE 'filewise\_%'`,
	driver:   "sysbench",
	most:     1.8,
	driving:  sysbench,
	reported: regexp.MustCompile(`transactions:\s+(\d+)`),
	loader:   "mariadb --local-infile",
	copied:   "LOAD DATA LOCAL INFILE '%[3]s' INTO TABLE fw_%[1]s (%[2]s)",
	names:    "fw_%s",
}

func mariaCommand(p *peer, purpose, database string, statements ...string) []string {
	data, socket := "--datadir="+p.data(), "--socket="+p.socket()
	var as []string
	if os.Geteuid() == 0 {
		as = []string{"--user=root"}
	}
	switch purpose {
	case "install":
		return append([]string{"mariadb-install-db", "--no-defaults", data, "--auth-root-authentication-method=normal", "--skip-test-db"}, as...)
	case "serve":
		line := append([]string{"mariadbd", "--no-defaults", data, socket, "--pid-file=" + filepath.Join(p.scratch, "pid")}, mariaSettings...)
		return append(line, as...)
	}
	line := []string{"mariadb", "--no-defaults", socket, "--user=root", "--local-infile=1", "--batch", "--skip-column-names"}
	if len(statements) > 0 { // otherwise it reads them
		line = append(line, "-e", strings.Join(statements, ";\n"))
	}
	return append(line, database)
}

// sysbench does the same work: it calls the same procedures with the same mix and connections, each of which is a
// thread.
func sysbench(p *peer, database string, w filewise.Workload, window time.Duration) ([]string, error) {
	path := filepath.Join(p.scratch, "orders.lua")
	if err := os.WriteFile(path, ordersLua, 0o600); err != nil {
		return nil, err
	}
	size := sizeOf(w)
	return []string{"sysbench", "--mysql-socket=" + p.socket(), "--mysql-user=root", "--mysql-db=" + database,
		"--threads=" + strconv.Itoa(size.connections), fmt.Sprintf("--time=%.0f", window.Seconds()),
		fmt.Sprintf("--warehouses=%d", size.warehouses), fmt.Sprintf("--customers=%d", size.customers),
		fmt.Sprintf("--items=%d", size.items), path, "run"}, nil
}

// mysqlPeer is like MariaDB's peer, and uses the same client.
var mysqlPeer = func() *product {
	p := *mariaPeer
	p.engine, p.command = innodb.MySQL, mysqlCommand
	p.address = func(p *peer) *filewise.Address {
		return &filewise.Address{Scheme: "mysql", Host: p.socket(), User: "root"}
	}
	return &p
}()

func mysqlCommand(p *peer, purpose, database string, statements ...string) []string {
	line := mariaCommand(p, purpose, database, statements...)
	if purpose == "execute" {
		return line
	}
	in, err := dialect.MySQL.Managed.Find(context.Background(), "")
	if err != nil {
		return []string{"mysqld"} // its absence is reported at its start
	}
	if purpose == "install" {
		return []string{in.Binary, "--no-defaults", "--initialize-insecure", "--datadir=" + p.data(), "--user=root"}
	}
	line[0] = in.Binary
	return append(line, "--mysqlx=OFF")
}
