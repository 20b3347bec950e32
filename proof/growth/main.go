//go:build linux

// Command growth measures what commands cost by the size of their input: processor time, peak memory, and the longest
// time without output, at three sizes each. A stopped measurement can be continued. The README explains how to add a
// row.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"filewise/cmd/filewise/filewisetest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "growth:", err)
		os.Exit(1)
	}
}

// rows returns the table's rows in order.
func rows() []row {
	return slices.Concat(storeRows(), runRows(), judgeRows(), acrossRows(), captureRows(), catalogueRows(), postgresRows(), dumpRows(),
		spreadRows())
}

func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) > 2 && (args[0] == "prepare" || args[0] == "work") {
		return step(ctx, args, stdout, stderr)
	}
	flags := flag.NewFlagSet("growth", flag.ContinueOnError)
	only := flags.String("only", "", "`part` of the names of rows (default all)")
	largest := flags.Int("largest", 3, "measure so many of the three `sizes`")
	state := flags.String("state", "growth/cells.jsonl", "`file` of what is measured, to which is added")
	stored := flags.Bool("stored", false, "list the measurements without running them")
	again := flags.Bool("again", false, "measure also what is in the file; the last counts")
	dir := flags.String("dir", os.TempDir(), "`directory` for what commands are given")
	if err := flags.Parse(args); err != nil {
		return err
	}
	done, err := load(*state)
	if err != nil {
		return err
	}
	if !*stored {
		p, err := newPlace(ctx, *dir)
		if err != nil {
			return err
		}
		defer p.remove()
		for n := range min(*largest, 3) { // small sizes first
			for _, r := range rows() {
				k := key{r.name, r.sizes[n]}
				if !strings.Contains(r.name, *only) || done.has(k) && !*again {
					continue
				}
				fmt.Fprintf(stderr, "%s, %d %s\n", r.name, r.sizes[n], r.unit)
				c, err := p.measure(ctx, r, r.sizes[n])
				if err != nil {
					return fmt.Errorf("%s, %d %s: %w", r.name, r.sizes[n], r.unit, err)
				}
				if err := done.add(*state, c); err != nil {
					return err
				}
			}
		}
	}
	return done.print(stdout, *only)
}

// place is the directory in which commands are measured.
type place struct {
	dir, filewise, self string
}

func newPlace(ctx context.Context, in string) (*place, error) {
	dir, err := os.MkdirTemp(in, "growth-")
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &place{dir: dir, filewise: filepath.Join(dir, "bin", "filewise"), self: self}
	if err := filewisetest.Build(ctx, p.filewise); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return p, nil
}

func (p *place) remove() { _ = os.RemoveAll(p.dir) }

// file returns the path of a file in the place that belongs to a row and a size.
func (p *place) file(r row, size int, ending string) string {
	name := strings.NewReplacer(" ", "-", ",", "").Replace(r.name)
	return filepath.Join(p.dir, fmt.Sprintf("%s-%d%s", name, size, ending))
}

// step executes a part of a row in a separate process. Its arguments are prepare or work, the row, the size and the
// place.
func step(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	size, err := strconv.Atoi(args[2])
	if err != nil || len(args) != 4 {
		return fmt.Errorf("arguments %q", args)
	}
	p := &place{dir: args[3], filewise: filepath.Join(args[3], "bin", "filewise")}
	for _, r := range rows() {
		switch {
		case r.name != args[1]:
		case args[0] == "prepare":
			return r.prepare(ctx, p, r, size)
		default:
			return r.work(ctx, p, r, size, stdout, stderr)
		}
	}
	return fmt.Errorf("no row %q", args[1])
}
