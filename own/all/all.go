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
			own := backup.InnoDB{Product: e.Product()}
			return struct {
				care
				onInnoDB
			}{care{e, own}, onInnoDB{e, own}}
		case oracle.Engine:
			own := backup.Oracle{}
			return struct {
				care
				onOracle
			}{care{e, own}, onOracle{e, own}}
		case postgres.Engine:
			own := backup.Postgres{}
			return struct {
				care
				onPostgres
			}{care{e, own}, onPostgres{e, own}}
		case sqlserver.Engine:
			return onSQLServer{e, backup.SQLServer{Engine: e}}
		}
		return e
	})
}

// These have the optional interfaces of both.
type (
	onInnoDB struct {
		innodb.Engine
		backup.InnoDB
	}
	onOracle struct {
		oracle.Engine
		backup.Oracle
	}
	onPostgres struct {
		postgres.Engine
		backup.Postgres
	}
	onSQLServer struct { // the engine opens users' databases itself
		sqlserver.Engine
		backup.SQLServer
	}
)

// care opens users' databases by own, and others by the engine. Its methods hide the engine's, which are embedded deeper.
type care struct {
	engine filewise.Engine
	own    interface {
		OpenOwn(context.Context, filewise.Engine, filewise.Target) (filewise.Server, error)
		OwnStatements(filewise.Target, filewise.Layout, filewise.Program) (filewise.Statements, error)
	}
}

func (c care) Open(ctx context.Context, t filewise.Target) (filewise.Server, error) {
	if t.Database != "" {
		return c.own.OpenOwn(ctx, c.engine, t)
	}
	return c.engine.Open(ctx, t)
}

func (c care) Statements(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Statements, error) {
	if t.Database != "" {
		return c.own.OwnStatements(t, l, p)
	}
	return c.engine.Statements(t, l, p)
}
