package postgres

import (
	"context"
	"hash/crc32"
	"strings"
	"sync/atomic"

	"filewise"
	"filewise/engine/internal/script"
	"filewise/engine/postgres/client"
	"filewise/engine/postgres/dialect"
	"filewise/engine/postgres/internal/probes"
)

// host is the server that a build is on. It covers the differences between a managed and an external server.
type host interface {
	// died reports whether the server is known to have ended.
	died() bool
	// files completes relations with what only the host has: paths, sizes in the file system, the log.
	files(context.Context, *build, []relation) ([]filewise.File, error)
	// pathOf returns the path of a relation in a tablespace and file as the server names them. Observe reports the same
	// path.
	pathOf(space, file string) string
	// logPath returns the WAL's path as Observe reports it, or "" if it is unknown.
	logPath() string
	// sync syncs what PostgreSQL has written to files, if its checkpoints do not.
	sync() error
	// temps returns the places of temporary files, in the design's order.
	temps(*build) []filewise.File
}

// build is one build of a layout on a server of either kind.
type build struct {
	design     *design
	version    int          // of the server
	sees       bool         // the account may see the waits of the server's own processes
	link       *client.Link // to the build's database
	steps      func() (script.Steps, error)
	drop       func(context.Context) error
	unwatch    func()       // ends the sampling of waits
	loaders    *client.Link // to the same database, for loads; nil if the workload has none
	on         string       // where its steps are done, in the words of plans
	host       host
	extended   atomic.Bool
	indexed    atomic.Bool                 // the indexes that are made after the load exist
	churned    atomic.Int64                // tables that were created and dropped
	checkpoint bool                        // the account may run CHECKPOINT
	counted    bool                        // changed is set
	changed    [2]float64                  // rows in this database and in others, when last counted
	loaded     func(context.Context) error // called after a load; nil for nothing
}

// create creates tables and procedures; on a managed server it first creates the tablespaces.
func (b *build) create(ctx context.Context) error {
	steps, err := b.steps()
	if err != nil {
		return err
	}
	return b.link.Exec(ctx, steps.At(filewise.StageBuild).On(b.on).Texts()...)
}

// close closes Filewise's own connections.
func (b *build) close() {
	if b.unwatch != nil {
		b.unwatch()
	}
	b.link.Close()
	if b.loaders != nil {
		b.loaders.Close()
	}
}

// Drop drops the build. Calling it twice is harmless.
func (b *build) Drop(ctx context.Context) error { return b.drop(ctx) }

// database returns a build for the layers above, without what only a managed server offers.
func (b *build) database(drop func(context.Context) error) *filewise.Database {
	b.drop = drop
	db := &filewise.Database{Build: b, ParallelWorkers: b.ParallelWorkers}
	if _, shared := b.host.(*externalServer); shared {
		db.Settled, db.Unsettled = b.settled, b.unsettled()
	}
	db.Probes, b.unwatch = probes.Of(probes.Server{Link: b.link, Version: b.version, Sees: b.sees, PathOf: b.host.pathOf,
		LogPath: b.host.logPath()})
	if b.design.layout.AddedLater != "" {
		db.Extend = b.Extend
	}
	if b.design.loads() {
		b.loaders = b.link.More(loaders())
		db.Bulk = bulk{b, b.loaders}
	}
	return db
}

// Settle runs a checkpoint, which writes everything to the data files and syncs them. If the account may not run one,
// the server writes when it likes: see Offers of an external server.
func (b *build) Settle(ctx context.Context) error {
	if b.checkpoint {
		if err := b.link.Exec(ctx, checkpoint); err != nil {
			return err
		}
	}
	return b.host.sync()
}

// changedRows counts changed rows in this database and in databases that are no builds. Other layouts' builds are left
// out: they take turns with this one and leave nothing to write. The server counts a working session's rows within a
// second.
const changedRows = `SELECT COALESCE(sum(tup_inserted + tup_updated + tup_deleted) FILTER (WHERE datname = current_database()), 0)::float8,
 COALESCE(sum(tup_inserted + tup_updated + tup_deleted) FILTER (WHERE datname IS NOT NULL AND datname NOT LIKE 'filewise\_%'), 0)::float8
 FROM pg_stat_database`

// manyRows is the number of rows from which their pages matter in a checkpoint.
const manyRows = 1000

// settled returns the share of other databases in the rows changed since the last call. It is 0 if too few changed, and
// on the first call.
func (b *build) settled(ctx context.Context) (done filewise.Settled, err error) {
	var own, others float64
	if err := b.link.Scan(ctx, changedRows, nil, &own, &others); err != nil {
		return done, err
	}
	newOwn, newOthers := own-b.changed[0], others-b.changed[1]
	before := b.counted
	b.changed, b.counted = [2]float64{own, others}, true
	if before && newOthers >= manyRows {
		done.Others = newOthers / (newOthers + max(newOwn, 0))
	}
	return done, nil
}

// unsettled returns an error that names the missing right if the account may not run checkpoints.
func (b *build) unsettled() error {
	if b.checkpoint {
		return nil
	}
	return filewise.Errorf(filewise.CodePreflight,
		"as a superuser: GRANT pg_checkpoint TO the account (before PostgreSQL 15, use a superuser)", "the account may not ask for a checkpoint")
}

// Extend adds the layout's further files.
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

// Query runs a section of the workload's SQL for all tables. A COPY returns one row: the number of lines, and the sum
// of the lines' CRC-32 (IEEE).
func (b *build) Query(ctx context.Context, section string) ([][]any, error) {
	d, l := b.design, b.link
	if d.custom() {
		x, err := dialect.CustomRules.Query(d.program.Custom, section)
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
