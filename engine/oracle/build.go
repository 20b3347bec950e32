package oracle

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"filewise"
	"filewise/engine/internal/script"
)

// build is one build of a layout on the server.
type build struct {
	server  *server
	design  *design
	steps   script.Steps
	conn    held // announces the build as long as it exists
	markers markers
	copy    copied

	mu       sync.Mutex
	extended bool // the files that are added later exist
	dropped  bool

	clean, wrote time.Duration // see Settle
}

// create creates everything, and then checks it, because the server also creates objects that do not compile.
func (b *build) create(ctx context.Context) (err error) {
	if b.steps, err = b.design.steps(b.design.markerText); err != nil {
		return err
	}
	if err := b.steps.At(filewise.StageBuild).Run(ctx, b.do); err != nil {
		return filewise.HideIn(err, filewise.Secret(b.design.names.Password))
	}
	wrong, err := rows(ctx, b.conn, 3, "compile-errors", nil, b.design.names.Tablespace+"%")
	if err != nil || len(wrong) == 0 {
		return err
	}
	if b.design.isCustom() {
		return filewise.Errorf(filewise.CodeUsage, "mend it in the set-up", "the set-up's PL/SQL does not compile: %s, line %s: %s",
			text(wrong[0][0]), text(wrong[0][1]), text(wrong[0][2]))
	}
	return filewise.Errorf(filewise.CodeInternal, "report it with `filewise doctor`: Filewise's PL/SQL does not compile on this release",
		"%s, line %s: %s", text(wrong[0][0]), text(wrong[0][1]), text(wrong[0][2]))
}

// do executes a step. Before a step that alters a tablespace it reads the tablespace's marker.
func (b *build) do(ctx context.Context, x script.Step) error {
	s := statement{section: x.Section, text: x.Text}
	if x.Section == "copy-export" {
		return b.server.taken.once(ctx, b.conn, func() error { return b.markers.alter(ctx, b.design.names.Tablespace, s) })
	}
	if x.Section == "made" {
		sum, err := b.markers.sum(ctx, b.design.names.Tablespace)
		if err != nil {
			return err
		}
		s.text = strings.Replace(s.text, sumLater, sum, 1)
	}
	if name, is := strings.CutPrefix(x.On, inTablespace); is {
		return b.markers.alter(ctx, name, s)
	}
	return b.conn.exec(ctx, s)
}

// Extend adds the further files of a layout that has AddedLater.
func (b *build) Extend(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := b.design
	if d.layout.AddedLater == "" {
		return absent("", "layout %s has no files that are added later", d.layout.Name)
	}
	if b.extended {
		return filewise.Errorf(filewise.CodeInternal, "", "layout %s has been extended", d.layout.Name)
	}
	if err := b.steps.At(filewise.StageExtend).Of("add-file").Run(ctx, b.do); err != nil {
		return err
	}
	b.extended = true
	return b.steps.At(filewise.StageExtend).Of("rebuild").Run(ctx, b.do)
}

// Settle writes all changes to the files, by taking the tablespaces offline and online again. Nothing else on the
// server is written, and their cached blocks must be read again. The first time Settle does it twice, to learn how long
// it takes if nothing was changed. That time grows with the number of files.
func (b *build) Settle(ctx context.Context) error {
	took, _, err := b.settle(ctx)
	if err == nil && b.clean == 0 {
		b.clean, _, err = b.settle(ctx)
	}
	b.wrote = max(took-b.clean, 0)
	return err
}

// settled returns how long Settle wrote. It leaves out going online, and the time that going offline takes for a clean
// tablespace.
func (b *build) settled(context.Context) (filewise.Settled, error) {
	return filewise.Settled{Took: &b.wrote}, nil
}

// Cool removes the build's blocks from the buffer cache, by taking their tablespaces offline.
func (b *build) Cool(ctx context.Context) error {
	_, _, err := b.settle(ctx)
	return err
}

// Cycle takes the build's tablespaces offline, which writes their changes, and online.
func (b *build) Cycle(ctx context.Context) (offline, online time.Duration, err error) {
	return b.settle(ctx)
}

// settle takes the tablespaces offline and online, and returns how long each took.
func (b *build) settle(ctx context.Context) (offline, online time.Duration, err error) {
	for _, x := range b.steps.At(filewise.StageSettle) {
		do, start := ctx, time.Now()
		if x.Section == "online" { // it cannot be kept offline
			do = context.WithoutCancel(ctx)
		}
		if err := b.do(do, x); err != nil {
			return 0, 0, err
		}
		if x.Section == "offline" {
			offline += time.Since(start)
		} else {
			online += time.Since(start)
		}
	}
	return offline, online, nil
}

// Drop drops the build. Calling Drop twice is harmless.
func (b *build) Drop(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dropped {
		return nil
	}
	if err := b.copy.close(); err != nil { // a user with sessions cannot be dropped
		return err
	}
	// The build's own connection may have broken.
	m := markers{b.server.control, b.server.about.account}
	if err := m.dropBuild(ctx, b.design.names.Tablespace, b.design.names.Index); err != nil {
		return fmt.Errorf("dropping %s: %w", b.design.names.Tablespace, err)
	}
	b.dropped = true
	_ = b.conn.close() // it has nothing open; if it broke, it is gone either way
	b.server.builds.Remove(b)
	return nil
}

// Query runs a section of the workload's SQL, for all tables.
func (b *build) Query(ctx context.Context, section string) ([][]any, error) {
	d := b.design
	if d.isCustom() {
		x, err := d.custom.Rules().Query(d.program.Custom, section)
		if err != nil {
			return nil, err
		}
		found, err := b.reader().rows(ctx, statement{section: "custom", text: unquoted(x)})
		return trimmed(found), err
	}
	if !workloads[d.program.SQL()].Has(section) {
		return nil, absent("", "section %q", section)
	}
	all, err := d.statements(section, d.tableOf(0))
	if err != nil {
		return nil, err
	}
	var out [][]any
	for _, s := range all {
		found, err := b.conn.rows(ctx, s)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return trimmed(out), nil
}

// trimmed removes the spaces around texts in rows. An empty text becomes NULL, as in Oracle.
func trimmed(rows [][]any) [][]any {
	for _, r := range rows {
		for i, v := range r {
			if s, ok := v.(string); ok {
				if r[i] = strings.TrimSpace(s); r[i] == "" {
					r[i] = nil
				}
			}
		}
	}
	return rows
}

// database returns the build for the layers above.
func (b *build) database() *filewise.Database {
	db := &filewise.Database{Build: b, Cool: b.Cool, Cycle: b.Cycle, Settled: b.settled, ParallelWorkers: b.parallelWorkers}
	if b.design.layout.AddedLater != "" {
		db.Extend = b.Extend
	}
	if len(b.design.objects.loaded) > 0 {
		db.Bulk = bulk{b}
	}
	if !b.server.missing["V_$SYSTEM_EVENT"] {
		db.Probes = append(db.Probes, filewise.ProbeOf(filewise.ProbeWaits, b.waits))
		if b.server.about.container == "" {
			db.Probes = append(db.Probes, filewise.ProbeOf(filewise.ProbeBackground, b.background))
		}
	}
	if !b.server.missing["V_$FILESTAT"] {
		db.Probes = append(db.Probes, filewise.ProbeOf(filewise.ProbeFiles, b.fileIO))
	}
	return db
}
