package external

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"filewise"
	"filewise/engine/enginetest"
	"filewise/engine/innodb/dialect"
	"filewise/engine/innodb/servertest"
)

// The suite, with two volumes: the server's own place and a directory.
func testConformance(t *testing.T, b bench) {
	b.Account(t, "mover", append(b.engine.Rights(), grant([]string{"FILE"}, "*.*")))
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
		Engine: named{b.engine}, Kind: kind, Bytes: 6 << 20, Files: []int{1, 4, 16}, Rows: 30, Only: b.conforms,
		Package: "./engine/innodb/external",
		Target: func([]filewise.Volume) filewise.Target {
			return b.Target("mover", filewise.Volume{Name: "a"}, filewise.Volume{Name: "b", Dir: filepath.Join(b.volume, "it's `b`")})
		},
		LacksArms: []filewise.AddedLater{filewise.LaterNewData},
		Foreign:   func(t *testing.T) []string { return b.Catalogue(t) },
		Sever: func(ctx context.Context, db *filewise.Database) error {
			return servertest.Sever(ctx, b.Root, db.Build.(built).name)
		},
		Raw:        rawConn,
		Load:       200,
		NoDiskFull: "the server's volumes are not the test's to fill",
	})
}

// raw is a connection for the suite's own statements.
type raw struct{ db *sql.DB }

func rawConn(_ context.Context, db *filewise.Database) (enginetest.Raw, error) {
	return raw{db.Build.(built).Pool()}, nil
}

func (r raw) Exec(ctx context.Context, statement string) error {
	_, err := r.db.ExecContext(ctx, statement)
	return dialect.Classify(err)
}

func (r raw) Number(ctx context.Context, query string) (n int64, err error) {
	err = r.db.QueryRowContext(ctx, query).Scan(&n)
	return n, dialect.Classify(err)
}

func (r raw) Close() error { return r.db.Close() }
