package main

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
)

// whyNoServer is why no managed server can be tested here. Empty means it can.
func whyNoServer() string {
	if runtime.GOOS != "linux" {
		return "only Linux ends a server with whoever started it"
	}
	for _, program := range []string{"mariadbd", "mariadb", "mariadb-install-db"} {
		if _, err := exec.LookPath(program); err != nil {
			return err.Error() + "; apt-get install mariadb-server"
		}
	}
	return ""
}

// needServer skips a test with servers if there are none, and fails it in CI: there a skipped test would never run.
func needServer(t *testing.T) {
	t.Helper()
	switch why := whyNoServer(); {
	case why != "" && os.Getenv("CI") == "true":
		t.Fatalf("the tests with MariaDB did not run: %s", why)
	case why != "":
		t.Skipf("NO MARIADB SERVER: %s", why)
	}
}
