package postgres

import (
	"context"
	"hash/crc32"
	"strings"
	"sync/atomic"

	"filewise"
	"filewise/engine/internal/script"
	"filewise/engine/postgres/internal/client"
	"filewise/engine/postgres/internal/probes"
)

// host is the server that a build is on, as far as a managed one and an external
// one differ.
type host interface {
	// died reports whether the server is known to have ended.
	died() bool
	// files completes relations by what only the host has: paths, the sizes of the
	// file system, the log.
	files(context.Context, *build, []relation) ([]filewise.File, error)
	// pathOf returns where a relation lies that the server has in that tablespace and file, as
	// Observe reports it.
	pathOf(space, file string) string
	// logPath returns where the WAL lies, as Observe reports it. If empty, unknown.
	logPath() string
	// sync brings what PostgreSQL has written to the storage if a checkpoint did
	// not.
	sync() error
	// temps are the places of temporary files, in the design's order.
	temps(*build) []filewise.File
}

// build is one build of a layout, on whatever server.
type build struct {
	design     *design
	version    int          // of the server
	sees       bool         // the account may see what the server's own processes wait for
	link       *client.Link // to the build's database
	steps      func() (script.Steps, error)
	unwatch    func()       // ends what looks at waits
	loaders    *client.Link // to the same, for loads. If nil, the workload has none
	on         string       // where its steps are done, as plans say
	host       host
	extended   atomic.Bool
	indexed    atomic.Bool                 // the indexes that come after the load are there
	churned    atomic.Int64                // tables that came and went
	checkpoint bool                        // the account may ask for one
	counted    bool                        // changed is
	changed    [2]float64                  // rows in this database and in others, when last counted
	loaded     func(context.Context) error // comes after a load. Nil means nothing
}

// create creates tables and procedures, and on a managed server tablespaces before.
func (b *build) create(ctx context.Context) error {
	steps, err := b.steps()
	if err != nil {
		return err
	}
	return b.link.Exec(ctx, steps.At(filewise.StageBuild).On(b.on).Texts()...)
}

// close ends the connections of Filewise's own.
func (b *build) close() {
	if b.unwatch != nil {
		b.unwatch()
	}
	b.link.Close()
	if b.loaders != nil {
		b.loaders.Close()
	}
}

// dropper drops a build; twice is harmless.
type dropper func(context.Context) error

// Drop drops it.
func (d dropper) Drop(ctx context.Context) error { return d(ctx) }

// database returns a build as the layers above see it, without what only a managed
// server offers.
func (b *build) database(drop dropper) *filewise.Database {
	db := &filewise.Database{
		Observer: b, Connector: b, Settler: b, Querier: b, Dropper: drop,
	}
	db.Probes, b.unwatch = probes.Of(probes.Server{Link: b.link, Version: b.version, Sees: b.sees, PathOf: b.host.pathOf,
		LogPath: b.host.logPath()})
	if b.design.layout.AddedLater != "" {
		db.Extender = b
	}
	if b.design.loads() {
		b.loaders = b.link.More(loaders())
		db.Bulk = bulk{b, b.loaders}
	}
	return db
}

// Settle leaves nothing dirty: a checkpoint writes everything to the data files
// and syncs them. On a server whose account may not ask for one, it is left to the
// server: see Offers of an external server.
func (b *build) Settle(ctx context.Context) error {
	if b.checkpoint {
		if err := b.link.Exec(ctx, checkpoint); err != nil {
			return err
		}
	}
	return b.host.sync()
}

// changedRows counts rows that were changed in this database, and in databases that are no builds: other
// layouts take turns with this one, and leave nothing to write. The server counts a session's rows a
// second later at most, while that works.
const changedRows = `SELECT COALESCE(sum(tup_inserted + tup_updated + tup_deleted) FILTER (WHERE datname = current_database()), 0)::float8,
 COALESCE(sum(tup_inserted + tup_updated + tup_deleted) FILTER (WHERE datname IS NOT NULL AND datname NOT LIKE 'filewise\_%'), 0)::float8
 FROM pg_stat_database`

// manyRows are so many that their pages count in a checkpoint.
const manyRows = 1000

// Others returns the part of the rows changed since the last call that lie in other databases; a
// managed server has no other.
func (b *build) Others(ctx context.Context) (part float64, ok bool, err error) {
	if _, shared := b.host.(*externalServer); !shared {
		return 0, false, nil
	}
	var own, others float64
	if err := b.link.Scan(ctx, changedRows, nil, &own, &others); err != nil {
		return 0, false, err
	}
	newOwn, newOthers := own-b.changed[0], others-b.changed[1]
	before := b.counted
	b.changed, b.counted = [2]float64{own, others}, true
	if !before || newOthers < manyRows {
		return 0, false, nil
	}
	return newOthers / (newOthers + max(newOwn, 0)), true, nil
}

// Unsettled returns the missing right without which the server writes when it likes.
func (b *build) Unsettled() error {
	if b.checkpoint {
		return nil
	}
	return filewise.Errorf(filewise.CodePreflight,
		"as a superuser: GRANT pg_checkpoint TO the account (before PostgreSQL 15, use a superuser)", "the account may not ask for a checkpoint")
}

// Extend adds the further files of the layout.
func (b *build) Extend(ctx context.Context) error {
	if !b.design.extends() {
		b.extended.Store(true)
		return nil
	}
	steps, err := b.steps()
	if err != nil {
		return err
	}
	var key int64
	if err := b.link.Scan(ctx, steps.Of(sectionLast)[0].Text, nil, &key); err != nil {
		return client.Failed("adding files", err)
	}
	b.design.newFrom = key + 1
	if steps, err = b.steps(); err != nil {
		return err
	}
	if err := b.link.Exec(ctx, steps.Of(b.design.extension()).Texts()...); err != nil {
		return client.Failed("adding files", err)
	}
	b.extended.Store(true)
	return nil
}

// Query runs a section of the workload's SQL, for all tables. A COPY gives one
// row: the number of lines, and the sum over them of their CRC-32 (IEEE).
func (b *build) Query(ctx context.Context, section string) ([][]any, error) {
	d, l := b.design, b.link
	if d.custom() {
		x, err := customRules.Query(d.program.Custom, section)
		if err != nil {
			return nil, err
		}
		return l.Rows(ctx, x.Marked())
	}
	if !sections[d.program.SQL()].Has(section) {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "section %q: %w", section, filewise.ErrUnsupported)
	}
	statements, err := d.statements(section, d.tables[0])
	if err != nil {
		return nil, err
	}
	var all [][]any
	for _, s := range statements {
		if !strings.HasPrefix(s, "COPY ") {
			rows, err := l.Rows(ctx, s)
			if err != nil {
				return nil, err
			}
			all = append(all, rows...)
			continue
		}
		var lines, sum int64
		err := l.CopyOut(ctx, s, func(line []byte) {
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
