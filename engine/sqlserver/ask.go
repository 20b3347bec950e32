package sqlserver

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"filewise"
	"filewise/engine/internal/sqlrows"
	"filewise/engine/sqlserver/dialect"
	"filewise/internal/sqlfile"
)

// NeedsPassword reports whether the address names a user. Otherwise the account that runs Filewise signs in, or a token.
func (Engine) NeedsPassword(a filewise.Address) bool { return a.User != "" }

// CheckOptions refuses options that the driver does not read.
func (Engine) CheckOptions(a filewise.Address) error { return checkOptions(a) }

// Ask opens an existing server for questions, in the target's database if the target names one.
func (e Engine) Ask(ctx context.Context, t filewise.Target, text string) (filewise.Asked, error) {
	first, cancel := context.WithTimeout(ctx, filewise.ReadPatience)
	defer cancel()
	database := t.Database
	t.Database = ""
	s, err := openExternal(first, t)
	if err != nil {
		return nil, err
	}
	on := s.control
	if database != "" {
		on = s.login.pool(database, appName, 1)
	}
	return questions{s, on, ownSections(text)}, nil
}

// ownSections parses SQL of package own into its sections.
func ownSections(text string) *sqlfile.File {
	return sqlfile.Must(sqlfile.Parse("own", text, templateFuncs))
}

// questions is a session that queries the server. It implements filewise.Asked.
type questions struct {
	server *externalServer
	on     *sql.DB // in the database
	file   *sqlfile.File
}

func (a questions) About() filewise.About {
	i := a.server.identity
	return filewise.About{Server: i.banner() + "; " + i.version.allocation(), Local: i.sameHost(),
		Account:  dialect.Ident(cmp.Or(i.login, "filewise")),
		Version:  [2]int{i.version.major, i.version.build},
		Settings: map[string]string{"database": a.server.login.config.Database, "engine edition": fmt.Sprint(i.engine)}}
}

func (a questions) Close() error { return errors.Join(a.on.Close(), a.server.Close()) }

func (a questions) Codes(err error) []string { return filewise.Each(numbers(err), strconv.Itoa) }

func (a questions) Rows(ctx context.Context, section string, vars map[string]any, args ...any) ([]filewise.Row, error) {
	of := server
	if a.file.Has(section) {
		of = a.file
	}
	text, err := of.Statement(section, vars)
	if err != nil {
		return nil, err
	}
	all, err := sqlrows.Query(ctx, a.on, text, args...)
	if err != nil {
		return nil, a.server.login.explain(fmt.Errorf("%s: %w", sqlfile.Short(strings.TrimPrefix(text, "SET LOCK_TIMEOUT 1000;\n")), err))
	}
	return filewise.RowsOf(all), nil
}

// Waits returns the sums since the server's start, without the waits that the probe calls benign.
func (a questions) Waits(ctx context.Context) (all []filewise.Counter, err error) {
	rows, err := a.Rows(ctx, "inspect-waits", nil)
	for _, r := range rows {
		if class := waitClassOf(r.Text(0)); class != "" {
			all = append(all, filewise.Counter{Name: r.Text(0), Unit: "s", Value: float64(r.Int(1)) / 1000, Class: class})
		}
	}
	return all, err
}

func (a questions) Remedy(err error) string {
	if denied(err) {
		return a.server.identity.grantSeeing()
	}
	return ""
}

// banner returns product, version and edition.
func (i identity) banner() string {
	return fmt.Sprintf("SQL Server %s (%s %s), %s", i.version, i.versionText, i.level, i.edition)
}
