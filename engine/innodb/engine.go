package innodb

import (
	"context"
	"io"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/innodb/external"
	"filewise/engine/innodb/managed"
)

// The two products.
var (
	MariaDB = Engine{dialect.MariaDB}
	MySQL   = Engine{dialect.MySQL}
)

// Engine is InnoDB in one of its products. It implements filewise.Engine, Describer,
// Inspector, Capturer and Filler.
type Engine struct{ product *dialect.Product }

// host is a way to servers: by starting them, or by URL.
type host interface {
	Script(filewise.Target, filewise.Layout, filewise.Program) (filewise.Script, error)
	Open(context.Context, filewise.Target) (filewise.Server, error)
}

func (e Engine) host(t filewise.Target) host {
	if t.Mode == filewise.External {
		return external.Engine{Product: e.product}
	}
	return managed.Engine{Product: e.product}
}

// Name is the engine's name on the command line.
func (e Engine) Name() string { return e.product.Name }

// Script says what a build would create and execute.
func (e Engine) Script(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Script, error) {
	return e.host(t).Script(t, l, p)
}

// Open finds the product and tries it, see managed.Engine.Open; or connects to an
// external server, see external.Engine.Open.
func (e Engine) Open(ctx context.Context, t filewise.Target) (filewise.Server, error) {
	return e.host(t).Open(ctx, t)
}

// Inspect looks at an existing server, see external.Engine.Inspect.
func (e Engine) Inspect(ctx context.Context, t filewise.Target) (filewise.Inspection, error) {
	return external.Engine{Product: e.product}.Inspect(ctx, t)
}

// Watch opens a database of the user's, for reading only.
func (e Engine) Watch(ctx context.Context, t filewise.Target, database string) (filewise.Watcher, error) {
	return external.Engine{Product: e.product}.Watch(ctx, t, database)
}

// ReadLog reads a server's general or slow log.
func (e Engine) ReadLog(r io.Reader, database string, each func(filewise.LoggedStatement)) error {
	return external.Engine{Product: e.product}.ReadLog(r, database, each)
}

// CheckDump refuses layouts that cannot hold a dump's tables, see managed.Engine.CheckDump.
func (e Engine) CheckDump(ctx context.Context, t filewise.Target, layouts []filewise.Layout, p filewise.Program) error {
	return managed.Engine{Product: e.product}.CheckDump(ctx, t, layouts, p)
}

// Dump writes a dump of the database that the address names, see external.Engine.Dump.
func (e Engine) Dump(ctx context.Context, t filewise.Target, to io.Writer) error {
	return external.Engine{Product: e.product}.Dump(ctx, t, to)
}

// FillWork is the work in payload bytes that fills the files of a layout. 0: the
// layout needs no such thing, its files fill evenly.
func (e Engine) FillWork(t filewise.Target, l filewise.Layout, p filewise.Program) (int64, error) {
	if t.Mode == filewise.External { // files of tables and partitions
		return 0, nil
	}
	return managed.Engine{Product: e.product}.FillWork(t, l, p)
}

// LoadedBytes is the size of a managed server's data files that a program's loaded
// data fill up to the last one; 0: the program loads nothing.
func (e Engine) LoadedBytes(t filewise.Target, p filewise.Program) (int64, error) {
	if t.Mode == filewise.External { // the files are as large as the data
		return 0, nil
	}
	return managed.Engine{Product: e.product}.LoadedBytes(t, p)
}

// Describe says what the engine is; it looks for the binary, nothing more.
func (e Engine) Describe() filewise.Description {
	d := filewise.Description{
		Page:  16384,
		Mode:  filewise.Managed,
		Files: "files of InnoDB's system tablespace (innodb_data_file_path), tables, or partitions",
		Kinds: []filewise.Kind{filewise.KindSystem, filewise.KindPerTable, filewise.KindPartitions},
		Bytes: e.product.Bytes, RowBytes: e.product.RowBytes, Budget: e.product.Budget, CommitEvery: 100,
		Shares: true, LeastMemory: e.product.Managed.LeastMemory,
		Pressing:    filewise.Pressing{Bytes: 128 * dialect.MiB, Preload: 48 * dialect.MiB, Row: 600, Usual: true}, // O_DIRECT: the pool is all
		CopiedKinds: []filewise.Kind{filewise.KindSystem},
		Reset:       true, Lifecycle: true,
		BackupKinds: e.product.BackupKinds, TempKinds: e.product.TempKinds, Scans: true,
		RowKinds: []filewise.Kind{filewise.KindPartitions},
		Note: "the server has one redo log and one buffer pool for all files of a layout: " +
			"a verdict is one on InnoDB, and says nothing about data files of SQL Server or Oracle",
		Schemes: []string{e.product.Name}, Port: external.Port, ExternalKinds: external.Kinds,
		Rights: external.Engine{Product: e.product}.Rights(), Understands: e.product.Understands,
	}
	if e.product.NoTemp == "" {
		d.TempModes = []filewise.Mode{filewise.Managed}
	}
	if _, err := e.product.Managed.Find(context.Background(), ""); err != nil {
		d.Missing = e.product.Managed.Remedy
	}
	return d
}

// Migrate writes the scripts that take a user's tables to a layout, see external.Engine.Migrate.
func (e Engine) Migrate(ctx context.Context, t filewise.Target, w filewise.Wish) (filewise.Migration, error) {
	return external.Engine{Product: e.product}.Migrate(ctx, t, w)
}

// BackupArms are what is compared of backups of a user's database.
func (e Engine) BackupArms(t filewise.Target, p filewise.Program) ([]string, error) {
	return external.Engine{Product: e.product}.BackupArms(t, p)
}

// BackupScript makes and restores a backup without Filewise.
func (e Engine) BackupScript(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.BackupScript, error) {
	return external.Engine{Product: e.product}.BackupScript(t, l, p)
}

// Release is what two versions must have in common.
func (e Engine) Release(version string) string {
	return external.Engine{Product: e.product}.Release(version)
}
