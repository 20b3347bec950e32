// Package dump reads what pg_dump has written of a user's database. It checks whether a layout can hold the tables, and
// fills a build from the dump.
package dump

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"filewise"
	"filewise/engine/internal/dumpfile"
	"filewise/engine/postgres/installed"
	"filewise/host/machine"
	"filewise/internal/filesystem"
)

const programs = "pg_dump"

// Check reads the dump that custom SQL names, and refuses layouts that cannot hold its tables.
func Check(ctx context.Context, in installed.Server, layouts []filewise.Layout, custom *filewise.CustomSQL) error {
	text, wait, err := open(ctx, in, custom.From, "--schema-only")
	var has map[string]bool
	if err == nil {
		step := dumpfile.Shown(ctx, "reading", custom.From)
		has, err = hold(layouts, custom, step.Reader(text))
		step.End()
		err = errors.Join(err, wait(err != nil))
	}
	if len(has) == 0 && (err == nil || errors.Is(err, io.ErrUnexpectedEOF)) { // a file of rows is one statement that does not end
		err = dumpfile.NotWritten(programs, "there is no CREATE TABLE in it")
	}
	if err == nil { // after an error the map would be incomplete
		err = dumpfile.CheckTables(custom, func(name string) bool { return has[name] }, " (one of another schema than public is SCHEMA.TABLE)")
	}
	return dumpfile.Failed(custom.From, programs, err)
}

var errSeveral = filewise.Errorf(filewise.CodeUsage, "leave -C out, and do not use pg_dumpall",
	"the dump contains several databases, or creates one")

// open opens the script of a dump. wait ends the program that makes the script.
func open(ctx context.Context, in installed.Server, path string, only ...string) (text io.Reader, wait func(failed bool) error,
	err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if info.IsDir() {
		if err := noLinks(path); err != nil {
			return nil, nil, err
		}
	} else {
		f, err := filesystem.OpenText(path)
		if err != nil {
			return nil, nil, err
		}
		buffered := bufio.NewReaderSize(f, 1<<20)
		head, _ := buffered.Peek(dumpfile.Head)
		if !bytes.HasPrefix(head, []byte("PGDMP")) && !bytes.Contains(head, []byte("ustar")) {
			if err := dumpfile.CheckHead(head, programs, programs); err != nil {
				return nil, nil, errors.Join(err, f.Close())
			}
			return buffered, func(bool) error { return f.Close() }, nil
		}
		f.Close() // pg_restore opens the file itself
	}
	cmd := machine.Command(ctx, in.Program("pg_restore"), append(only, "--no-owner", "--no-acl", "--no-tablespaces", "--file=-", path)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	return out, func(failed bool) error {
		if failed { // it would wait for a reader
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			return nil
		}
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("pg_restore: %w: %s", err, strings.TrimSpace(said.String()))
		}
		return nil
	}, err
}

// noLinks refuses a dump directory that contains links. pg_restore would follow them, possibly as root.
func noLinks(dir string) error {
	all, err := os.ReadDir(dir)
	for _, e := range all {
		if !e.Type().IsRegular() {
			return filewise.Errorf(filewise.CodeUsage, "give the directory as pg_dump has written it", "%s in it is not a regular file", e.Name())
		}
	}
	return err
}
