package external

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/external"
	"filewise/engine/internal/script"
	"filewise/internal/marker"
)

// build is one of Filewise's databases on the server. It implements dialect.Host.
type build struct {
	server   *server
	name     string
	design   *dialect.Design
	steps    script.Steps
	control  *sql.DB        // with the database as the current one
	hold     *external.Held // locks the database's name as long as it is in use
	worked   atomic.Bool
	extended atomic.Bool

	mu      sync.Mutex
	dropped bool
}

// cannotCreate lists the errors of CREATE TABLE when InnoDB cannot make a file: ER_CANT_CREATE_TABLE, ER_GET_ERRNO.
var cannotCreate = []uint16{1005, 1030}

// build creates a database under a name that no run has used.
func (s *server) build(ctx context.Context, l filewise.Layout, p filewise.Program) (*build, error) {
	name := marker.NewName()
	g, err := newDesign(s.product, s.target, l, p, name, s.pageSize())
	if err != nil {
		return nil, err
	}
	if err := s.able(l); err != nil {
		return nil, err
	}
	all, err := steps(g, "")
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	b := &build{server: s, name: name, design: g, steps: all}
	b.worked.Store(p.Custom != nil) // the set-up of custom SQL may have filled the files already
	// The lock is taken first and released last. So a database whose name is not locked belongs to no living run.
	if b.hold, err = external.Hold(ctx, s.claim(name)); err != nil {
		return nil, s.explain(err)
	}
	if err := s.create(ctx, name, p.Custom != nil); err != nil {
		return nil, errors.Join(cause(ctx, err), b.hold.Release())
	}
	b.control = s.pool(name, controlConnections)
	s.builds.Add(b)
	link, err := b.Link()
	if err == nil {
		err = link.Exec(ctx, all.At(filewise.StageBuild).Of("").Texts()...)
	}
	elsewhere := len(directories(s.target, l)) > 0 && !errors.Is(err, filewise.ErrSpace)
	if n, ok := dialect.Number(err); ok && elsewhere && slices.Contains(cannotCreate, n) {
		err = fmt.Errorf("%w: %w", filewise.ErrVolume, err)
	}
	if err != nil {
		return nil, external.Undo(ctx, tidyPatience, cause(ctx, err), b.Drop)
	}
	return b, nil
}

// cause returns the context's cause if it brought about err, else err.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), err)
	}
	return err
}

// able returns an error if the server's set-up or the account does not allow the layout.
func (s *server) able(l filewise.Layout) error {
	if missing := s.rights.missing(needed); len(missing) > 0 {
		return filewise.Errorf(filewise.CodePreflight, s.grant(missing, ours), "the account %s lacks rights on databases of Filewise's: %s",
			s.target.Address.User, strings.Join(missing, ", "))
	}
	if v, ok := s.vars["innodb_file_per_table"]; ok && !s.on("innodb_file_per_table") {
		return filewise.Errorf(filewise.CodePreflight, "have it set to ON for the time of the experiment, or use a managed server: --engine "+
			s.product.Name,
			"innodb_file_per_table is %s on the server: tables and partitions get no separate files: %w", v, filewise.ErrUnsupported)
	}
	return s.checkDirectories(directories(s.target, l))
}

// Link returns the server. Whether it lives shows only when it is queried.
func (b *build) Link() (dialect.Link, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dropped {
		return dialect.Link{}, filewise.Errorf(filewise.CodeInternal, "", "database %s is dropped", b.name)
	}
	return dialect.Link{Control: b.control, Explain: b.server.explain, Alive: func() error { return nil }}, nil
}

// Pool returns a pool for a session's connection.
func (b *build) Pool() *sql.DB { return b.server.pool(b.name, 1) }

// Touched records that the files may have grown.
func (b *build) Touched() { b.worked.Store(true) }

// Drop drops the database if it still carries the marker. Calling Drop twice is harmless.
func (b *build) Drop(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dropped {
		return nil
	}
	if err := b.server.endDrivers(ctx, b); err != nil {
		return b.server.explain(err)
	}
	if err := b.server.remove(ctx, b.name); err != nil {
		return err
	}
	b.dropped = true
	b.server.builds.Remove(b)
	_ = b.hold.Release() // if the lock was lost, there is nothing left that it protects
	if err := b.control.Close(); err != nil {
		return fmt.Errorf("disconnecting from %s: %w", b.name, err)
	}
	return nil
}

// Extend spreads the tables over all files of the layout. In the arm whose files stay untouched, it changes nothing.
func (b *build) Extend(ctx context.Context) error {
	link, err := b.Link()
	if err != nil {
		return err
	}
	if b.design.Layout.AddedLater == "" || b.extended.Load() {
		return filewise.Errorf(filewise.CodeInternal, "", "database %s cannot be extended (again)", b.name)
	}
	if err := link.Exec(ctx, b.steps.At(filewise.StageExtend).Texts()...); err != nil {
		return cause(ctx, err)
	}
	b.design.Files, b.design.Later = b.design.All(), nil
	b.extended.Store(true)
	b.worked.Store(true)
	return nil
}

// databaseRoom is the space that a database takes on each volume in addition to its rows: undo, growth of the redo log,
// temporary tables.
const databaseRoom = 32 * dialect.MiB

// Statements describes what a build would create and execute. It does not connect.
func (d Engine) Statements(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Statements, error) {
	if t.Address == nil {
		return filewise.Statements{}, filewise.Errorf(filewise.CodeInternal, "", "a target without an address")
	}
	if _, err := d.config(*t.Address); err != nil {
		return filewise.Statements{}, err
	}
	g, err := newDesign(d.Product, t, l, p, marker.PlanName, usualPage)
	if err != nil {
		return filewise.Statements{}, err
	}
	all, err := steps(g, "Made by Filewise, which drops it: keep nothing here. {…}")
	return filewise.Statements{Files: dialect.Asked(g.All()), Warnings: g.Warnings, Space: space(g), Steps: all.Plan(nil)}, err
}

// steps returns the steps of a trial on a database marked with text.
func steps(g *dialect.Design, text string) (script.Steps, error) {
	on := g.Target.Address.String()
	w := g.Writer(on)
	w.Rendered(filewise.StageBuild, on, creation, create(g.Product, g.Database, text), nil)
	objects, err := g.Create()
	w.AddAll(filewise.StageBuild, on, objects, err)
	w.Add(filewise.StageExtend, on, g.Rebuild()...)
	w.Add(filewise.StageSettle, on, g.FlushForExport("LOCAL "), "UNLOCK TABLES")
	g.WriteLoad(w, on)
	g.WriteWork(w, on)
	w.Add(filewise.StageDrain, on, g.FlushForExport("LOCAL "), "UNLOCK TABLES")
	w.Add(filewise.StageDrop, on, markerQuery(g.Product, dialect.Literal(g.Database)), "DROP DATABASE "+dialect.Ident(g.Database))
	return w.Steps()
}

// space returns the space needed on each volume: the layout's size, or the work's if that is more. A rebuild holds the
// data twice for a while.
func space(g *dialect.Design) map[string]int64 {
	space := map[string]int64{}
	need := int64(0)
	if p := g.Program; !p.Appends() {
		need = g.Bytes(g.Page) * 11 / 10
	} else if p.First().OpBytes > 0 {
		keys := dialect.Overtaking
		if p.Table().RandomKeys {
			keys = dialect.Random
		}
		rows := dialect.Rows{PageSize: g.Page, Payload: p.First().OpBytes, Keys: keys}
		need = int64(1.1 * float64(p.WorkBytes) / float64(p.First().OpBytes) * rows.BytesPerRow())
	}
	each := max(need, g.Layout.Data.Bytes)/int64(len(g.All())) + 4*dialect.MiB // a file grows by up to 4 MiB at a time
	for i, f := range g.All() {
		space[f.Volume] += each
		if i == 0 && g.Layout.AddedLater == filewise.LaterRebuilt {
			space[f.Volume] += g.Layout.Data.Bytes / int64(g.Layout.Data.Files)
		}
	}
	for _, v := range g.Target.Volumes {
		if _, used := space[v.Name]; used {
			space[v.Name] += databaseRoom
		}
	}
	return space
}
