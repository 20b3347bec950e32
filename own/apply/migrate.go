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

// product holds the questions to a product's servers, and the function that writes scripts from the answers.
type product struct {
	SQL   string
	write func(*writer) error
	// release matches the part of a version that two servers must have in common for a result of the one to hold for the other:
	// its last group, or all of it.
	release *regexp.Regexp
	// roles are the roles of the files that hold a trial's tables with their indexes, as Migration.Bytes counts them.
	roles []filewise.Role
	// path: a URL's path is the database's name.
	path bool
}

var dataAndIndexes = []filewise.Role{filewise.RoleData, filewise.RoleIndex}

// products holds them by the engine's name.
var products = map[string]product{
	"mariadb": {innodbSQL, writeInnoDB, innodbRelease, dataAndIndexes, false},
	"mysql":   {innodbSQL, writeInnoDB, innodbRelease, dataAndIndexes, false},
	"oracle":  {oracleSQL, writeOracle, regexp.MustCompile(`[0-9]+`), dataAndIndexes, false},
	"sqlserver": {dialect.TablesSQL, writeSQLServer, regexp.MustCompile(`SQL Server (\d{4}|version \d+)\b`), // the year
		dataAndIndexes, false},
	"postgres": {postgresSQL, writePostgres, regexp.MustCompile(`[0-9]+`),
		[]filewise.Role{filewise.RoleData, filewise.RoleIndex, filewise.RoleSystem}, true}, // other indexes, and TOAST, are files of the engine's
}

var innodbRelease = regexp.MustCompile(`[0-9]+\.[0-9]+`)

// releaseOf returns the release of a version. Empty means it has none.
func (p product) releaseOf(version string) string {
	if m := p.release.FindStringSubmatch(version); m != nil {
		return m[len(m)-1]
	}
	return ""
}

// Writes reports whether there are scripts for an engine's databases.
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

// Migrate reads the target's database, in a session that cannot write if the engine has such, and writes the scripts;
// nothing of them is executed. What the layout cannot hold is an error that names it, as the server does.
func Migrate(ctx context.Context, e filewise.Engine, t filewise.Target, w filewise.Wish) (filewise.Migration, error) {
	return run.Script(ctx, t, func(ctx context.Context) (filewise.Migration, error) {
		p := products[e.Name()]
		at := t
		if at.Database = w.Database; p.path && w.Database != "" {
			a := *t.Address
			a.Path, at.Address = w.Database, &a
		}
		in, err := e.(filewise.Asker).Ask(ctx, at, p.SQL)
		if err != nil {
			return filewise.Migration{}, err
		}
		defer in.Close()
		return Ask(ctx, e.Name(), in, t, w)
	})
}

// Ask reads the database in an open session.
func Ask(ctx context.Context, engine string, in filewise.Asked, t filewise.Target, w filewise.Wish) (filewise.Migration, error) {
	m := &writer{engine: engine, ctx: ctx, in: in, about: in.About(), target: t, wish: w}
	m.Migration = filewise.Migration{Server: m.about.Server, Space: map[string]int64{}}
	err := products[engine].write(m)
	return m.Migration, err
}

// SQL returns an engine's SQL, in named sections.
func SQL(engine string) string { return products[engine].SQL }

// rows runs a section.
func (m *writer) rows(section string, args ...any) ([]filewise.Row, error) {
	return m.in.Rows(m.ctx, section, nil, args...)
}

// each passes on the rows of a section.
func (m *writer) each(section string, row func(filewise.Row), args ...any) error {
	rows, err := m.rows(section, args...)
	for _, r := range rows {
		row(r)
	}
	return err
}
