package managed

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/server"
)

// exporter copies the files of tables while the server holds them still (FLUSH
// TABLES … FOR EXPORT), and restores them as tables of another database of the
// same server (IMPORT TABLESPACE), as the manual describes under “Importing
// InnoDB Tables”. It implements filewise.Backuper.
type exporter struct{ beside }

// copied is a file with its copy in the backup, and where it is restored.
type copied struct{ volume, from, backup, restored string }

// copies are the files of the tables, with those that describe them (.cfg), which
// the server writes beside them for the export.
func (d *design) copies() []copied {
	dirs := d.backupDirs()
	var all []copied
	for i, f := range d.Files {
		v := d.Layout.BackupVolumeOf(i, d.Target.Volumes).Name
		if dirs[v] == "" { // fewer threads than volumes
			v = d.Layout.BackupVolumeOf(i%d.threads(), d.Target.Volumes).Name
		}
		for _, suffix := range []string{".ibd", ".cfg"} {
			from := strings.TrimSuffix(f.Path, ".ibd") + suffix
			name := filepath.Base(from)
			all = append(all, copied{v, from, filepath.Join(dirs[v], name), filepath.Join(filepath.Dir(filepath.Dir(from)), restoredDatabase, name)})
		}
	}
	return all
}

// copyAll copies files, or reads those that go nowhere, as many at a time as the
// backup has threads.
func (d *design) copyAll(ctx context.Context, of func(copied) (from, to string)) error {
	eg, ctx := errgroup.WithContext(ctx)
	eg.SetLimit(d.threads())
	for _, c := range d.copies() {
		eg.Go(func() error {
			from, to := of(c)
			if to == "" {
				return server.Read(ctx, from)
			}
			return server.Copy(ctx, from, to)
		})
	}
	return eg.Wait()
}

// Backup copies and syncs the tables' files.
func (b exporter) Backup(ctx context.Context) (_ []filewise.File, err error) {
	defer func() { err = failed("backup", err) }()
	d := b.instance.design
	link, err := b.instance.Link()
	if err != nil {
		return nil, err
	}
	for _, dir := range d.backupDirs() {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, err
		}
	}
	where := func(c copied) (string, string) { return c.from, c.backup }
	if d.Layout.Discard {
		where = func(c copied) (string, string) { return c.from, "" }
	}
	if err := link.Flushed(ctx, d.FlushForExport(""), func() error { return d.copyAll(ctx, where) }); err != nil || d.Layout.Discard {
		return nil, err
	}
	var files []filewise.File
	for _, c := range d.copies() {
		f, err := server.Stat(filewise.RoleBackup, c.volume, c.backup)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// restoredSchema are the tables under the other database's name.
func (d *design) restoredSchema() dialect.Schema {
	s := d.Schema
	s.Database = restoredDatabase
	return s
}

// emptied are the statements that create a database with the tables, without
// their files.
func (d *design) emptied() ([]string, error) {
	s := d.restoredSchema()
	create, err := s.CreateEmpty()
	if err != nil {
		return nil, err
	}
	all := append([]string{"CREATE DATABASE " + dialect.Ident(restoredDatabase)}, create...)
	for _, t := range s.Tables {
		all = append(all, d.tablespace(t, "DISCARD"))
	}
	return all, nil
}

// tablespace is the statement that takes a table's files away, or in.
func (d *design) tablespace(t dialect.Table, act string) string {
	what := act + " TABLESPACE"
	if d.Layout.Kind == filewise.KindPartitions {
		what = act + " PARTITION ALL TABLESPACE"
	}
	return "ALTER TABLE " + dialect.Ident(restoredDatabase) + "." + dialect.Ident(t.Name) + " " + what
}

// Restore creates the tables anew and gives them the backup's files. They are
// restored when the server has taken all of them in.
func (b exporter) Restore(ctx context.Context) (err error) {
	defer func() { err = failed("restore", err) }()
	d := b.instance.design
	statements, err := d.emptied()
	if err != nil {
		return err
	}
	if err := b.instance.exec(ctx, statements...); err != nil {
		return err
	}
	if err := d.copyAll(ctx, func(c copied) (string, string) { return c.backup, c.restored }); err != nil {
		return err
	}
	eg, ctx := errgroup.WithContext(ctx)
	eg.SetLimit(min(d.threads(), 4))
	for _, t := range d.Tables {
		eg.Go(func() error { return b.instance.exec(ctx, d.tablespace(t, "IMPORT")) })
	}
	return eg.Wait()
}
