//go:build linux

package managed_test

import (
	"filewise/engine/innodb"
	"filewise/engine/innodb/servertest"
	"filewise/internal/longtest"
)

// subjects returns the products to test. MariaDB runs all, over the same code; MySQL, of
// which a start costs seconds of a processor, belongs to the long part.
func subjects() []subject {
	if longtest.Wanted() {
		return []subject{mariaDB, mySQL}
	}
	return []subject{mariaDB}
}

var mariaDB = subject{
	Engine: innodb.MariaDB, Server: servertest.MariaDB,
	Settings: map[string][2]string{
		"innodb-io-capacity": {"777", "777"}, "innodb_buffer_pool_size": {"48M", "50331648"}, "innodb_page_size": {"8k", "8192"},
	},
	Wrong:        map[string]string{"innodb_no_such_thing": "1", "innodb_flush_method": "by_pigeon", "innodb_page_size": "5k"},
	Says:         "MariaDB",
	Transactions: "Binlog_commits", Groups: "Binlog_group_commits",
	Own:  []string{"/dev/", "/usr/"},
	Full: 160 << 20,
	Load: 600,
	// Failures, a full volume, and workloads of many phases do not depend on the kind
	// where the external suite tries partitions.
	OfPartitions: []string{"Trial", "WrongLedgerIsRefused", "Layouts", "Statements", "Offers", "Refusals", "AddedLater", "Names"},
}
