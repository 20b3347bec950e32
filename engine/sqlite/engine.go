// Package sqlite lays a database out on several SQLite files (sharding). Each file has its own write lock and
// write-ahead log. SQLite runs inside Filewise.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"filewise"
)

// Name is the engine's name on the command line.
const Name = "sqlite"

// New returns the engine.
func New() filewise.Engine { return engine{} }

type engine struct{}

func (engine) Name() string { return Name }

// Open checks that the volumes are directories. It starts nothing.
func (engine) Open(_ context.Context, t filewise.Target) (filewise.Server, error) {
	for _, v := range t.Volumes {
		info, err := os.Stat(v.Dir)
		if err == nil && !info.IsDir() {
			err = errors.New("it is not a directory")
		}
		if err != nil {
			return nil, filewise.Errorf(filewise.CodePreflight, "name an existing directory", "volume %s, %s: %w", v.Name, v.Dir, err)
		}
	}
	if len(t.Volumes) == 0 {
		return nil, filewise.Errorf(filewise.CodeUsage, "give at least one volume", "SQLite has no volume to place files on")
	}
	if _, err := settingsOf(t); err != nil {
		return nil, err
	}
	return &server{target: t}, nil
}

type server struct {
	target filewise.Target
	builds serials
}

// Offers describes what SQLite does not offer, and why.
func (*server) Offers() map[filewise.Capability]error {
	absent := func(why string) error { return fmt.Errorf("%s: %w", why, filewise.ErrUnsupported) }
	return filewise.Offering(map[filewise.Capability]error{ // a restart closes every connection, and with it its page cache
		filewise.CanLogApart:   absent(logTogether),
		filewise.CanIndexApart: absent(indexesWithin),
		filewise.CanReset:      absent("SQLite's files are rebuilt for every trial"),
		filewise.CanTemp:       absent(noTemp),
		filewise.CanFileIO: absent("SQLite counts no I/O per file: Filewise counts the rows committed to each and its growth, the " +
			"operating system the I/O per device"),
	})
}

// Close does nothing, because each build has its own Drop.
func (*server) Close() error { return nil }

// Describe describes what N files mean on SQLite.
func (engine) Describe() filewise.Description {
	return filewise.Description{
		Mode:           filewise.Embedded,
		Scans:          true,
		Files:          "N database files with a shard of the table each, and a write lock and a WAL for each file",
		Kinds:          []filewise.Kind{filewise.KindShards},
		StripesAsFiles: true,
		Usual:          map[string]filewise.Usual{"dml": {Step: pageBytes, RowsGrown: 4000}}, // some 22 bytes a row
		Note:           "each file has its own write lock and syncs. Results do not carry over to SQL Server or Oracle",
	}
}

// serials keeps the file names of simultaneous builds apart. Such builds are of one layout, or of layouts whose names
// make the same file name.
type serials struct {
	mu    sync.Mutex
	taken map[string]map[int]bool
}

// take returns the lowest free number for a build's name, from 1.
func (n *serials) take(name string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.taken == nil {
		n.taken = map[string]map[int]bool{}
	}
	if n.taken[name] == nil {
		n.taken[name] = map[int]bool{}
	}
	i := 1
	for n.taken[name][i] {
		i++
	}
	n.taken[name][i] = true
	return i
}

// release frees a number once the build's files are gone.
func (n *serials) release(name string, number int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.taken[name], number)
}
