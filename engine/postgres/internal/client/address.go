package client

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"filewise"
	"filewise/internal/nearest"
)

// TablespacePrefix begins the Dir of a volume that is an existing tablespace.
const TablespacePrefix = "tablespace:"

// options are what an address may say besides host, port, user, password and
// database: the words of libpq that pgx knows. An application_name, options or
// settings of the session are Filewise's own.
var options = []string{
	"sslmode", "sslrootcert", "sslcert", "sslkey", "sslpassword", "sslsni", "sslnegotiation", "sslcertmode",
	"target_session_attrs", "connect_timeout", "passfile", "service", "servicefile", "channel_binding", "require_auth",
	"min_protocol_version", "max_protocol_version", "krbspn", "krbsrvname",
}

// connectSeconds is how long a connection may take where the address does not say.
const connectSeconds = "15"

// configOf turns an address into the driver's configuration. Errors have code
// usage and show no secret.
func configOf(a filewise.Address) (*pgx.ConnConfig, error) {
	values := map[string]string{"connect_timeout": connectSeconds}
	maps.Copy(values, a.Options)
	for name, value := range a.Secrets {
		values[name] = value.Reveal()
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(options, name) {
			return nil, filewise.Errorf(filewise.CodeUsage, nearest.Remedy(name, options), "the address of a PostgreSQL server has no option %q",
				name)
		}
	}
	database := strings.TrimPrefix(a.Path, "/")
	if database == "" && values["service"] == "" {
		database = Maintenance
	}
	if database != "" {
		if err := CheckName("database", database); err != nil {
			return nil, err
		}
	}
	values["host"], values["user"], values["database"] = a.Host, a.User, database
	if a.Port != 0 {
		values["port"] = strconv.Itoa(a.Port)
	}
	config, err := Parse(conninfo(values))
	if err != nil {
		// The driver shows the whole text first.
		if at := strings.LastIndex(err.Error(), "`: "); at >= 0 {
			err = fmt.Errorf("%s", err.Error()[at+3:])
		}
		return nil, filewise.Errorf(filewise.CodeUsage, "look at the URL's options and the files they name",
			"the address of the server: %w", filewise.HideIn(err, a.Hidden()...))
	}
	if a.Password != "" { // else a password file may have one
		config.Password = a.Password.Reveal()
	}
	return config, nil
}

// conninfo is the text of parameters, as libpq reads it.
func conninfo(values map[string]string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		if strings.ContainsAny(value, `\' `) {
			value = "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value) + "'"
		}
		if value != "" {
			all = append(all, name+"="+value)
		}
	}
	return strings.Join(all, " ")
}

// Conninfo is how PostgreSQL's own programs come to a database of an address, without its
// password: that is in the environment.
func Conninfo(a filewise.Address, database string) (text string, env []string) {
	values := maps.Clone(a.Options)
	if values == nil {
		values = map[string]string{}
	}
	values["host"], values["user"], values["dbname"] = a.Host, a.User, database
	if a.Port != 0 {
		values["port"] = strconv.Itoa(a.Port)
	}
	if a.Password != "" {
		env = append(env, "PGPASSWORD="+a.Password.Reveal())
	}
	return conninfo(values), env
}
