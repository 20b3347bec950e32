package mariadb

import (
	"context"
	"time"

	"filewise"
	"filewise/engine/internal/innodb/external"
	"filewise/engine/internal/managed"
)

// Engine is MariaDB. It implements filewise.Engine, Describer and Filler.
type Engine struct{}

// Name is the engine's name on the command line.
func (Engine) Name() string { return product.Name }

// Script says what a build would create and execute.
func (Engine) Script(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Script, error) {
	if t.Mode == filewise.External {
		return external.MariaDB.Script(t, l, p)
	}
	return product.Script(t, l, p)
}

// Open finds MariaDB and tries it, see private.Product.Open; or connects to an
// external server, see external.Dialect.Open.
func (Engine) Open(ctx context.Context, t filewise.Target) (filewise.Server, error) {
	if t.Mode == filewise.External {
		return external.MariaDB.Open(ctx, t)
	}
	return product.Open(ctx, t)
}

// Inspect looks at an existing server, see external.Dialect.Inspect.
func (Engine) Inspect(ctx context.Context, t filewise.Target) (filewise.Inspection, error) {
	return external.MariaDB.Inspect(ctx, t)
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
		// A trial fills the files, and every commit is synced twice (those that commit
		// at once share a sync): with rows of 600 bytes some 4 s on two cores and an
		// SSD, so that several blocks of five layouts fit into four minutes. 56 MiB:
		// with fewer, the first of 16 files would be larger than the others (InnoDB
		// wants 3 MiB of it), or a file would grow while it is measured.
		Bytes: 56 << 20, RowBytes: 600, Budget: 4 * time.Minute,
		Reset: true, Lifecycle: true,
		// A thread copies whole files: of partitioned tables there are several to begin with.
		BackupKinds: []filewise.Kind{filewise.KindPartitions, filewise.KindPerTable, filewise.KindSystem},
		TempKinds:   []filewise.Kind{filewise.KindPerTable},
		RowKinds:    []filewise.Kind{filewise.KindPartitions},
		Note: "the server has one redo log and one buffer pool for all files of a layout: " +
			"a verdict is one on InnoDB, and says nothing about data files of SQL Server or Oracle",
		Schemes: external.MariaDB.Schemes, Port: external.MariaDB.Port, ExternalKinds: external.Kinds, Rights: external.MariaDB.Rights(),
	}
	if _, err := server.Find(""); err != nil {
		d.Missing = product.Remedy
	}
	return d
}

// server is the binary, with the places where distributions keep it.
var server = managed.Binary{
	Names:   []string{"mariadbd", "mysqld"},
	Places:  []string{"/usr/sbin", "/usr/libexec", "/usr/local/sbin", "/usr/local/libexec", "/opt/mariadb*/bin", "/usr/local/mysql/bin"},
	Package: "mariadb-server",
}

// backupTool is MariaDB's program for backups of its files.
var backupTool = managed.Binary{
	Names:   []string{"mariadb-backup", "mariabackup"},
	Places:  []string{"/usr/bin", "/usr/local/bin", "/opt/mariadb*/bin", "/usr/local/mysql/bin"},
	Package: "mariadb-backup",
}

// findBackupTool looks beside the server that the user named, then where it is
// usually installed.
func findBackupTool(bin string) (string, error) {
	if bin != "" {
		if path, err := backupTool.Find(bin); err == nil {
			return path, nil
		}
	}
	return backupTool.Find("")
}
