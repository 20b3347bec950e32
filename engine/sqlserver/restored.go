package sqlserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/engine/internal/sqlrows"
	"filewise/engine/sqlserver/dialect"
	"filewise/engine/userbackup"
	"filewise/internal/marker"
)

// restoredGroup is the filegroup for spread tables in a build that is restored from a backup of a user's database. It
// has as many files as the layout, even if that is one, so that all layouts are treated equally.
const restoredGroup = "filewise_files"

// source is the origin of restored builds: backup files that the server sees, or a database on the server.
type source struct {
	backup   []string
	database string
}

func sourceOf(from string) (source, error) {
	if !strings.Contains(from, "://") {
		all, err := splitPath(from)
		if err != nil {
			return source{}, usage(`name all files of a backup as the server sees them, such as D:\backup\shop.bak or `+
				`D:\backup\shop_1.bak,E:\backup\shop_2.bak: the first set in them`, "--from: %w", err)
		}
		return source{backup: all}, nil
	}
	u, err := url.Parse(from)
	if err != nil {
		return source{}, usage("name a database by URL, or a backup", "--from: %w", err)
	}
	for name, values := range u.Query() {
		if strings.EqualFold(name, "database") && values[0] != "" {
			return source{database: values[0]}, nil
		}
	}
	return source{}, usage("name the database, too: sqlserver://USER@HOST?database=NAME", "--from %s names no database", from)
}

// checkRestored refuses layouts that a restored build cannot have.
func (d *design) checkRestored() error {
	if err := onlyKeeps(d.target.Settings, "with --from the copy has the settings of the original"); err != nil {
		return err
	}
	_, err := sourceOf(d.program.Custom.From)
	return err
}

// onlyKeeps refuses settings for new databases. why explains why none applies.
func onlyKeeps(given map[string]string, why string) error {
	for name := range given {
		if strings.ReplaceAll(strings.ToLower(name), "_", "-") != "keep-backups" {
			return unsupported("leave it out", "--set %s applies to new databases only: %s", name, why)
		}
	}
	return nil
}

// restoredTo returns the directory for a restored file.
func (d *design) restoredTo(_ string, log bool) joiner {
	if log {
		return d.logDir
	}
	return d.where[d.data[0].volume]
}

// restored adds the steps of a restored build. Only the server has the files and the definitions.
func (s stepper) restored() {
	d := s.d
	from, err := sourceOf(d.program.Custom.From)
	s.AddAll("", "", nil, err)
	t := transfer{stripes: from.backup, theirs: from.backup != nil}
	if from.backup == nil {
		path, err := d.restoredTo("", false).Join(marker.PlanName + "_backup_1_01.bak")
		s.AddAll("", "", nil, err)
		t.stripes = []string{path}
		vars := t.vars()
		vars["Source"] = from.database
		s.render(filewise.StageBuild, "database "+from.database, "backup", vars)
	}
	vars := t.vars()
	vars["Name"], vars["Mark"] = d.name, d.marker
	var moves []move
	for i, logical := range []string{"(its file)", "(its log)"} {
		path, err := d.restoredTo("", i > 0).Join(fmt.Sprintf("%s_restored_%02d%s", d.name, i+1, []string{".ndf", ".ldf"}[i]))
		s.AddAll("", "", nil, err)
		moves = append(moves, move{logical, path})
	}
	vars["Moves"] = moves
	s.render(filewise.StageBuild, onServer, "backup-files", t.first())
	s.render(filewise.StageBuild, onServer, "restore", vars)
	s.server(filewise.StageBuild, "restored-options")
	s.Sections(filewise.StageBuild, "keep")
	s.server(filewise.StageBuild, "add-files")
	for _, name := range d.spreads() {
		s.Add(filewise.StageBuild, d.on(), "-- of "+name+" each index by its own definition, the rows first; the files have the size of "+
			"what comes into them:\n"+
			"CREATE … INDEX … WITH (DROP_EXISTING = ON) ON "+dialect.Ident(restoredGroup))
	}
}

// spreads returns the tables that the layout spreads, or none for the large ones.
func (d *design) spreads() (names []string) {
	for _, t := range d.program.Custom.Tables {
		names = append(names, t.Name)
	}
	return names
}

// fromBackup restores the copy of a user's database, and moves its tables to the layout's files.
func (b *build) fromBackup(ctx context.Context) error {
	d, s := b.design, b.server
	from, err := s.backupOf(ctx, d)
	if err != nil {
		return err
	}
	l, err := s.openLong(ctx, "master")
	if err != nil {
		return err
	}
	err = l.restore(ctx, from, d.name, d.marker, d.restoredTo)
	if err = errors.Join(err, l.close()); err != nil {
		return err
	}
	if err := b.steps.At(filewise.StageBuild).Of("restored-options").Run(ctx, b.do); err != nil {
		return err
	}
	if err := b.steps.At(filewise.StageBuild).Of("keep").Run(ctx, b.do); err != nil {
		return err
	}
	return b.spread(ctx)
}

// spread moves the tables to the layout's files, and checks that nothing is lost. It compares the definitions of what
// moved in every build. It compares the contents only in each layout's first build, because that reads everything.
func (b *build) spread(ctx context.Context) error {
	d, s := b.design, b.server
	read := s.definitionsIn(ctx, b.inside, d.name)
	tables, err := read.Tables(d.spreads())
	if err != nil {
		return err
	}
	_, known := s.compared.Load(d.layout.Name)
	var before []string
	if !known {
		if before, err = s.content(ctx, b.inside, d.name); err != nil {
			return err
		}
	}
	d.enlarge(tables)
	text, err := d.batch("add-files", d.vars())
	if err == nil {
		err = exec(ctx, s.control, text)
	}
	if err != nil {
		return err
	}
	made := d.definitions(tables)
	if err := exec(ctx, b.inside, made...); err != nil {
		return err
	}
	if tables, err = read.Tables(d.spreads()); err != nil {
		return err
	}
	if !slices.Equal(made, d.definitions(tables)) || !d.moved(tables) {
		return fmt.Errorf("%w: an index is not in the place it was built in, or not as it was", filewise.ErrLayout)
	}
	if known {
		return nil
	}
	after, err := s.content(ctx, b.inside, d.name)
	if err == nil {
		err = userbackup.Same(before, after)
	}
	if err == nil {
		s.compared.Store(d.layout.Name, true)
	}
	return err
}

// groupOf returns the filegroup for an index.
func (d *design) groupOf(x dialect.Index) string {
	if x.ID > 1 && d.layout.Indexes == filewise.IndexesApart {
		return indexGroup
	}
	return restoredGroup
}

func (d *design) definitions(tables []dialect.Table) (all []string) {
	for _, t := range tables {
		for _, x := range t.Indexes {
			all = append(all, t.Create(x, d.groupOf(x), false))
		}
	}
	return all
}

func (d *design) moved(tables []dialect.Table) bool {
	for _, t := range tables {
		if slices.ContainsFunc(t.Indexes, func(x dialect.Index) bool { return x.Space != d.groupOf(x) }) {
			return false
		}
	}
	return true
}

// enlarge makes the files large enough for the tables' data, unless they are to grow.
func (d *design) enlarge(tables []dialect.Table) {
	if d.layout.Data.Allocation == filewise.Growing {
		return
	}
	sizes := map[string]int64{}
	for _, t := range tables {
		for _, x := range t.Indexes {
			sizes[d.groupOf(x)] += x.Bytes
		}
	}
	for _, files := range [][]file{d.data, d.index} {
		for i, f := range files {
			files[i].KB = max(f.KB, dialect.Each(sizes[f.group], len(files), leastFile)/kib)
		}
	}
}

// definitionsIn returns a reader of definitions in a copy or in the original.
func (s *externalServer) definitionsIn(ctx context.Context, on *sql.DB, database string) dialect.Reader {
	return func(section string, args ...any) ([]filewise.Row, error) {
		text, err := tablesSQL.Statement(section, map[string]any{"Sequential": s.identity.version.major >= 15})
		if err != nil {
			return nil, err
		}
		rows, err := sqlrows.Query(ctx, on, text, args...)
		if err != nil {
			return nil, fmt.Errorf("database %s: %w", database, err)
		}
		return filewise.RowsOf(rows), nil
	}
}

// backupOf returns the backup that builds are restored from. A backup of a database is made once for all builds of a
// run, and removed at the end of the run.
func (s *externalServer) backupOf(ctx context.Context, d *design) (t transfer, err error) {
	from, err := sourceOf(d.program.Custom.From)
	if err != nil || from.database == "" {
		return transfer{stripes: from.backup, theirs: true}, err
	}
	if s.origin == nil {
		var found original
		err = s.within(from.database, func(db *sql.DB) (err error) {
			found, err = s.original(ctx, db, from.database)
			return err
		})
		if err != nil {
			return t, err
		}
		prefix := marker.NewName()
		k := &backuper{server: s, of: backedUp{database: from.database, prefix: prefix, keep: d.settings.keepBackups, file: found.file,
			custom: true,
			stripes: func(name string) ([]filewise.File, error) {
				path, err := d.restoredTo("", false).Join(name + "_01.bak")
				return []filewise.File{{Role: filewise.RoleBackup, Volume: d.data[0].volume, Path: path}}, err
			},
			transfer: func(stripes []string) transfer { return transfer{stripes: stripes} }}}
		if err := k.checkVolumes(d.target.Volumes[:1]); err != nil {
			return t, err
		}
		if _, err := k.Backup(ctx); err != nil {
			return t, errors.Join(err, k.Discard(context.WithoutCancel(ctx)))
		}
		s.origin = k
	}
	return transfer{stripes: pathsOf(s.origin.written)}, nil
}

// restorable checks, before anything is built, what builds will be restored from.
func (e *examination) restorable(ctx context.Context) {
	if !e.Demand.Program.Restored() {
		return
	}
	const check = "data of --from"
	from, err := sourceOf(e.Demand.Program.Custom.From)
	s, bytes := e.server, int64(0)
	var rows []row
	switch {
	case err != nil:
	case from.database != "":
		bytes, err = s.spreadable(ctx, from.database, e.Demand)
	default:
		rows, err = askAll(ctx, s.control, "backup-files", transfer{stripes: from.backup}.first())
	}
	if err != nil {
		err = s.login.explain(err)
		remedy := filewise.RemedyOf(err)
		if remedy == "" {
			remedy = "name a backup that the server's service account may read, of this release or an earlier one"
		}
		e.Fail(check, remedy, "%v", err)
		return
	}
	for _, r := range rows {
		n, _ := r.Whole("Size")
		bytes += n
	}
	e.OK(check, "%s, restored for every trial; the tables that are spread leave their space in its files free", humanize.IBytes(uint64(bytes)))
	if space, v := e.Demand.Space, s.target.Volumes[0].Name; space != nil {
		space[v] += 2 * bytes
	}
}

// spreadable refuses tables of the original that cannot be moved.
func (s *externalServer) spreadable(ctx context.Context, database string, demand filewise.Demand) (bytes int64, err error) {
	err = s.within(database, func(db *sql.DB) error {
		found, err := s.original(ctx, db, database)
		if err == nil && !found.may {
			err = filewise.Errorf(filewise.CodePreflight, s.grantBackup(database), "the account may not back up database %s", database)
		}
		if err == nil && !found.marks {
			err = filewise.Errorf(filewise.CodePreflight, "take the login that owns the database, or a member of sysadmin",
				"the account does not own database %s, so it could neither mark nor drop its restored copies", database)
		}
		if err == nil {
			bytes = found.bytes
			_, err = s.definitionsIn(ctx, db, database).Tables((&design{program: demand.Program}).spreads())
		}
		return err
	})
	return bytes, err
}
