//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/engine/innodb"
	"filewise/engine/postgres"
	"filewise/engine/sqlite"
	"filewise/lab/probe"
	"filewise/lab/workload"
)

// engines are the engines that builds can be made of here.
var engines = map[string]filewise.Engine{"postgres": postgres.Engine{}, "mariadb": innodb.MariaDB, "mysql": innodb.MySQL,
	"sqlite": sqlite.New()}

// managed is an engine's managed server, or the engine itself if it has none.
type managed struct {
	filewise.Server
	engine  filewise.Engine
	scratch string
	target  filewise.Target
}

// openManaged opens it on a new directory. Close ends it and removes that.
func openManaged(ctx context.Context, engine filewise.Engine, dir string, durability filewise.Durability) (*managed, error) {
	scratch, err := scratchIn(dir)
	if err != nil {
		return nil, err
	}
	s := &managed{engine: engine, scratch: scratch, target: filewise.Target{Engine: engine.Name(), Mode: filewise.Managed,
		Durability: durability, Volumes: []filewise.Volume{{Name: "here", Dir: scratch}}}}
	if engine.(filewise.Describer).Describe().Mode == filewise.Embedded {
		s.target.Mode = filewise.Embedded
	}
	if s.Server, err = engine.Open(ctx, s.target); err != nil {
		return nil, errors.Join(err, os.RemoveAll(scratch))
	}
	return s, nil
}

// Close ends the server.
func (s *managed) Close() error { return errors.Join(s.Server.Close(), os.RemoveAll(s.scratch)) }

// growing is a layout of the engine's first kind.
func (s *managed) growing(files int, bytes int64) filewise.Layout {
	return filewise.Layout{Name: filewise.FilesName(files), Kind: s.engine.(filewise.Describer).Describe().Kinds[0],
		Data: filewise.Spread{Files: files, Bytes: bytes, Allocation: filewise.Growing, Placement: filewise.PlaceOne}}
}

// newInserts is the workload on one table with rising keys.
func newInserts(connections, rowBytes int) (filewise.Workload, error) {
	return workload.NewInserts(workload.Params{Connections: connections, RowBytes: rowBytes, CommitEvery: 1,
		Table: workload.TableShared, Key: workload.KeySequential}, 1)
}

// insertsBuild is a build of inserts as a trial makes it.
type insertsBuild struct {
	*managed
	workload filewise.Workload
	db       *filewise.Database
	set      *probe.Set
}

func buildInserts(ctx context.Context, engine filewise.Engine, dir string, durability filewise.Durability, rowBytes int) (*insertsBuild,
	error) {
	s, err := openManaged(ctx, engine, dir, durability)
	if err != nil {
		return nil, err
	}
	b := &insertsBuild{managed: s}
	if b.workload, err = newInserts(16, rowBytes); err == nil {
		b.db, err = s.Build(ctx, s.growing(2, 128<<20), b.workload.Program())
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	b.set = probe.NewSet(slices.Concat(b.db.Probes, probe.System(s.target.Volumes))...).Embedded(s.target.Mode == filewise.Embedded)
	return b, nil
}

// serverPID is the only process that this one has started and that runs: a managed server.
func serverPID() (int, error) {
	pids, err := children(os.Getpid(), false)
	if err == nil && len(pids) != 1 {
		err = fmt.Errorf("%d processes run below this one, instead of one server", len(pids))
	}
	if err != nil {
		return 0, err
	}
	return pids[0], nil
}

// childrenTime is the processor time of all threads of all processes that this one has started, and they in turn. The
// kernel's scheduler counts it to the nanosecond, while the sums of a process are in hundredths of a second.
func childrenTime() (time.Duration, error) {
	pids, err := children(os.Getpid(), true)
	var sum time.Duration
	for _, pid := range pids {
		threads, globErr := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		err = errors.Join(err, globErr)
		for _, path := range threads {
			text, readErr := os.ReadFile(path)
			if readErr != nil {
				continue // it has ended in between
			}
			nanos, _, _ := strings.Cut(string(text), " ")
			n, numberErr := strconv.ParseInt(nanos, 10, 64)
			sum, err = sum+time.Duration(n), errors.Join(err, numberErr)
		}
	}
	return sum, err
}

// children are the processes that one has started; with all, also the processes that these have started in turn.
func children(pid int, all bool) (pids []int, err error) {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range lists {
		text, readErr := os.ReadFile(path)
		if readErr != nil {
			continue // the thread has ended in between
		}
		for word := range strings.FieldsSeq(string(text)) {
			child, numberErr := strconv.Atoi(word)
			pids, err = append(pids, child), errors.Join(err, numberErr)
			if all {
				below, belowErr := children(child, true)
				pids, err = append(pids, below...), errors.Join(err, belowErr)
			}
		}
	}
	return pids, err
}
