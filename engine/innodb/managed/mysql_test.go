//go:build linux

package managed_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"filewise"
	"filewise/engine/innodb"
	"filewise/engine/innodb/dialect"
	"filewise/engine/innodb/servertest"
)

var mySQL = subject{
	Engine: innodb.MySQL, Server: servertest.MySQL, Only: differs,
	Settings: map[string][2]string{
		"innodb-io-capacity": {"777", "777"}, "innodb_buffer_pool_size": {"48M", "50331648"}, "innodb_page_size": {"8k", "8192"},
	},
	Wrong: map[string]string{"innodb_no_such_thing": "1", "innodb_flush_method": "by_pigeon", "innodb_page_size": "5k"},
	Says:  "MySQL",
	Own:   []string{"/dev/", "/usr/"},
	Full:  256 << 20,
	Slow:  true, Unreadable: []string{`\`, ""},
	Lacks: []filewise.Capability{filewise.CanBackup},
	Bring: bring,
	Load:  100, // MariaDB's are 600
	// What depends on a managed server of one tablespace: workloads, failures and loads
	// are tried on MySQL by URL, and all of it on MariaDB.
	OfSystem: []string{"Trial", "CancelLeavesATrueLedger", "Layouts", "Statements", "Offers", "Orders", "AddedLater", "DiskFull"},
	// Names of files, directories, and what adds files: the rest is MariaDB's code.
	OfPartitions: []string{"Trial", "Statements", "AddedLater", "Names"},
}

// What differs by product.
var differs = []string{"Life", "Reset", "Settle", "Lifecycle", "ScanBuild", "Backups", "Dumps", "ServerKilled", "KilledFilewise",
	"OrdinaryUser"}

// find explains why there is no server to test with.
func find(t *testing.T, e innodb.Engine) error {
	t.Helper()
	for _, p := range dialect.Products() {
		if p.Name == e.Name() {
			_, err := p.Managed.Find(t.Context(), "")
			return err
		}
	}
	return nil
}

// bring copies the server to where everyone can read it, as scripts/get-mysql
// would have put it there.
func bring(t *testing.T, dir string) []string {
	t.Helper()
	in, err := dialect.MySQL.Managed.Find(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if in.Base == "" {
		return nil
	}
	servers := filepath.Join(dir, "share", "filewise", "servers")
	if err := os.MkdirAll(servers, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "cp", "-r", in.Base, filepath.Join(servers, "mysql-copy")).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	return []string{"XDG_DATA_HOME=" + filepath.Join(dir, "share")}
}
