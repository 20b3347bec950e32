//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"filewise"
	"filewise/engine/mariadb"
)

// runLoadMariaDB is the command load-mariadb.
func runLoadMariaDB(ctx context.Context, args []string, stdout io.Writer) (err error) {
	flags := newPeerFlags("load-mariadb", 3, 10, 1)
	if err := flags.parse(args); err != nil {
		return err
	}
	w, err := newOrders(*flags.warehouses, *flags.scale, 8)
	if err != nil {
		return err
	}
	b, err := openMaria(ctx, *flags.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if err := writeTables(w, b.scratch); err != nil {
		return err
	}
	theirs, err := b.filer(w)
	if err != nil {
		return err
	}
	generate, err := generated(w)
	if err != nil {
		return err
	}
	ours := func(ctx context.Context) (_ work, err error) {
		db, err := b.server.Build(ctx, ownTables(), w.Program())
		if err != nil {
			return work{}, err
		}
		defer func() { err = errors.Join(err, db.Dropper.Drop(ctx)) }()
		return bySelf(func() (float64, error) { return loaded(ctx, db, w) })
	}
	rows, err := loadRows(ctx, *flags.rounds, "mariadb --local-infile", generate, ours, theirs)
	if err != nil {
		return err
	}
	return print(stdout, rows)
}

// filer has the server's client load the same rows from files: the same tables
// before, and the same indexes and statistics after, by as many clients at a time
// as Filewise has loaders.
func (b *mariaBench) filer(w filewise.Workload) (func(context.Context) (work, error), error) {
	script, err := (mariadb.Engine{}).Script(b.target, ownTables(), w.Program())
	if err != nil {
		return nil, err
	}
	const database = "peer"
	planned := "" // the name that plans have for a database
	var create, finish []string
	for _, s := range script.Steps {
		if name, ok := strings.CutPrefix(s.SQL, "CREATE DATABASE `"); ok {
			planned, _, _ = strings.Cut(name, "`")
		}
		text := strings.ReplaceAll(s.SQL, "`"+planned+"`", "`"+database+"`")
		switch {
		case s.Stage == filewise.StageBuild && strings.Contains(text, "CREATE TABLE"):
			create = append(create, text)
		case s.Stage == filewise.StageLoad && (strings.HasPrefix(text, "ALTER") || strings.HasPrefix(text, "ANALYZE")):
			finish = append(finish, text)
		}
	}
	return func(ctx context.Context) (_ work, err error) {
		if _, _, err := b.client(ctx, "", append([]string{"CREATE DATABASE " + database}, create...)...); err != nil {
			return work{}, err
		}
		defer func() {
			_, _, dropErr := b.client(ctx, "", "DROP DATABASE "+database)
			err = errors.Join(err, dropErr)
		}()
		return b.loadAll(ctx, database, w, finish)
	}, nil
}

// loadAll loads every table, and then finishes.
func (b *mariaBench) loadAll(ctx context.Context, database string, w filewise.Workload, finish []string) (work, error) {
	ends := finishing(w, finish, func(table, statement string) bool {
		return strings.Contains(statement, "`fw_"+table+"`") || strings.Contains(statement, ".fw_"+table+" ")
	})
	load := func(t filewise.TableData) string {
		return fmt.Sprintf("LOAD DATA LOCAL INFILE '%s' INTO TABLE fw_%s (%s)", tableFile(b.scratch, t.Table), t.Table, strings.Join(t.Columns, ", "))
	}
	return loadedBy(ctx, w, load, ends, func(ctx context.Context, statements []string) (work, error) {
		w, _, err := b.client(ctx, database, statements...)
		return w, err
	})
}
