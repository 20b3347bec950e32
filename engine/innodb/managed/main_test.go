//go:build linux

package managed_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"filewise"
	"filewise/engine/innodb"
	"filewise/engine/innodb/dialect"
	"filewise/engine/innodb/managed"
	"filewise/engine/innodb/servertest"
	"filewise/host/scratch"
	"filewise/internal/longtest"
	"filewise/lab/workload"
)

// sweeping in the environment makes the test binary a Filewise that removes what others left.
const sweeping = "TEST_FILEWISE_SWEEP"

// workIn and workOn in the environment make the test binary a Filewise that builds
// and works in that directory, on that product, until it is killed. It prints the PIDs
// of its servers.
const (
	workIn = "TEST_FILEWISE_WORK_IN"
	workOn = "TEST_FILEWISE_WORK_ON"
)

// storage is the directory of tests that are about the storage: the others work in memory.
var storage = os.TempDir()

func TestMain(m *testing.M) {
	managed.TryOnce(dialect.MySQL)
	if dir := os.Getenv(workIn); dir != "" {
		e := innodb.MariaDB
		if os.Getenv(workOn) == innodb.MySQL.Name() {
			e = innodb.MySQL
		}
		fmt.Println("failed:", workUntilKilled(dir, e))
		os.Exit(1)
	}
	if os.Getenv(sweeping) != "" {
		if err := sweep(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	managed.TryOnce(dialect.MariaDB)
	if memory := servertest.MariaDB.Temp(); memory != "" { // else the tests take longer
		_ = os.Setenv("TMPDIR", memory)
	}
	longtest.Leave("^TestTemplate$") // of MySQL
	longtest.AtOnce(4)               // servers, of 0.6 of a processor each
	os.Exit(m.Run())
}

func sweep() error {
	reg, err := scratch.Open()
	if err != nil {
		return err
	}
	_, err = reg.Sweep(context.Background())
	return err
}

func workUntilKilled(dir string, e innodb.Engine) error {
	ctx := context.Background()
	reg, err := scratch.Open()
	if err != nil {
		return err
	}
	target := filewise.Target{Engine: e.Name(), Mode: filewise.Managed, Durability: filewise.DurabilityFull}
	var dirs []*scratch.Dir
	for _, name := range []string{"v1", "v2"} {
		d, err := reg.Create(filepath.Join(dir, name), "test")
		if err != nil {
			return err
		}
		dirs = append(dirs, d)
		target.Volumes = append(target.Volumes, filewise.Volume{Name: name, Dir: d.Path})
	}
	target.OnStart = func(pid int) error {
		for _, d := range dirs {
			if err := d.AddProcess(pid); err != nil {
				return err
			}
		}
		fmt.Println(pid)
		return nil
	}
	w, err := workload.NewInserts(workload.Params{Connections: 2, RowBytes: 100, CommitEvery: 1, Table: workload.TableShared,
		Key: workload.KeySequential}, 1)
	if err != nil {
		return err
	}
	s, err := e.Open(ctx, target)
	if err != nil {
		return err
	}
	for {
		db, err := s.Build(ctx, systemLayout(4, 24<<20), w.Program())
		if err != nil {
			return err
		}
		if err := db.Reset.Snapshot(ctx); err != nil {
			return err
		}
		var done int64
		if err := workOne(ctx, db, 0, 0, 20000, &done); err != nil {
			return err
		}
		if err := db.Reset.Reset(ctx); err != nil {
			return err
		}
		if err := db.Drop(ctx); err != nil {
			return err
		}
	}
}
