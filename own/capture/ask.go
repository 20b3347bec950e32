package capture

import (
	"context"
	_ "embed"
	"errors"
	"io"

	"filewise"
	"filewise/engine/customsql"
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
	//go:embed sqlserver.sql
	sqlserverSQL string
)

// products holds under each engine's name its SQL, the function that watches a database, and the one that reads a log.
var products = map[string]product{
	"mariadb":   {innodbSQL, watchInnoDB, readInnoDBLog, false},
	"mysql":     {innodbSQL, watchInnoDB, readInnoDBLog, false},
	"oracle":    {oracleSQL, watchOracle, readNoLog, false},
	"postgres":  {postgresSQL, watchPostgres, readPostgresLog, true},
	"sqlserver": {sqlserverSQL, watchSQLServer, readNoTrace, false},
}

type product struct {
	SQL   string
	watch func(context.Context, asking) (Watcher, error)
	read  func(r io.Reader, database string, each func(filewise.LoggedStatement)) error
	// together is set if the statements of one text are one transaction.
	together bool
}

// SQL returns an engine's SQL, in named sections.
func SQL(engine string) string { return products[engine].SQL }

// Engine is an engine whose users' databases can be captured.
type Engine interface {
	filewise.Engine
	filewise.Asker
	// UserSQL returns the rules by which users' SQL is read.
	UserSQL() customsql.Rules
}

// Of returns the engine's Capturer. ok is false if the engine has none.
func Of(e filewise.Engine) (c Capturer, ok bool) {
	if of, is := e.(Engine); is {
		p, ok := products[e.Name()]
		return capturer{of, p}, ok
	}
	return nil, false
}

type capturer struct {
	Engine
	product
}

func (c capturer) Watch(ctx context.Context, t filewise.Target, database string) (Watcher, error) {
	w, err := run.Ask(ctx, t, "a session", func(ctx context.Context) (Watcher, error) { return c.open(ctx, t, database) },
		func(w Watcher) { _ = w.Close() })
	if err != nil {
		return nil, err
	}
	return patient{w, t}, nil
}

func (c capturer) open(ctx context.Context, t filewise.Target, database string) (Watcher, error) {
	t.Database = database
	in, err := c.Ask(ctx, t, SQL(c.Name()))
	if err != nil {
		return nil, err
	}
	w, err := Open(ctx, c, in, database)
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return w, nil
}

// Open watches a database in an open session.
func Open(ctx context.Context, e Engine, in filewise.Asked, database string) (Watcher, error) {
	return products[e.Name()].watch(ctx, asking{in, e.Name(), e.UserSQL(), database})
}

func (c capturer) ReadLog(r io.Reader, database string, each func(filewise.LoggedStatement)) error {
	t := c.UserSQL().Teller(c.together, each)
	defer t.Close()
	return c.read(r, database, t.Tell)
}

// asking holds an open session in a user's database, with the rules of its SQL.
type asking struct {
	filewise.Asked
	engine   string
	rules    customsql.Rules
	database string
}

// Settings returns none: no managed server has to behave like this one.
func (asking) Settings(context.Context, map[string]string) (map[string]string, error) {
	return nil, nil
}

// preparer is an Asked whose server parses a statement and does not execute it.
type preparer interface {
	// Prepare returns the types of the statement's parameters, and of its columns the tables and the numbers in them, all as
	// the server numbers them. It returns none if the server does not report them.
	Prepare(ctx context.Context, statement string) (types []uint32, columns [][2]uint32, err error)
}

// prepare has the server parse a statement.
func (a asking) prepare(ctx context.Context, statement string) (types []uint32, columns [][2]uint32, err error) {
	return a.Asked.(preparer).Prepare(ctx, statement)
}

// ask sends one question, and bounds its time.
func (a asking) ask(ctx context.Context, section string, vars map[string]any, args ...any) ([]filewise.Row, error) {
	ctx, cancel := context.WithTimeout(ctx, filewise.AskPatience)
	defer cancel()
	return a.Rows(ctx, section, vars, args...)
}

// texts returns the first column of an answer.
func (a asking) texts(ctx context.Context, section string, args ...any) ([]string, error) {
	rows, err := a.ask(ctx, section, nil, args...)
	return filewise.Each(rows, func(r filewise.Row) string { return r.Text(0) }), err
}

// code returns the server's code of an error, or an empty text.
func (a asking) code(err error) string { return append(a.Codes(err), "")[0] }
