package apply

import (
	"context"
	_ "embed"
	"regexp"

	"filewise"
	"filewise/engine/sqlserver/dialect"
	"filewise/run"
)

// The SQL of each engine, in named sections.
var (
	//go:embed innodb.sql
	innodbSQL string
	//go:embed oracle.sql
	oracleSQL string
	//go:embed postgres.sql
	postgresSQL string
)

// product holds one engine's SQL and the function that writes scripts from its answers.
type product struct {
	SQL   string
	write func(*writer) error
	// release matches the part of a version that two servers must share if one's result is to hold for the other. The
	// release is the regexp's last group, or the whole match if it has no group.
	release *regexp.Regexp
	// roles are the roles of the files that hold a trial's tables with their indexes, as Migration.Bytes counts them.
	roles []filewise.Role
}

var dataAndIndexes = []filewise.Role{filewise.RoleData, filewise.RoleIndex}

// products holds each product under its engine's name.
var products = map[string]product{
	"mariadb": {innodbSQL, writeInnoDB, innodbRelease, dataAndIndexes},
	"mysql":   {innodbSQL, writeInnoDB, innodbRelease, dataAndIndexes},
	"oracle":  {oracleSQL, writeOracle, regexp.MustCompile(`[0-9]+`), dataAndIndexes},
	"sqlserver": {dialect.TablesSQL, writeSQLServer, regexp.MustCompile(`SQL Server (\d{4}|version \d+)\b`), // the year
		dataAndIndexes},
	"postgres": {postgresSQL, writePostgres, regexp.MustCompile(`[0-9]+`),
		[]filewise.Role{filewise.RoleData, filewise.RoleIndex, filewise.RoleSystem}}, // other indexes, and TOAST, are files of the engine
}

var innodbRelease = regexp.MustCompile(`[0-9]+\.[0-9]+`)

// releaseOf returns the release in a version, or an empty text if there is none.
func (p product) releaseOf(version string) string {
	if m := p.release.FindStringSubmatch(version); m != nil {
		return m[len(m)-1]
	}
	return ""
}

// Writes reports whether Filewise can write scripts for an engine's databases.
func Writes(engine string) bool { return products[engine].release != nil }

// writer writes the scripts of one migration.
type writer struct {
	filewise.Migration
	engine string
	ctx    context.Context
	in     filewise.Asked
	about  filewise.About
	target filewise.Target
	wish   filewise.Wish
}

// Migrate reads the target's database and writes the scripts, but executes none of them. If the engine can open
// sessions that cannot write, Migrate uses one. The error for a table that the layout cannot hold names the table as
// the server does.
func Migrate(ctx context.Context, e filewise.Engine, t filewise.Target, w filewise.Wish) (filewise.Migration, error) {
	return run.Script(ctx, t, func(ctx context.Context) (filewise.Migration, error) {
		at := t
		at.Database = w.Database
		in, err := run.Ask(ctx, t, "a session", func(ctx context.Context) (filewise.Asked, error) {
			return e.(filewise.Asker).Ask(ctx, at, SQL(e.Name()))
		}, func(late filewise.Asked) { _ = late.Close() })
		if err != nil {
			return filewise.Migration{}, err
		}
		defer in.Close()
		return Ask(ctx, e.Name(), patient{in, t}, t, w)
	})
}

// patient gives up questions that the server does not answer.
type patient struct {
	filewise.Asked
	of filewise.Target
}

func (p patient) Rows(ctx context.Context, section string, vars map[string]any, args ...any) ([]filewise.Row, error) {
	return run.Ask(ctx, p.of, section, func(ctx context.Context) ([]filewise.Row, error) {
		return p.Asked.Rows(ctx, section, vars, args...)
	}, nil)
}

// Ask is Migrate in a session that is already open.
func Ask(ctx context.Context, engine string, in filewise.Asked, t filewise.Target, w filewise.Wish) (filewise.Migration, error) {
	m := &writer{engine: engine, ctx: ctx, in: in, about: in.About(), target: t, wish: w}
	m.Migration = filewise.Migration{Server: m.about.Server, Space: map[string]int64{}}
	err := products[engine].write(m)
	return m.Migration, err
}

// SQL returns an engine's SQL, in named sections.
func SQL(engine string) string { return products[engine].SQL }

// rows executes a section of the engine's SQL, and returns its rows.
func (m *writer) rows(section string, args ...any) ([]filewise.Row, error) {
	return m.in.Rows(m.ctx, section, nil, args...)
}

// each executes a section, and calls row with each of its rows.
func (m *writer) each(section string, row func(filewise.Row), args ...any) error {
	rows, err := m.rows(section, args...)
	for _, r := range rows {
		row(r)
	}
	return err
}
