package external

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"filewise"
	"filewise/engine/enginetest"
	"filewise/engine/internal/innodb"
)

// The suite, with two volumes: the server's own place and a directory.
func testConformance(t *testing.T, b bench) {
	b.Account(t, "mover", append(b.dialect.Rights(), grant([]string{"FILE"}, "*.*")))
	b.Exec(t, "SET GLOBAL innodb_flush_log_at_trx_commit = 2")
	defer b.Exec(t, "SET GLOBAL innodb_flush_log_at_trx_commit = 1")
	conform(t, b, filewise.KindPartitions)
	left, err := filepath.Glob(filepath.Join(b.volume, "*", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left in the volume: %v %v", left, err)
	}
}

func conform(t *testing.T, b bench, kind filewise.Kind) {
	enginetest.Run(t, enginetest.Subject{
		Engine: engine{b.dialect}, Kind: kind, Bytes: 6 << 20, Files: []int{1, 4, 16}, Rows: 30, Only: b.conforms,
		Package: "./engine/internal/innodb/external",
		Target: func([]filewise.Volume) filewise.Target {
			return b.Target("mover", filewise.Volume{Name: "a"}, filewise.Volume{Name: "b", Dir: filepath.Join(b.volume, "it's `b`")})
		},
		LacksArms:  []filewise.AddedLater{filewise.LaterNewData},
		Foreign:    func(t *testing.T) []string { return b.Catalogue(t) },
		Sever:      func(ctx context.Context, db *filewise.Database) error { return sever(ctx, b.Root, db) },
		Raw:        rawConn,
		Load:       200,
		NoDiskFull: "the server's volumes are not the test's to fill",
	})
}

// sever ends every connection to the build's database.
func sever(ctx context.Context, root *sql.DB, db *filewise.Database) error {
	rows, err := root.QueryContext(ctx, "SELECT ID FROM information_schema.PROCESSLIST WHERE DB = ?", db.Dropper.(*build).name)
	if err != nil {
		return err
	}
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return errors.New("there is no connection to sever")
	}
	for _, id := range ids {
		if _, err := root.ExecContext(ctx, fmt.Sprintf("KILL CONNECTION %d", id)); err != nil && !goneThread(err) {
			return err
		}
	}
	return rows.Err()
}

func goneThread(err error) bool {
	n, _ := innodb.Number(err)
	return n == innodb.ErrNoThread
}

// raw is a connection for the suite's own statements.
type raw struct{ db *sql.DB }

func rawConn(_ context.Context, db *filewise.Database) (enginetest.Raw, error) {
	return raw{db.Dropper.(*build).Pool()}, nil
}

func (r raw) Exec(ctx context.Context, statement string) error {
	_, err := r.db.ExecContext(ctx, statement)
	return innodb.Classify(err)
}

func (r raw) Number(ctx context.Context, query string) (n int64, err error) {
	err = r.db.QueryRowContext(ctx, query).Scan(&n)
	return n, innodb.Classify(err)
}

func (r raw) Close() error { return r.db.Close() }
