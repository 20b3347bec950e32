package innodb

import (
	"context"

	"filewise"
	"filewise/engine/innodb/client"
	"filewise/engine/innodb/dialect"
	"filewise/engine/innodb/external"
	"filewise/engine/innodb/managed"
)

// The two products.
var (
	MariaDB = of(dialect.MariaDB)
	MySQL   = of(dialect.MySQL)
)

func of(p *dialect.Product) Engine {
	return Engine{p, managed.Engine{Product: p}, external.Engine{Product: p}}
}

type (
	byStart = managed.Engine
	byURL   = external.Engine
)

// Engine is InnoDB in one of its products, on managed and external servers. It implements what only one product can do
// for that product alone.
type Engine struct {
	product *dialect.Product
	byStart
	byURL
}

var _ interface {
	filewise.Restorer
	filewise.Filler
	filewise.Asker
} = Engine{}

// host opens servers of one kind: managed or external.
type host interface {
	Statements(filewise.Target, filewise.Layout, filewise.Program) (filewise.Statements, error)
	Open(context.Context, filewise.Target) (filewise.Server, error)
}

func (e Engine) host(t filewise.Target) host {
	if t.Mode == filewise.External {
		return e.byURL
	}
	return e.byStart
}

// Product returns the engine's product.
func (e Engine) Product() *dialect.Product { return e.product }

// Name returns the engine's name on the command line.
func (e Engine) Name() string { return e.product.Name }

// Statements describes what a build would create and execute.
func (e Engine) Statements(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Statements, error) {
	return e.host(t).Statements(t, l, p)
}

// Open tries the installed product, see managed.Engine.Open, or connects to an external server, see
// external.Engine.Open.
func (e Engine) Open(ctx context.Context, t filewise.Target) (filewise.Server, error) {
	return e.host(t).Open(ctx, t)
}

// FillWork returns the work, in payload bytes, that fills a layout's files. It returns 0 if the files fill evenly, so
// that no such amount is needed.
func (e Engine) FillWork(t filewise.Target, l filewise.Layout, p filewise.Program) (int64, error) {
	if t.Mode == filewise.External { // files of tables and partitions fill evenly
		return 0, nil
	}
	return e.byStart.FillWork(t, l, p)
}

// LoadedBytes returns the size of a managed server's data files at which a program's loaded data reach the last file.
// It returns 0 if the program loads nothing.
func (e Engine) LoadedBytes(t filewise.Target, p filewise.Program) (int64, error) {
	if t.Mode == filewise.External { // the files are as large as the data
		return 0, nil
	}
	return e.byStart.LoadedBytes(t, p)
}

// Schemes returns only the product's name.
func (e Engine) Schemes() []string { return []string{e.product.Name} }

// Describe describes the engine. It only looks for the binary.
func (e Engine) Describe() filewise.Description {
	d := filewise.Description{
		Page:  16384,
		Mode:  filewise.Managed,
		Files: "files of InnoDB's system tablespace (innodb_data_file_path), tables, or partitions",
		Kinds: []filewise.Kind{filewise.KindSystem, filewise.KindPerTable, filewise.KindPartitions},
		Bytes: e.product.Bytes, RowBytes: e.product.RowBytes, Budget: e.product.Budget, CommitEvery: 100,
		Shares: true, LeastMemory: e.product.Managed.LeastMemory,
		Usual: map[string]filewise.Usual{"inserts": {Random: true, Bytes: 128 * dialect.MiB, Preload: 48 * dialect.MiB, Row: 600},
			"scan": {Files: []int{1, 40}, IndexedFirst: true, Rescan: 20, Bytes: 128 * dialect.MiB}},
		UsualThere: map[string]filewise.Usual{"inserts": { // four rows a page
			Connections: 16, Apart: true, Row: 3900, CommitEvery: 100, Work: 192 * dialect.MiB, Files: []int{1, 4, 16},
		}},
		CopiedKinds: []filewise.Kind{filewise.KindSystem}, CopiedAlone: []filewise.Kind{filewise.KindPerTable, filewise.KindPartitions},
		Reset: true, Lifecycle: true,
		BackupKinds: e.product.BackupKinds, TempKinds: e.product.TempKinds, Scans: true,
		RowKinds: []filewise.Kind{filewise.KindPartitions},
		Note:     "all files share one redo log and one buffer pool. Results apply to InnoDB only, not to SQL Server or Oracle",
		Schemes:  e.Schemes(), Port: client.Port, ExternalKinds: external.Kinds,
		Rights: e.byURL.Rights(), Understands: e.product.Understands,
	}
	if e.product.NoTemp == "" {
		d.TempModes = []filewise.Mode{filewise.Managed}
	}
	if _, err := e.product.Managed.Find(context.Background(), ""); err != nil {
		d.Missing = e.product.Managed.Remedy
	}
	return d
}
