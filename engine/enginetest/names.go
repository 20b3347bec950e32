package enginetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"filewise"
)

// hostile are parts of names that end a quoted text, a statement or an option
// somewhere, or that a shell or a format would read.
var hostile = []string{
	"it's", `a"b`, "back`tick", `back\slash`, "semi;colon", "a,b", "x:y", "dash--dash", "per%cent%s%d", "$HOME $(id)",
	"new\nline", "tab\there", "#hash", "[brackets]", "=equals", "' OR '1'='1", `'; DROP TABLE fw_rows; --`, `\'); --`,
}

// harmless are names that every engine must bear.
const harmless = "Größe of 数据 1"

// testNames checks that unusual names of volumes, directories and layouts are used literally, or are refused before
// anything is done.
func testNames(t *testing.T, s Subject) {
	b := newBench(t, s)
	t.Run("Layouts", func(t *testing.T) {
		for _, name := range []string{strings.Join(append(hostile[:len(hostile):len(hostile)], harmless), " "),
			"../../up " + strings.Repeat("long ", 60), ""} {
			l := b.layout(2)
			l.Name = name
			bears(t, b.as(t), l)
		}
	})
	t.Run("Volumes", func(t *testing.T) {
		if s.Foreign != nil {
			t.Skip("the server has its own directories: their names are tested with the adapter")
		}
		borne, not := b.as(t).sorted()
		if !slices.Contains(borne, harmless) || len(borne) == 1 {
			t.Errorf("of the names, only these are borne: %q", borne)
		}
		t.Run("borne", func(t *testing.T) {
			t.Logf("borne: %q", borne)
			b := named(t, s, strings.Join(borne, " "))
			bears(t, b, b.layout(2))
		})
		t.Run("refused", func(t *testing.T) {
			if len(not) == 0 {
				t.Skip("no hostile name is refused")
			}
			t.Logf("refused: %q", not)
			isRefused(t, s, strings.Join(not, " "))
		})
	})
}

// bears takes a layout through a small trial.
func bears(t *testing.T, b *bench, l filewise.Layout) {
	t.Helper()
	ctx := context.Background()
	w := b.workload(params())
	script, err := b.s.Engine.Statements(b.target, l, w.Program())
	fatal(t, err)
	before := b.listing()
	db, err := b.server.Build(ctx, l, w.Program())
	if err != nil {
		t.Fatalf("layout %q on volumes %q: %v", l.Name, b.target.Volumes, err)
	}
	found, err := db.Observe(ctx)
	fatal(t, err)
	if err := l.Verify(script.Files, found, false); err != nil {
		t.Errorf("layout %q: %v", l.Name, err)
	}
	for _, f := range found {
		b.isWithin(f)
	}
	ledger, errs := b.work(ctx, db, w.Program(), nil, 20)
	noErrors(t, errs)
	b.check(db, w, ledger)
	fatal(t, db.Drop(ctx))
	sameListing(t, before, b.listing())
}

// isWithin checks that a local file lies within its volume, whatever the names are.
func (b *bench) isWithin(f filewise.File) {
	b.t.Helper()
	if b.s.Foreign != nil || b.s.DiskFull == 0 { // not local, or no files at all
		return
	}
	for _, v := range b.target.Volumes {
		if v.Name != f.Volume {
			continue
		}
		path, err := filepath.Rel(v.Dir, f.Path)
		if err != nil || !filepath.IsLocal(path) {
			b.t.Errorf("%s is not within volume %s, %s", f.Path, v.Name, v.Dir)
		}
		return
	}
	b.t.Errorf("%s is on volume %q, which there is not", f.Path, f.Volume)
}

// named returns a bench on volumes of that name, in directories of that name.
func named(t *testing.T, s Subject, name string) *bench {
	t.Helper()
	dir, err := os.MkdirTemp("", "fw")
	fatal(t, err)
	t.Cleanup(func() { fatal(t, os.RemoveAll(dir)) })
	return benchOn(t, s, dir, userVolumes(t, dir, flat(name), flat(name)+"2"))
}

// flat returns a name within one directory.
func flat(name string) string { return strings.ReplaceAll(name, "/", "") }

// sorted checks for each hostile name whether Statements refuses it.
func (b *bench) sorted() (borne, not []string) {
	b.t.Helper()
	for _, name := range append(hostile[:len(hostile):len(hostile)], harmless) {
		target := b.s.Target([]filewise.Volume{{Name: flat(name), Dir: filepath.Join(b.dir, flat(name))}})
		_, err := b.s.Engine.Statements(target, b.layout(2), b.workload(params()).Program())
		switch {
		case err == nil:
			borne = append(borne, name)
		case filewise.RemedyOf(err) == "" || filewise.CodeOf(err) != filewise.CodeUsage && filewise.CodeOf(err) != filewise.CodePreflight:
			b.t.Errorf("a volume %q is refused without a remedy, or as what it is not: %v", name, err)
		default:
			not = append(not, name)
		}
	}
	return borne, not
}

// isRefused checks that opening or building on a volume with this name fails before anything is written.
func isRefused(t *testing.T, s Subject, name string) {
	t.Helper()
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "fw")
	fatal(t, err)
	t.Cleanup(func() { fatal(t, os.RemoveAll(dir)) })
	b := &bench{t: t, s: s, dir: dir, target: s.Target(userVolumes(t, dir, flat(name)))}
	before := b.listing()
	if b.server, err = s.Engine.Open(ctx, b.target); err == nil {
		l := filewise.Layout{Name: "2 files", Kind: s.Kind, Data: filewise.Spread{Files: 2, Bytes: s.Bytes, Allocation: filewise.Growing}}
		var db *filewise.Database
		if db, err = b.server.Build(ctx, l, b.workload(params()).Program()); err == nil {
			err = errors.Join(fmt.Errorf("it was built, which Statements had refused"), db.Drop(ctx))
			t.Error(err)
		}
		fatal(t, b.server.Close())
	}
	t.Log(err)
	if after := b.listing(); !slices.Equal(before, after) {
		t.Errorf("something is left behind: %q", after)
	}
}

func tryVolumes(t *testing.T, b *bench, offered bool) {
	l := b.layout(4)
	l.Data.Placement = filewise.PlaceRoundRobin
	_, two := b.second()
	if !two {
		t.Skip("files on several volumes are NOT tested: the target has one volume")
	}
	on := volumesOf(built(t, b, l, offered), filewise.RoleData)
	first, second := b.target.Volumes[0].Name, b.target.Volumes[1].Name
	if offered && (on[first] != 2 || on[second] != 2) {
		t.Errorf("4 files round-robin over two volumes lie as %v", on)
	}
}

// tryLogApart checks that the log lies on the second volume, and no data do.
func tryLogApart(t *testing.T, b *bench, offered bool) {
	second, two := b.second()
	if offered && !two {
		t.Skip("a log on a separate volume is NOT tested: the target has one volume")
	}
	l := b.layout(2)
	l.Data.Placement, l.LogVolume = filewise.PlaceRoundRobin, second
	files := built(t, b, l, offered)
	if offered {
		apart(t, files, filewise.RoleLog, second)
	}
}

// tryIndexApart checks that indexes lie in separate files, on the second volume if there is one. An engine that offers
// separate files must also offer indexes in the table's files, for comparison.
func tryIndexApart(t *testing.T, b *bench, offered bool) {
	for _, indexes := range []string{filewise.IndexesApart, filewise.IndexesTogether} {
		t.Run(indexes, func(t *testing.T) {
			b := b.as(t)
			l := b.layout(2)
			l.Indexes = indexes
			second, two := b.second()
			if indexes == filewise.IndexesApart && two {
				l.Data.Placement, l.IndexVolume = filewise.PlaceRoundRobin, second
			}
			files := built(t, b, l, offered)
			switch on := volumesOf(files, filewise.RoleIndex); {
			case !offered:
			case indexes == filewise.IndexesTogether:
				if len(on) > 0 {
					t.Errorf("indexes lie together with their table, but in separate files: %v", on)
				}
			case two:
				apart(t, files, filewise.RoleIndex, second)
			case len(on) == 0:
				t.Errorf("no file of indexes among %v", files)
			}
		})
	}
}

// apart checks that the files of a role lie on a volume without data files.
func apart(t *testing.T, files []filewise.File, role filewise.Role, volume string) {
	t.Helper()
	on, data := volumesOf(files, role), volumesOf(files, filewise.RoleData)
	if on[volume] == 0 || len(on) != 1 || data[volume] != 0 || len(data) == 0 {
		t.Errorf("files of role %s should lie on volume %s alone: they lie as %v, and the data as %v", role, volume, on, data)
	}
}

// volumesOf returns the number of files of a role on each volume.
func volumesOf(files []filewise.File, role filewise.Role) map[string]int {
	on := map[string]int{}
	for _, f := range files {
		if f.Role == role {
			on[f.Volume]++
		}
	}
	return on
}
