package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"filewise"
	"filewise/engine/enginetest"
	"filewise/engine/postgres/client"
)

// raw is one connection for the suite's own statements.
type raw struct{ conn *pgx.Conn }

func rawConn(ctx context.Context, db *filewise.Database) (enginetest.Raw, error) {
	conn, err := pgx.ConnectConfig(ctx, db.Build.(*build).link.Config)
	return raw{conn}, err
}

func (r raw) Exec(ctx context.Context, statement string) error {
	_, err := r.conn.Exec(ctx, statement)
	return client.Classify(err)
}

func (r raw) Number(ctx context.Context, query string) (n int64, err error) {
	err = r.conn.QueryRow(ctx, query).Scan(&n)
	return n, client.Classify(err)
}

func (r raw) Close() error { return r.conn.Close(context.Background()) }
