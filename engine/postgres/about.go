package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"filewise"
	"filewise/engine/postgres/internal/client"
	"filewise/engine/postgres/internal/installed"
)

// about is what an external server and the account on it are.
type about struct {
	version                              int
	banner, user, database, dataDir      string
	super, createdb, monitor, checkpoint bool
	standby, readOnly, pooled, local     bool
}

// lookAround reads what the server and the account are. The session's own process
// has another number than the driver was told where a pooler stands between.
func lookAround(ctx context.Context, l *client.Link) (a about, err error) {
	var pid, told int32
	err = l.With(ctx, func(conn *pgx.Conn) error {
		told = int32(conn.PgConn().PID())
		err := conn.QueryRow(ctx, queries.Text("about")).Scan(&a.version, &a.banner, &a.user, &a.database, &a.dataDir, &a.super, &a.createdb,
			&a.monitor,
			&a.checkpoint, &a.standby, &a.readOnly, &pid, &a.local)
		return l.Done(ctx, queries.Text("about"), err)
	})
	a.pooled = pid != told
	return a, err
}

// fit refuses a server on which nothing can be measured.
func (a about) fit() error {
	switch {
	case a.pooled:
		return filewise.Errorf(filewise.CodePreflight, "connect to PostgreSQL itself, not through the pooler",
			"a connection pooler stands before the server: its sessions are not the server's, so that they cannot be prepared, interrupted or "+
				"told from others'")
	case a.version < installed.Oldest:
		return filewise.Errorf(filewise.CodePreflight, "use a newer server", "the server is %s; Filewise knows PostgreSQL %d and later",
			a.banner, installed.Oldest/10000)
	case a.standby:
		return filewise.Errorf(filewise.CodePreflight, "name the primary server (target_session_attrs=primary)",
			"the server is a standby, which only reads")
	case a.readOnly:
		return filewise.Errorf(filewise.CodePreflight, "name a server that takes writes",
			"the server's transactions only read (default_transaction_read_only cannot be turned off)")
	}
	return nil
}
