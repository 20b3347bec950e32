package client

import (
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"filewise"
	"filewise/engine/postgres/dialect"
	"filewise/internal/filesystem"
	"filewise/internal/nearest"
	"filewise/internal/process"
)

// options lists what an address can contain in addition to host, port, user, password and database: the libpq keywords
// that pgx accepts. Filewise sets application_name, options and the session's settings itself.
var options = []string{
	"sslmode", "sslrootcert", "sslcert", "sslkey", "sslpassword", "sslsni", "sslnegotiation", "sslcertmode",
	"target_session_attrs", "connect_timeout", "passfile", "service", "servicefile", "channel_binding", "require_auth",
	"min_protocol_version", "max_protocol_version", "krbspn", "krbsrvname",
}

// values lists the values of options that have few.
var values = map[string][]string{
	"sslmode":              {"disable", "allow", "prefer", "require", "verify-ca", "verify-full"},
	"sslnegotiation":       {"postgres", "direct"},
	"sslcertmode":          {"disable", "allow", "require"},
	"channel_binding":      {"disable", "prefer", "require"},
	"target_session_attrs": {"any", "read-write", "read-only", "primary", "standby", "prefer-standby"},
	"min_protocol_version": {"3.0", "3.2", "latest"}, "max_protocol_version": {"3.0", "3.2", "latest"},
}

// connectSeconds limits the time to connect if the address sets no limit.
var connectSeconds = strconv.Itoa(int(filewise.ReadPatience.Seconds()))

// CheckOptions refuses options that an address of a PostgreSQL server cannot have.
func CheckOptions(a filewise.Address) error {
	for _, name := range slices.AppendSeq(slices.Sorted(maps.Keys(a.Options)), maps.Keys(a.Secrets)) {
		if !slices.Contains(options, name) {
			return filewise.Errorf(filewise.CodeUsage, nearest.Remedy(name, options), "the address of a PostgreSQL server has no option %q",
				name)
		}
		if known, value := values[name], a.Options[name]; known != nil && value != "" && !slices.Contains(known, value) {
			return filewise.Errorf(filewise.CodeUsage, nearest.Remedy(value, known), "the option %s of the address cannot be %q", name, value)
		}
	}
	return nil
}

// configOf returns the driver's configuration for an address. Errors have CodeUsage and show no secret.
func configOf(a filewise.Address) (*pgx.ConnConfig, error) {
	given := map[string]string{"connect_timeout": connectSeconds}
	maps.Copy(given, a.Options)
	for name, value := range a.Secrets {
		given[name] = value.Reveal()
	}
	if err := CheckOptions(a); err != nil {
		return nil, err
	}
	database := strings.TrimPrefix(a.Path, "/")
	if database == "" && given["service"] == "" {
		database = Maintenance
	}
	if database != "" {
		if err := dialect.CheckName("database", database); err != nil {
			return nil, err
		}
	}
	given["host"], given["user"], given["database"] = a.Host, a.User, database
	if a.Port != 0 {
		given["port"] = strconv.Itoa(a.Port)
	}
	config, err := Parse(conninfo(given))
	if err != nil {
		// The driver's message begins with the whole connection string.
		if at := strings.LastIndex(err.Error(), "`: "); at >= 0 {
			err = fmt.Errorf("%s", err.Error()[at+3:])
		}
		return nil, filewise.Errorf(filewise.CodeUsage, "check the URL's options and the files they name",
			"the address of the server: %w", filewise.HideIn(err, a.Hidden()...))
	}
	refuseClearText(&config.Config)
	if a.Password != "" { // otherwise a password file may have one
		config.Password = a.Password.Reveal()
	}
	return config, nil
}

// conninfo returns parameters as a connection string for libpq.
func conninfo(given map[string]string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(given)) {
		value := given[name]
		if strings.ContainsAny(value, `\' `) {
			value = "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value) + "'"
		}
		if value != "" {
			all = append(all, name+"="+value)
		}
	}
	return strings.Join(all, " ")
}

// Conninfo returns the connection string with which PostgreSQL's own programs reach a database of an address. The
// password is not in the string but in env.
func Conninfo(a filewise.Address, database string) (text string, env []string) {
	given := maps.Clone(a.Options)
	if given == nil {
		given = map[string]string{}
	}
	given["host"], given["user"], given["dbname"] = a.Host, a.User, database
	if a.Port != 0 {
		given["port"] = strconv.Itoa(a.Port)
	}
	if a.Password != "" {
		env = append(env, "PGPASSWORD="+a.Password.Reveal())
	}
	if mode := a.Options["sslmode"]; a.Options["require_auth"] == "" && !strings.HasPrefix(a.Host, "/") && a.Host != "" &&
		mode != "require" && !strings.HasPrefix(mode, "verify-") {
		env = append(env, "PGREQUIREAUTH=!"+methodPassword) // no password in clear text; programs before 16 ignore it
	}
	return conninfo(given), env
}

// Maintenance is the database to connect to if none is named.
const Maintenance = "postgres"

// AppName returns the name of all of this process's sessions on the server (“filewise” and 8 digits). It distinguishes them
// from the sessions of other processes.
var AppName = sync.OnceValue(func() string {
	h := fnv.New32a()
	self, _ := process.Self() // if it fails, the PID and the host's name still make the name unique
	host, _ := os.Hostname()
	fmt.Fprintf(h, "%v %d %s", self, os.Getpid(), host)
	return fmt.Sprintf("%s%08x", appPrefix, h.Sum32())
})

const appPrefix = "filewise "

// SessionSettings returns the settings of every connection, so that neither the role nor the database decides them.
// They are settings of the session itself, as far as a server of this version has them.
func SessionSettings(version int) map[string]string {
	s := map[string]string{
		"application_name": AppName(), "client_encoding": "UTF8", "search_path": "public", "default_tablespace": "",
		"statement_timeout": "0", "lock_timeout": "0", "idle_in_transaction_session_timeout": "0",
		// Without these, a session whose connection is cut stays for hours, with all that it holds.
		"tcp_keepalives_idle": "30s", "tcp_keepalives_interval": "10s", "tcp_keepalives_count": "3",
		"default_transaction_isolation": "read committed", "default_transaction_read_only": "off", "client_min_messages": "warning",
		"standard_conforming_strings": "on", // the guard of a study's SQL assumes it
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

// Parse reads a connection string of keywords and values and ignores PG* environment variables. A variable meant for
// another program must not choose Filewise's server. pgconn always reads them, so Parse removes them meanwhile.
func Parse(conninfo string) (*pgx.ConnConfig, error) {
	environmentLock.Lock()
	defer environmentLock.Unlock()
	for _, pair := range os.Environ() {
		if name, value, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "PG") {
			os.Unsetenv(name)
			defer os.Setenv(name, value)
		}
	}
	config, err := filesystem.Await(func() (*pgx.ConnConfig, error) { return pgx.ParseConfig(conninfo) }) // it reads files
	if err != nil {
		return nil, err
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // nothing is cached on the server
	return config, nil
}

// ReadingSettings returns the settings of a session that only reads. The session cannot write, and gives up if a lock
// or a large catalogue makes it wait.
func ReadingSettings() map[string]string {
	s := SessionSettings(0)
	s["default_transaction_read_only"] = "on"
	s["datestyle"] = "ISO, YMD"
	s["statement_timeout"] = fmt.Sprint((filewise.AskPatience - time.Second).Milliseconds())
	s["lock_timeout"] = "500" // ms
	return s
}
