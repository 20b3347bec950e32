//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"filewise"
	"filewise/engine/mariadb"
	"filewise/engine/mysql"
	"filewise/engine/postgres"
	"filewise/engine/sqlite"
	"filewise/probe"
	"filewise/workload"
)

// ownEngines are those that builds can be made of here, on private servers.
var ownEngines = map[string]filewise.Engine{"postgres": postgres.Engine{}, "mariadb": mariadb.Engine{}, "mysql": mysql.Engine{}, "sqlite": sqlite.New()}

// ownBuild is a build of inserts as a trial makes it, on a server of its own where the
// engine has one.
type ownBuild struct {
	scratch  string
	server   filewise.Server
	workload filewise.Workload
	db       *filewise.Database
	set      *probe.Set
}

// buildOwn opens and builds; close ends it.
func buildOwn(ctx context.Context, engine filewise.Engine, dir string, durability filewise.Durability, rowBytes int) (_ *ownBuild, err error) {
	b := &ownBuild{}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	if b.scratch, err = os.MkdirTemp(dir, "fw-bench-"); err != nil {
		return nil, err
	}
	if b.scratch, err = filepath.Abs(b.scratch); err != nil {
		return nil, err
	}
	volumes := []filewise.Volume{{Name: "here", Dir: b.scratch}}
	mode, about := filewise.Managed, engine.(filewise.Describer).Describe()
	if about.Mode == filewise.Embedded {
		mode = filewise.Embedded
	}
	if b.server, err = engine.Open(ctx, filewise.Target{Engine: engine.Name(), Mode: mode, Durability: durability, Volumes: volumes}); err != nil {
		return nil, err
	}
	b.workload, err = workload.NewInserts(workload.Params{Connections: 16, RowBytes: rowBytes, CommitEvery: 1, Table: workload.TableShared, Key: workload.KeySequential}, 1)
	if err != nil {
		return nil, err
	}
	layout := filewise.Layout{Name: filewise.FilesName(2), Kind: about.Kinds[0], Data: filewise.Spread{Files: 2, Bytes: 128 << 20, Allocation: filewise.Growing, Placement: filewise.PlaceOne}}
	if b.db, err = b.server.Build(ctx, layout, b.workload.Program()); err != nil {
		return nil, err
	}
	b.set = probe.NewSet(slices.Concat(b.db.Probes, probe.System(volumes))...).Embedded(mode == filewise.Embedded)
	return b, nil
}

func (b *ownBuild) close() (err error) {
	if b.server != nil {
		err = b.server.Close()
	}
	if b.scratch != "" {
		err = errors.Join(err, os.RemoveAll(b.scratch))
	}
	return err
}

// serverPID is the one process that this one has started and that runs: a private
// server.
func serverPID() (int, error) {
	pids, err := children(os.Getpid(), false)
	if err == nil && len(pids) != 1 {
		err = fmt.Errorf("%d processes run below this one, where one server should", len(pids))
	}
	if err != nil {
		return 0, err
	}
	return pids[0], nil
}
