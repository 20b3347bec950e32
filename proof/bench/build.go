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

// engines holds the engines for which builds can be made here.
var engines = map[string]filewise.Engine{"postgres": postgres.Engine{}, "mariadb": innodb.MariaDB, "mysql": innodb.MySQL,
	"sqlite": sqlite.New()}

// managed is an engine's managed server, or the engine itself if it has no server.
type managed struct {
	filewise.Server
	engine  filewise.Engine
	scratch string
	target  filewise.Target
}

// openManaged opens an engine's managed server in a new directory. Close ends the server and removes the directory.
func openManaged(ctx context.Context, engine filewise.Engine, dir string, durability filewise.Durability) (*managed, error) {
	scratch, err := scratchIn(dir)
	if err != nil {
		return nil, err
	}
	s := &managed{engine: engine, scratch: scratch, target: filewise.Target{Engine: engine.Name(), Mode: filewise.Managed,
		Durability: durability, Volumes: []filewise.Volume{{Name: "here", Dir: scratch}}}}
	if engine.Describe().Mode == filewise.Embedded {
		s.target.Mode = filewise.Embedded
	}
	if s.Server, err = engine.Open(ctx, s.target); err != nil {
		return nil, errors.Join(err, os.RemoveAll(scratch))
	}
	return s, nil
}

// Close ends the server.
func (s *managed) Close() error { return errors.Join(s.Server.Close(), os.RemoveAll(s.scratch)) }

// growing returns a layout of the engine's first kind.
func (s *managed) growing(files int, bytes int64) filewise.Layout {
	return filewise.Layout{Name: filewise.FilesName(files), Kind: s.engine.Describe().Kinds[0],
		Data: filewise.Spread{Files: files, Bytes: bytes, Allocation: filewise.Growing, Placement: filewise.PlaceOne}}
}

// newInserts returns the workload of inserts into one table with rising keys.
func newInserts(connections, rowBytes int) (filewise.Workload, error) {
	return workload.NewInserts(workload.Params{Connections: connections, RowBytes: rowBytes, CommitEvery: 1,
		Table: workload.TableShared, Key: workload.KeySequential}, 1)
}

// insertsBuild holds a build for inserts, made as in a trial.
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

// serverPID returns the PID of the only running child of this process: a managed server.
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

// childrenTime returns the processor time of all threads of all descendants of this process. The kernel's scheduler
// counts it in nanoseconds, while a process's sums are in hundredths of a second.
func childrenTime() (time.Duration, error) {
	pids, err := children(os.Getpid(), true)
	var sum time.Duration
	for _, pid := range pids {
		threads, globErr := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		err = errors.Join(err, globErr)
		for _, path := range threads {
			text, readErr := os.ReadFile(path)
			if readErr != nil {
				continue // the thread has ended in the meantime
			}
			nanos, _, _ := strings.Cut(string(text), " ")
			n, numberErr := strconv.ParseInt(nanos, 10, 64)
			sum, err = sum+time.Duration(n), errors.Join(err, numberErr)
		}
	}
	return sum, err
}

// children returns a process's children or, if all is set, its descendants.
func children(pid int, all bool) (pids []int, err error) {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range lists {
		text, readErr := os.ReadFile(path)
		if readErr != nil {
			continue // the thread has ended in the meantime
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
