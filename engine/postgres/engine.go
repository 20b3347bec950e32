package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"filewise"
	"filewise/engine/postgres/installed"
	"filewise/host/machine"
)

// Engine implements filewise.Engine for PostgreSQL.
type Engine struct{}

// Name returns the engine's name on the command line.
func (Engine) Name() string { return "postgres" }

// Open opens the target: it prepares a managed server, or connects to an existing one.
func (Engine) Open(ctx context.Context, t filewise.Target) (filewise.Server, error) {
	if t.Mode == filewise.External {
		return openExternal(ctx, t)
	}
	return openManaged(ctx, t)
}

// Schemes returns the URL schemes that libpq accepts.
func (Engine) Schemes() []string { return []string{"postgres", "postgresql"} }

// Describe describes the engine. It only looks for the binary.
func (e Engine) Describe() filewise.Description {
	d := filewise.Description{
		Page:   8192,
		Mode:   filewise.Managed,
		Files:  "hash partitions of a table, in tablespaces on the volumes",
		Kinds:  []filewise.Kind{filewise.KindPartitions, filewise.KindSingle},
		Shares: true, Bytes: 128 * mib, Budget: 10 * time.Minute, CommitEvery: 100, LeastMemory: 48 * mib,
		ConnectionMemory: 2 * mib, FileCache: true, CopiesFiles: true,
		Usual: map[string]filewise.Usual{"inserts": { // the index is several times larger than the rest of the cache
			Memory: true, Connections: 8, Random: true, Bytes: 128 * mib, Preload: 48 * mib, Row: 32, Files: []int{1, 4, 16},
		}, "scan": {Files: []int{1, 40}}},
		UsualThere: map[string]filewise.Usual{"inserts": { // rows that stay in their table (no TOAST), four a page
			Connections: 16, Apart: true, Row: 1900, CommitEvery: 100, Work: 192 * mib, Files: []int{1, 4, 16},
		}},
		CopiedKinds: []filewise.Kind{filewise.KindPartitions, filewise.KindSingle},
		TempKinds:   []filewise.Kind{filewise.KindSingle}, TempModes: []filewise.Mode{filewise.Managed, filewise.External}, Scans: true,
		Reset: true, Lifecycle: true,
		Note: "partitions also change planning, indexes and locking. The plain table against 1 partition shows the effect of partitioning; " +
			"1 against N shows the effect of files. Results do not carry over to SQL Server or Oracle",
		Schemes: e.Schemes(), Port: 5432,
		ExternalKinds: []filewise.Kind{filewise.KindPartitions, filewise.KindSingle},
		Rights: []string{
			"CREATE ROLE filewise LOGIN CREATEDB PASSWORD '…'",
			"GRANT pg_monitor TO filewise -- optional: to see what others' sessions do, and the size of the WAL",
			"GRANT pg_checkpoint TO filewise -- optional, PostgreSQL 15 and later: to settle and drain by a checkpoint",
			"GRANT CREATE ON TABLESPACE name TO filewise -- for each --volume NAME=tablespace:name",
		},
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if _, err := installed.Find(ctx, ""); err != nil {
		d.Missing = machine.Install(installed.Binary.Package)
	}
	return d
}

// Arrange returns layouts that separate the effect of partitioning from the effect of files. They are: a plain table, the
// baseline; one partition, which adds the cost of partitioning; more partitions on one volume; and these on all
// volumes.
func (Engine) Arrange(t filewise.Target, base filewise.Layout, files []int) []filewise.Layout {
	arm := func(name string, kind filewise.Kind, n int, p filewise.Placement, rank int) filewise.Layout {
		l := base
		l.Name, l.Kind, l.Rank, l.Data.Files, l.Data.Placement = name, kind, rank, n, p
		return l
	}
	all := []filewise.Layout{arm("plain table", filewise.KindSingle, 1, filewise.PlaceOne, 1)}
	if base.Kind == filewise.KindSingle {
		return all
	}
	volumes := len(base.DataVolumes(t.Volumes))
	counts := append([]int{1}, files...)
	slices.Sort(counts)
	for _, n := range slices.Compact(counts) {
		name := "1 partition"
		if n != 1 {
			name = fmt.Sprintf("%d partitions", n)
		}
		all = append(all, arm(name, filewise.KindPartitions, n, filewise.PlaceOne, 2*n))
		if volumes > 1 && n > 1 {
			name = fmt.Sprintf("%s on %d volumes", name, min(n, volumes))
			all = append(all, arm(name, filewise.KindPartitions, n, filewise.PlaceRoundRobin, 2*n+1))
		}
	}
	return all
}
