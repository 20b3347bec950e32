package client

import (
	"fmt"
	"hash/fnv"
	"os"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"filewise/internal/process"
)

// Maintenance is the database that is connected to when none is named.
const Maintenance = "postgres"

// AppName is what every session of this process is called on the server, by which
// it is told from others' (“filewise” and 8 digits).
var AppName = sync.OnceValue(func() string {
	h := fnv.New32a()
	self, _ := process.Self() // without it the PID and the host's name tell
	host, _ := os.Hostname()
	fmt.Fprintf(h, "%v %d %s", self, os.Getpid(), host)
	return fmt.Sprintf("%s%08x", appPrefix, h.Sum32())
})

const appPrefix = "filewise "

// SessionSettings are what every connection has set, so that neither the role nor
// the database decides otherwise: only settings of the session itself, as far as a
// server of this version knows them.
func SessionSettings(version int) map[string]string {
	s := map[string]string{
		"application_name": AppName(), "client_encoding": "UTF8", "search_path": "public", "default_tablespace": "",
		"statement_timeout": "0", "lock_timeout": "0", "idle_in_transaction_session_timeout": "0",
		// Without these a session whose line is cut stands for hours, with all that it holds.
		"tcp_keepalives_idle": "30s", "tcp_keepalives_interval": "10s", "tcp_keepalives_count": "3",
		"default_transaction_isolation": "read committed", "default_transaction_read_only": "off", "client_min_messages": "warning",
	}
	if version >= 120000 {
		s["tcp_user_timeout"] = "60s"
	}
	if version >= 140000 {
		s["idle_session_timeout"] = "0"
	}
	if version >= 170000 {
		s["transaction_timeout"] = "0"
	}
	return s
}

var environmentLock sync.Mutex

// Parse reads a connection string of keywords and values, and nothing else: a PG*
// variable of the environment that was meant for another program does not decide
// where Filewise measures. pgconn reads them whatever it is given, so they are taken
// away for that moment.
func Parse(conninfo string) (*pgx.ConnConfig, error) {
	environmentLock.Lock()
	defer environmentLock.Unlock()
	for _, pair := range os.Environ() {
		if name, value, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "PG") {
			os.Unsetenv(name)
			defer os.Setenv(name, value)
		}
	}
	config, err := pgx.ParseConfig(conninfo)
	if err != nil {
		return nil, err
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // nothing is cached on the server
	return config, nil
}
