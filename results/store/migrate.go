package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/pressly/goose/v3"

	"filewise"
	"filewise/internal/filesystem"
	"filewise/internal/jsonform"
	"filewise/internal/sqlitedriver"
	"filewise/lab/experiment"
)

//go:embed migrations/*.sql
var migrations embed.FS

// found creates a store in an empty or absent file. It sets the application id in one transaction. So a kill leaves
// either an empty file or a store.
func found(ctx context.Context, path string) error {
	if err := filesystem.MkdirPrivate(filepath.Dir(path)); err != nil {
		return filewise.Errorf(filewise.CodeStore, "make that directory, or "+otherStore, "store %s: %w", path, err)
	}
	if err := private(path); err != nil {
		return wrap(err, path, "create")
	}
	db, err := handle(path, "rwc", "_txlock", "exclusive")
	if err != nil {
		return wrap(err, path, "create")
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return wrap(err, path, "create")
	}
	defer func() { _ = tx.Rollback() }() // after a commit this does nothing
	var id, tables int
	err = errors.Join(
		tx.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id),
		tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master").Scan(&tables))
	if err != nil {
		return wrap(err, path, "create")
	}
	if id == applicationID { // another process was faster
		return nil
	}
	if tables > 0 || id != 0 {
		return filewise.Errorf(filewise.CodeStore, otherStore, "store %s: another program has just taken it", path)
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d", applicationID)); err != nil {
		return wrap(err, path, "create")
	}
	return wrap(tx.Commit(), path, "create")
}

// private creates the file, unless it exists, such that only its user can access it. SQLite gives the journals the same
// rights.
func private(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(filesystem.MakePrivate(path), f.Close())
}

// ready brings the schema up to date and checks the file.
func (s *Store) ready(ctx context.Context, create bool) error {
	version, err := userVersion(ctx, s.db)
	if err != nil {
		return wrap(err, s.path, "open")
	}
	// The file is empty now if the creation of the store was killed, and the first read rolled its journal back.
	var id int64
	if err := s.db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		return wrap(err, s.path, "open")
	}
	if id == 0 {
		if err := absent(ctx, s.path, create); err != nil {
			return err
		}
	}
	if version < schemaVersion {
		if err := migrate(ctx, s.path); err != nil {
			return err
		}
	}
	return s.verify(ctx)
}

// migrate applies the missing migrations, each in a transaction. Its only connection keeps the file locked throughout,
// so that two processes do not migrate at the same time.
func migrate(ctx context.Context, path string) error {
	db, err := handle(path, "rw")
	if err != nil {
		return wrap(err, path, "migrate")
	}
	db.SetMaxOpenConns(1)
	defer db.Close()
	// The exclusive locking mode is set inside a transaction. If set before, two processes would both keep a shared lock
	// and wait for each other.
	if _, err := db.ExecContext(ctx, "BEGIN EXCLUSIVE; PRAGMA locking_mode = EXCLUSIVE; COMMIT"); err != nil {
		return wrap(err, path, "migrate")
	}
	conn, err := db.Conn(ctx)
	if err == nil { // the pool's one
		err = errors.Join(sqlitedriver.LimitLength(conn, longest), conn.Close())
	}
	if err != nil {
		return wrap(err, path, "migrate")
	}
	if version, err := userVersion(ctx, db); err != nil || version >= schemaVersion {
		return wrap(err, path, "migrate")
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return wrap(err, path, "migrate")
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, files,
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return wrap(err, path, "migrate")
	}
	_, err = provider.Up(ctx)
	return wrap(err, path, "migrate")
}

// schemaTypes lists the text types that have a fixed set of values.
var schemaTypes = jsonform.Types{
	reflect.TypeFor[State]():          jsonform.OneOf(Running, Done, Interrupted, Failed),
	reflect.TypeFor[filewise.State](): jsonform.OneOf(filewise.Done, filewise.Failed),
	reflect.TypeFor[filewise.Mode]():  jsonform.OneOf(filewise.Embedded, filewise.Managed, filewise.External),
	reflect.TypeFor[experiment.Ending](): jsonform.OneOf(experiment.Decided, experiment.Futile, experiment.Spent,
		experiment.Broken),
}

// ExportJSONSchema writes the JSON Schema (draft 2020-12) of ExportJSON's output.
func ExportJSONSchema(w io.Writer) error {
	root, err := jsonform.Of("A run of Filewise, as filewise export --format json writes it",
		"Every field is described in results/store/EXPORT.md. Names that end in _ns are nanoseconds.", schemaTypes, reflect.TypeFor[exported]())
	if err != nil {
		return err
	}
	var format, version any = ExportFormat, ExportSchema
	root.Properties["format"], root.Properties["schema"] = &jsonschema.Schema{Const: &format}, &jsonschema.Schema{Const: &version}
	return jsonform.Write(w, root)
}
