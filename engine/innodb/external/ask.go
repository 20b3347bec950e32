package external

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"time"

	"filewise"
	"filewise/engine/customsql"
	"filewise/engine/innodb/client"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/sqlrows"
	"filewise/internal/sqlfile"
)

// reading returns the variables of a session that only reads. The session cannot write, and gives up if a lock or a
// large catalogue makes it wait.
func (d Engine) reading(release [2]int) map[string]string {
	all := d.External.Session(release)
	for _, name := range []string{"tx_read_only", "transaction_read_only"} {
		if _, ok := all[name]; ok {
			all[name] = "1"
		}
	}
	maps.Copy(all, d.External.Reading(filewise.AskPatience-time.Second))
	all["lock_wait_timeout"] = "1"
	return all
}

const (
	errNoDatabase = 1049 // ER_BAD_DB_ERROR
	errNoRight    = 1044 // ER_DBACCESS_DENIED_ERROR, whether or not the database exists
)

// CheckOptions refuses options that the driver does not read.
func (Engine) CheckOptions(a filewise.Address) error { return client.Options.Check(a) }

// UserSQL returns the rules for reading users' SQL.
func (Engine) UserSQL() customsql.Rules { return dialect.CustomRules }

// Ask opens an existing server for questions. Its session is in no database, so that the questions are not counted in the
// user's. Only Prepare has one in it.
func (d Engine) Ask(ctx context.Context, t filewise.Target, text string) (filewise.Asked, error) {
	first, cancel := context.WithTimeout(ctx, filewise.ReadPatience)
	defer cancel()
	s, err := d.open(first, withoutPath(t), d.reading)
	if err != nil {
		return nil, err
	}
	database := cmp.Or(t.Database, strings.Trim(t.Address.Path, "/"))
	if database != "" {
		_, err := s.db.ExecContext(first, "SHOW CREATE DATABASE "+dialect.Ident(database))
		if n, _ := dialect.Number(err); n == errNoDatabase || n == errNoRight && !s.seesFiles(first, database) {
			return nil, errors.Join(filewise.Errorf(filewise.CodePreflight, "name a database that exists and that the account may see, or "+
				"leave /"+database+" out of the URL", "%s: %w", t.Address, filewise.HideIn(err, t.Address.Hidden()...)), s.db.Close())
		}
	}
	return questions{s, s.pool(database, 1), sqlfile.Must(sqlfile.Parse("own", text, template.FuncMap{"ident": dialect.Ident,
		"files": func() string { return d.Product.Files.Of }}))}, nil
}

var plainName = regexp.MustCompile(`^\w+$`)

// virtual are the databases that every server has, and that have no files.
var virtual = []string{"information_schema", "performance_schema"}

// seesFiles reports whether an account without a right in a database sees files of it, by PROCESS. Other than plain names
// are written differently there, and are taken to exist, as virtual databases are.
func (s *server) seesFiles(ctx context.Context, database string) bool {
	if !plainName.MatchString(database) || slices.Contains(virtual, strings.ToLower(database)) {
		return true
	}
	rows, err := sqlrows.Query(ctx, s.db, s.product.Files.Of+" WHERE t.NAME LIKE '"+strings.ReplaceAll(database, "_", `\_`)+"/%' LIMIT 1")
	return err == nil && len(rows) > 0
}

// questions is a session that queries the server. It implements filewise.Asked.
type questions struct {
	server *server
	within *sql.DB // in the user's database. It connects when it is first used
	file   *sqlfile.File
}

func (a questions) About() filewise.About {
	local, _ := a.server.local()
	return filewise.About{Server: a.server.product.Title + " " + a.server.version, Local: local, Account: a.server.account,
		Version: a.server.release, Settings: a.server.vars}
}

func (a questions) Close() error { return errors.Join(a.within.Close(), a.server.db.Close()) }

// Prepare has the server parse a statement. The server reports no types.
func (a questions) Prepare(ctx context.Context, statement string) (types []uint32, columns [][2]uint32, err error) {
	prepared, err := a.within.PrepareContext(ctx, statement)
	if err != nil {
		return nil, nil, a.server.explain(err)
	}
	defer func() { err = a.server.explain(prepared.Close()) }()
	return nil, nil, nil
}

func (a questions) Codes(err error) []string { return []string{dialect.Code(err)} }

func (a questions) Rows(ctx context.Context, section string, vars map[string]any, args ...any) (all []filewise.Row, err error) {
	if section == "foreign-keys" { // rows are of databases
		keys, err := a.server.foreignKeys(ctx, filewise.Each(args, func(v any) string { return v.(string) })...)
		return filewise.Each(keys, func(k foreignKey) filewise.Row { return filewise.Row{k.name, k.from[0], k.from[1], k.to[0], k.to[1]} }),
			a.server.explain(err)
	}
	text, err := a.file.Statement(section, vars)
	if err != nil {
		return nil, err
	}
	rows, err := sqlrows.Query(ctx, a.server.db, text, args...)
	return filewise.RowsOf(rows), a.server.explain(err)
}

// Waits returns the waits of sessions, and the sums that InnoDB keeps itself.
func (a questions) Waits(ctx context.Context) (all []filewise.Counter, err error) {
	if a.server.on("performance_schema") {
		if all, err = dialect.SessionWaits(ctx, a.server.db); err != nil {
			return nil, a.server.explain(err)
		}
	}
	more, err := dialect.ReadStatusWaits(ctx, a.server.db)
	for _, w := range more {
		if w.Value > 0 {
			all = append(all, w)
		}
	}
	return all, a.server.explain(err)
}

// Remedy returns how to grant rights, whose lack is the usual reason (ER_SPECIFIC_ACCESS_DENIED, ER_TABLEACCESS_DENIED,
// ER_DBACCESS_DENIED).
func (a questions) Remedy(err error) string {
	switch n, _ := dialect.Number(err); n {
	case 1227:
		return a.server.grant([]string{"PROCESS"}, "*.*")
	case 1142, 1044:
		return a.server.grant([]string{"SELECT"}, "performance_schema.*")
	}
	return ""
}

// withoutPath returns a target whose URL names no database, to examine a database without making it the current one.
func withoutPath(t filewise.Target) filewise.Target {
	address := *t.Address
	address.Path, t.Address = "", &address
	return t
}
