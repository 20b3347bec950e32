package postgres

import (
	"context"
	"hash/crc32"
	"strings"
	"sync/atomic"

	"filewise"
	"filewise/engine/internal/sampling"
)

// host is the server that a build is on, as far as a private one and a foreign
// one differ.
type host interface {
	// died tells whether the server is known to have ended.
	died() bool
	// files completes relations by what only the host knows: paths, the sizes of the
	// file system, the log.
	files(context.Context, *build, []relation) ([]filewise.File, error)
	// pathOf is where a relation lies, as Observe says.
	pathOf(relation) string
	// logPath is where the WAL lies, as Observe says; empty: it does not.
	logPath() string
	// sync brings what PostgreSQL has written to the storage where a checkpoint did
	// not.
	sync(context.Context, *build) error
	// temps are the places of temporary files, in the design's order.
	temps(*build) []filewise.File
}

// build is one build of a layout, on whatever server.
type build struct {
	design     *design
	version    int   // of the server
	sees       bool  // the account may see what the server's own processes wait for
	link       *link // to the build's database
	watcher    *watcher
	loaders    *link // to the same, for loads; nil: the workload has none
	host       host
	extended   atomic.Bool
	indexed    atomic.Bool                 // the indexes that come after the load are there
	churned    atomic.Int64                // tables that came and went
	checkpoint bool                        // the account may ask for one
	loaded     func(context.Context) error // comes after a load; nil: nothing
}

// close ends the connections of Filewise's own.
func (b *build) close() {
	if b.watcher != nil {
		b.watcher.close()
	}
	b.link.close()
	if b.loaders != nil {
		b.loaders.close()
	}
}

func (b *build) died() bool { return b.host.died() }

// database is a build as the layers above see it, without what only a private
// server offers.
func (b *build) database(drop filewise.Dropper) *filewise.Database {
	b.watcher = &watcher{link: b.link}
	waits := sampling.New(b.watcher.look)
	db := &filewise.Database{
		Observer: observer{b}, Connector: connector{b}, Settler: settler{b}, Querier: querier{b}, Dropper: drop,
		Probes: []filewise.Probe{statusProbe{b.link}, fileProbe{b}, writtenProbe{b}, checkpointProbe{b}, waits},
	}
	if b.sees {
		db.Probes = append(db.Probes, waits.Background())
	}
	if b.version >= versionIO {
		db.Probes = append(db.Probes, ioProbe{b.link})
	}
	if b.design.layout.AddedLater != "" {
		db.Extender = extender{b}
	}
	if b.design.loads() {
		b.loaders = newLoaders(b)
		db.Bulk = bulk{b, b.loaders}
	}
	return db
}

type settler struct{ build *build }

// Settle leaves nothing dirty: a checkpoint writes everything to the data files
// and syncs them. On a server whose account may not ask for one, it is left to the
// server: see Offers of an external server.
func (s settler) Settle(ctx context.Context) error {
	if s.build.checkpoint {
		if err := s.build.link.exec(ctx, "CHECKPOINT"); err != nil {
			return err
		}
	}
	return s.build.host.sync(ctx, s.build)
}

type extender struct{ build *build }

// Extend adds the further files of the layout.
func (e extender) Extend(ctx context.Context) error {
	b := e.build
	if !b.design.extends() {
		b.extended.Store(true)
		return nil
	}
	last, err := b.design.statement(sectionLast, table{})
	if err != nil {
		return err
	}
	var key int64
	if err := b.link.scan(ctx, last, nil, &key); err != nil {
		return failed("adding files", err)
	}
	b.design.newFrom = key + 1
	statements, err := b.design.extend()
	if err != nil {
		return err
	}
	if err := b.link.exec(ctx, statements...); err != nil {
		return failed("adding files", err)
	}
	b.extended.Store(true)
	return nil
}

type querier struct{ build *build }

// Query runs a section of the workload's SQL, for all tables. A COPY gives one
// row: the number of lines, and the sum over them of their CRC-32 (IEEE).
func (q querier) Query(ctx context.Context, section string) ([][]any, error) {
	d, l := q.build.design, q.build.link
	if d.own() {
		x, err := ownRules.Query(d.program.Own, section)
		if err != nil {
			return nil, err
		}
		return l.rows(ctx, x.Marked())
	}
	if !sections[d.program.Workload].Has(section) {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "section %q: %w", section, filewise.ErrUnsupported)
	}
	statements, err := d.statements(section, d.tables[0])
	if err != nil {
		return nil, err
	}
	var all [][]any
	for _, s := range statements {
		if !strings.HasPrefix(s, "COPY ") {
			rows, err := l.rows(ctx, s)
			if err != nil {
				return nil, err
			}
			all = append(all, rows...)
			continue
		}
		var lines, sum int64
		err := l.copyOut(ctx, s, func(line []byte) {
			lines++
			sum += int64(crc32.ChecksumIEEE(line[:len(line)-1])) // without the line's end
		})
		if err != nil {
			return nil, err
		}
		all = append(all, []any{lines, sum})
	}
	return all, nil
}
