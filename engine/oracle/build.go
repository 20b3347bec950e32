package oracle

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"filewise"
)

// build is one layout on the server.
type build struct {
	server *server
	design *design
	conn   held // announces the build as long as it is there
	marks  marks

	mu       sync.Mutex
	extended bool // the files that are added later are there
	dropped  bool
}

// create creates everything; what it has created is marked before anything else
// is put into it.
func (b *build) create(ctx context.Context) error {
	all := []func(context.Context) error{b.createTablespaces, b.createFiles, b.createTables, b.createPrograms}
	for _, step := range all {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (b *build) createTablespaces(ctx context.Context) error {
	d := b.design
	for _, f := range append([]datafile{d.files[0]}, d.index...) {
		text, err := markText(f.tablespace)
		if err != nil {
			return err
		}
		v, err := d.createVars(f)
		if err != nil {
			return err
		}
		if err := exec(ctx, b.conn, "create", v); err != nil {
			return err
		}
		if err := b.marks.put(ctx, f.tablespace, text); err != nil {
			return err
		}
	}
	return nil
}

// createVars are those of section create for the first file of a tablespace.
func (d *design) createVars(f datafile) (vars, error) {
	clause, err := f.clause()
	kind := "SMALLFILE"
	if d.bigfile() && f.role == filewise.RoleData {
		kind = "BIGFILE"
	}
	return vars{"Type": kind, "Tablespace": f.tablespace, "File": clause}, err
}

func (b *build) createFiles(ctx context.Context) error {
	return b.addFiles(ctx, b.design.atFirst()[1:])
}

func (b *build) addFiles(ctx context.Context, files []datafile) error {
	for _, f := range files {
		clause, err := f.clause()
		if err != nil {
			return err
		}
		if err := b.marks.alterBy(ctx, f.tablespace, "add-file", vars{"File": clause}); err != nil {
			return err
		}
	}
	return nil
}

func (b *build) createTables(ctx context.Context) error {
	all, err := b.design.createdTables()
	if err != nil {
		return err
	}
	for _, s := range all {
		if err := b.conn.exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// createPrograms creates the package and the procedures. The server creates what
// does not compile as well, so it is asked.
func (b *build) createPrograms(ctx context.Context) error {
	d := b.design
	sections := d.programSections()
	if !d.phased() {
		sections = []string{"package", "package-body"}
	}
	for _, section := range sections {
		s, err := d.statement(section, table{})
		if err == nil {
			err = b.conn.exec(ctx, s)
		}
		if err != nil {
			return err
		}
	}
	for _, t := range d.tables {
		s, err := d.statement("insert", t)
		if err == nil {
			err = b.conn.exec(ctx, s)
		}
		if err != nil {
			return err
		}
	}
	wrong, err := rows(ctx, b.conn, 3, "compile-errors", nil, d.names.Tablespace+"%")
	if err != nil || len(wrong) == 0 {
		return err
	}
	return filewise.Errorf(filewise.CodeInternal, "report it with `filewise doctor`: Filewise's PL/SQL does not compile on this release",
		"%s, line %s: %s", text(wrong[0][0]), text(wrong[0][1]), text(wrong[0][2]))
}

// Extend adds the further files of a layout that is AddedLater. A rebuild moves
// every table, for which its space is needed twice for a while.
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
	if err := b.addFiles(ctx, d.files[1:]); err != nil {
		return err
	}
	b.extended = true
	if d.layout.AddedLater != filewise.LaterRebuilt {
		return nil
	}
	return b.marks.alterBy(ctx, d.names.Tablespace, "rebuild", vars{"Tables": d.tables})
}

// Settle writes everything that was changed to the files: the tablespaces are
// taken offline and online again. Nothing else of the server is written, and what
// the cache held of them is read anew.
func (b *build) Settle(ctx context.Context) error {
	for _, name := range b.tablespaces() {
		if err := b.marks.alterBy(ctx, name, "offline", nil); err != nil {
			return err
		}
		if err := b.marks.alterBy(context.WithoutCancel(ctx), name, "online", nil); err != nil {
			return err
		}
	}
	return nil
}

func (b *build) tablespaces() []string {
	n := b.design.names
	if n.Index == n.Tablespace {
		return []string{n.Tablespace}
	}
	return []string{n.Tablespace, n.Index}
}

// Drop drops the build; twice is harmless.
func (b *build) Drop(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dropped {
		return nil
	}
	// The build's own connection may be what broke.
	m := marks{b.server.control, b.server.about.account}
	if err := m.dropBuild(ctx, b.design.names.Tablespace, b.design.names.Index); err != nil {
		return fmt.Errorf("dropping %s: %w", b.design.names.Tablespace, err)
	}
	b.dropped = true
	_ = b.conn.close() // it has nothing open; a broken one is gone either way
	b.server.mu.Lock()
	defer b.server.mu.Unlock()
	delete(b.server.builds, b)
	return nil
}

// Query runs a section of the workload's SQL, for all tables.
func (b *build) Query(ctx context.Context, section string) ([][]any, error) {
	d := b.design
	if !workloads[d.program.Workload].Has(section) {
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

// trimmed are rows without spaces around texts; an empty text is NULL, as Oracle
// has it.
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

// database is the build as the layers above see it.
func (b *build) database() *filewise.Database {
	db := &filewise.Database{Observer: observer{b}, Connector: workers{b}, Settler: b, Querier: b, Dropper: b}
	if b.design.layout.AddedLater != "" {
		db.Extender = b
	}
	if len(b.design.objects.loaded) > 0 {
		db.Bulk = bulk{b}
	}
	if !b.server.missing["V_$SYSTEM_EVENT"] {
		db.Probes = append(db.Probes, waitProbe{b, false}, waitProbe{b, true})
	}
	if !b.server.missing["V_$FILESTAT"] {
		db.Probes = append(db.Probes, fileProbe{b})
	}
	return db
}
