package postgres

import (
	"fmt"
	"hash/fnv"
	"os"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"filewise"
	"filewise/internal/process"
)

// maintenance is the database that is connected to when none is named.
const maintenance = "postgres"

// appName is what every session of this process is called on the server, by which
// it is told from others' (“filewise” and 8 digits).
var appName = sync.OnceValue(func() string {
	h := fnv.New32a()
	self, _ := process.Self() // without it the PID and the host's name tell
	host, _ := os.Hostname()
	fmt.Fprintf(h, "%v %d %s", self, os.Getpid(), host)
	return fmt.Sprintf("%s%08x", appPrefix, h.Sum32())
})

const appPrefix = "filewise "

// sessionSettings are what every connection has set, so that neither the role nor
// the database decides otherwise: only settings of the session itself.
func sessionSettings(t filewise.Target, version int) map[string]string {
	s := map[string]string{
		"application_name": appName(), "client_encoding": "UTF8", "search_path": schema, "default_tablespace": "",
		"statement_timeout": "0", "lock_timeout": "0", "idle_in_transaction_session_timeout": "0",
		"default_transaction_isolation": "read committed", "default_transaction_read_only": "off", "client_min_messages": "warning",
	}
	if version >= 140000 {
		s["idle_session_timeout"] = "0"
	}
	if version >= 170000 {
		s["transaction_timeout"] = "0"
	}
	if t.Mode == filewise.External {
		s["synchronous_commit"] = durabilities[t.Durability][1]
	}
	return s
}

// workloadSettings adds what the workload has every session set, the same in all
// layouts. What the user set for the server holds in its place.
func (d *design) workloadSettings(all map[string]string) map[string]string {
	own := map[string]string{}
	switch {
	case d.program.Workload == workloadTemp:
		own = d.tempSettings()
	case d.keepsPlans():
		own[planCache] = keptPlans
	}
	for name, value := range own {
		if _, given := d.target.Settings[name]; !given {
			all[name] = value
		}
	}
	return all
}

var environmentLock sync.Mutex

// parse reads a connection string of keywords and values, and nothing else: a PG*
// variable of the environment that was meant for another program does not decide
// where Filewise measures. pgconn reads them whatever it is given, so they are taken
// away for that moment.
func parse(conninfo string) (*pgx.ConnConfig, error) {
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
