package mysql

import (
	"context"
	"time"

	"filewise"
	"filewise/engine/internal/innodb/external"
)

// Engine is MySQL. It implements filewise.Engine, Describer and Filler.
type Engine struct{}

// Name is the engine's name on the command line.
func (Engine) Name() string { return product.Name }

// Script says what a build would create and execute.
func (Engine) Script(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Script, error) {
	if t.Mode == filewise.External {
		return external.MySQL.Script(t, l, p)
	}
	return product.Script(t, l, p)
}

// Open finds MySQL and tries it, see private.Product.Open; or connects to an
// external server, see external.Dialect.Open.
func (Engine) Open(ctx context.Context, t filewise.Target) (filewise.Server, error) {
	if t.Mode == filewise.External {
		return external.MySQL.Open(ctx, t)
	}
	return product.Open(ctx, t)
}

// Inspect looks at an existing server, see external.Dialect.Inspect.
func (Engine) Inspect(ctx context.Context, t filewise.Target) (filewise.Inspection, error) {
	return external.MySQL.Inspect(ctx, t)
}

// FillWork is the work in payload bytes that fills the files of a layout. 0: the
// layout needs no such thing, its files fill evenly.
func (Engine) FillWork(t filewise.Target, l filewise.Layout, p filewise.Program) (int64, error) {
	if t.Mode == filewise.External { // InnoDB fills the files of its kinds evenly
		return 0, nil
	}
	return product.FillWork(t, l, p)
}

// LoadedBytes is the size of a private server's data files that a program's loaded
// data fill up to the last one; 0: the program loads nothing.
func (Engine) LoadedBytes(t filewise.Target, p filewise.Program) (int64, error) {
	if t.Mode == filewise.External {
		return 0, nil
	}
	return product.LoadedBytes(t, p)
}

// Describe says what the engine is; it looks for the binary, nothing more.
func (Engine) Describe() filewise.Description {
	d := filewise.Description{
		Page:  16384,
		Mode:  filewise.Managed,
		Files: "files of InnoDB's system tablespace (innodb_data_file_path), tables, or partitions",
		Kinds: []filewise.Kind{filewise.KindSystem, filewise.KindPerTable, filewise.KindPartitions},
		// 56 MiB as MariaDB. Every commit is synced three times, in two logs: with rows of
		// 3000 bytes a trial fills the files in 5 to 10 s on two busy cores, and several
		// blocks of five layouts fit into five minutes; with 600 bytes, in 20 s.
		Bytes: 56 << 20, RowBytes: 3000, Budget: 5 * time.Minute,
		Reset: true, Lifecycle: true,
		// Tables are exported that have files of their own.
		BackupKinds: []filewise.Kind{filewise.KindPartitions, filewise.KindPerTable},
		RowKinds:    []filewise.Kind{filewise.KindPartitions},
		Note: "the server has one redo log and one buffer pool for all files of a layout: " +
			"a verdict is one on InnoDB, and says nothing about data files of SQL Server or Oracle",
		Schemes: external.MySQL.Schemes, Port: external.MySQL.Port, ExternalKinds: external.Kinds, Rights: external.MySQL.Rights(),
	}
	if _, err := find(context.Background(), ""); err != nil {
		d.Missing = product.Remedy
	}
	return d
}
