// Package all is the registry of the engines, each with the backups of users' databases that package backup makes on its
// servers.
package all

import (
	"context"

	"filewise"
	"filewise/engine/all"
	"filewise/engine/innodb"
	"filewise/engine/oracle"
	"filewise/engine/postgres"
	"filewise/engine/sqlserver"
	"filewise/own/backup"
)

// Engines returns all engines, the default first.
func Engines() []filewise.Engine {
	return filewise.Each(all.Engines(), func(e filewise.Engine) filewise.Engine {
		switch e := e.(type) {
		case innodb.Engine:
			return onInnoDB{e, backup.InnoDB{Product: e.Product()}}
		case oracle.Engine:
			return onOracle{e, backup.Oracle{}}
		case postgres.Engine:
			return onPostgres{e, backup.Postgres{}}
		case sqlserver.Engine:
			return onSQLServer{e, backup.SQLServer{Engine: e}}
		}
		return e
	})
}

// care backs up users' databases on the servers of one engine.
type care interface {
	filewise.BackupTuner
	OpenOwn(context.Context, filewise.Engine, filewise.Target) (filewise.Server, error)
	OwnStatements(filewise.Target, filewise.Layout, filewise.Program) (filewise.Statements, error)
}

func open(ctx context.Context, e filewise.Engine, own care, t filewise.Target) (filewise.Server, error) {
	if t.Database != "" {
		return own.OpenOwn(ctx, e, t)
	}
	return e.Open(ctx, t)
}

func statements(e filewise.Engine, own care, t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Statements, error) {
	if t.Database != "" {
		return own.OwnStatements(t, l, p)
	}
	return e.Statements(t, l, p)
}

type onInnoDB struct {
	innodb.Engine
	backup.InnoDB
}

func (e onInnoDB) Open(ctx context.Context, t filewise.Target) (filewise.Server, error) {
	return open(ctx, e.Engine, e.InnoDB, t)
}

func (e onInnoDB) Statements(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Statements, error) {
	return statements(e.Engine, e.InnoDB, t, l, p)
}

type onOracle struct {
	oracle.Engine
	backup.Oracle
}

func (e onOracle) Open(ctx context.Context, t filewise.Target) (filewise.Server, error) {
	return open(ctx, e.Engine, e.Oracle, t)
}

func (e onOracle) Statements(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Statements, error) {
	return statements(e.Engine, e.Oracle, t, l, p)
}

type onPostgres struct {
	postgres.Engine
	backup.Postgres
}

func (e onPostgres) Open(ctx context.Context, t filewise.Target) (filewise.Server, error) {
	return open(ctx, e.Engine, e.Postgres, t)
}

func (e onPostgres) Statements(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Statements, error) {
	return statements(e.Engine, e.Postgres, t, l, p)
}

// onSQLServer opens users' databases itself.
type onSQLServer struct {
	sqlserver.Engine
	backup.SQLServer
}
