//go:build linux

package main

import (
	"context"

	"filewise"
	"filewise/engine/innodb"
	"filewise/engine/innodb/dialect"
)

// mysqlPeer is as MariaDB's, whose client it shares.
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
		return []string{"mysqld"} // whose absence is told when it is started
	}
	if purpose == "install" {
		return []string{in.Binary, "--no-defaults", "--initialize-insecure", "--datadir=" + p.data(), "--user=root"}
	}
	line[0] = in.Binary
	return append(line, "--mysqlx=OFF")
}
