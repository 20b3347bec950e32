package sqlserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/engine/sqlserver/dialect"
	"filewise/engine/userbackup"
	"filewise/internal/findings"
	"filewise/internal/marker"
)

// ownServer is an existing server that backs up a user's database to its own directories. Filewise only reads that
// database.
type ownServer struct {
	*externalServer
	their  original
	in     *sql.DB // in the database
	counts bool    // the Query Store counts what the database's clients do
}

// original is a user's database.
type original struct {
	file  string // its first file
	bytes int64
	may   bool // the account may back it up
	marks bool // the account may mark a restored copy, which has the original's dbo
}

func (s *externalServer) original(ctx context.Context, on *sql.DB, database string) (o original, err error) {
	r, err := s.askOf(ctx, on, database, "own-database", nil)
	if err == nil {
		o = original{r[0].Text("first_path"), r[0].Int("pages") * page, r[0].Yes("may_back_up"), r[0].Yes("may_mark")}
	}
	return o, err
}

func openOwn(ctx context.Context, t filewise.Target) (filewise.Server, error) {
	opened, err := openExternal(ctx, t)
	if err != nil {
		return nil, err
	}
	s := &ownServer{externalServer: opened, in: opened.login.pool(t.Database, appName, 1)}
	if s.their, err = opened.original(ctx, s.in, t.Database); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if r, err := s.ask(ctx, "own-store", nil); err == nil && len(r) == 1 { // otherwise it does not count
		s.counts = r[0].Int("state") == 2
	}
	return s, nil
}

// BackupSize returns the size of the database's files or of filegroups, and what msdb has recorded of the last full
// backup.
func (s *ownServer) BackupSize(ctx context.Context) (filewise.BackupSize, error) {
	parts := map[string]int64{}
	if s.target.Part != nil {
		rows, err := s.ask(ctx, "own-parts", nil)
		if err != nil {
			return filewise.BackupSize{}, err
		}
		for _, r := range rows {
			parts[r.Text("part")] = r.Int("pages") * page
			if r.Yes("refused") && slices.Contains(s.target.Part, r.Text("part")) {
				return filewise.BackupSize{}, unsupported("leave --part out: settings are compared by backups to NUL then",
					"a backup of filegroup %s: in the SIMPLE recovery model only read-only filegroups can be backed up by themselves", r.Text("part"))
			}
		}
	}
	size, err := userbackup.SizeOf(s.target, parts, s.their.bytes)
	if rows, unread := s.ask(ctx, "own-last", nil); unread == nil && len(rows) == 1 { // otherwise there is none, or this account cannot see it
		size.Last = time.Duration(rows[0].Int("seconds")) * time.Second
	}
	return size, err
}

// Close ends the connections.
func (s *ownServer) Close() error { return errors.Join(s.in.Close(), s.externalServer.Close()) }

func (s *ownServer) ask(ctx context.Context, section string, vars map[string]any) ([]row, error) {
	return s.askOf(ctx, s.in, s.target.Database, section, vars)
}

// askOf queries a user's database, or a copy of it.
func (s *externalServer) askOf(ctx context.Context, on *sql.DB, database, section string, vars map[string]any) ([]row, error) {
	rows, err := askOf(ctx, on, ownSQL, section, vars)
	if err == nil && len(rows) == 0 && section != "own-columns" {
		err = errors.New("no row")
	}
	if err != nil {
		return nil, s.login.explain(fmt.Errorf("%s of database %s: %w", section, database, err))
	}
	return rows, nil
}

// Facts returns facts about the server and the database, and how long a statement takes while no backup runs.
func (s *ownServer) Facts(ctx context.Context) ([]filewise.Fact, error) {
	all, err := s.serverFacts(ctx)
	if err != nil {
		return nil, err
	}
	more, err := userbackup.Facts(ctx, s.target.Database, s.their.bytes, "BACKUP DATABASE … WITH COPY_ONLY, on the server", s.probes())
	return append(all, more...), err
}

// Examine checks the space for a backup and its restored copy, and the rights to make them.
func (s *ownServer) Examine(ctx context.Context, d filewise.Demand) []filewise.Finding {
	e := &examination{findings.Examination{Demand: d}, s.externalServer}
	e.Demand.Space = map[string]int64{}
	for _, v := range s.target.Volumes {
		e.Demand.Space[v.Name] = s.their.bytes
	}
	e.versionAndEdition()
	if err := s.identity.noData; err != nil {
		e.Fail("data directory", filewise.RemedyOf(err), "%v", err)
		return e.Findings
	}
	login := s.identity.login
	e.Rights("rights", login, "may back the database up, and restore it", []findings.Right{
		{Check: "right to back up", Has: s.their.may, Lacks: "may not back up database " + s.target.Database,
			Grant: s.grantBackup(s.target.Database)},
		{Check: "right to create databases", Has: s.externalServer.may.create, Optional: true, Grant: grantTo(grantCreate, login),
			Lacks: "may not create databases, so that no backup can be restored and compared"}})
	for _, l := range d.Layouts {
		if v, _ := l.BackupOptions.Get("compression"); v == "on" && !s.identity.compressesBackups() {
			e.Fail("compression", "give --backup-option compression=off, and others by name", "%s does not compress backups", s.identity.edition)
			break
		}
	}
	if slices.ContainsFunc(d.Layouts, func(l filewise.Layout) bool { return !l.Discard }) {
		if e.backupFiles(ctx, s.target.Volumes) {
			for _, v := range s.target.Volumes {
				e.Demand.Space[v.Name] = s.their.bytes * int64(len(d.Layouts))
			}
		}
	}
	e.space(ctx)
	e.Note("space for the proof", "", "one backup is restored to %s and needs %s there", s.identity.data,
		humanize.IBytes(uint64(s.their.bytes)))
	e.hosts()
	e.Leftovers(ctx, s, s.target.Address.String())
	return e.Findings
}

func (s *externalServer) grantBackup(database string) string {
	return "USE " + dialect.Ident(database) + "; " + grantTo("ALTER ROLE db_backupoperator ADD MEMBER [filewise];", s.identity.login)
}

// Build returns a database that offers only backups. It builds nothing.
func (s *ownServer) Build(_ context.Context, l filewise.Layout, p filewise.Program) (*filewise.Database, error) {
	d, t, err := ownDesign(s.target, l, s.at(s.target.Database, ""))
	if err != nil {
		return nil, err
	}
	t.stripes = []string{null}
	if err := s.mayBackup(t); err != nil {
		return nil, err
	}
	prefix := marker.NewName()
	b := &ownBackup{server: s, proof: p.Restores()}
	set, _ := readSettings(s.target.Settings) // Open has read them
	b.backuper = &backuper{server: s.externalServer, of: backedUp{database: s.target.Database, prefix: prefix, discard: l.Discard,
		file: s.their.file, custom: true, keep: set.keepBackups, layout: l.Name,
		stripes:  d.ownStripes,
		transfer: func(stripes []string) transfer { t.stripes = stripes; return t },
		dirOf:    s.dataDir, compare: b.compare}}
	if err := b.checkVolumes(d.ownVolumes()); err != nil {
		return nil, err
	}
	return &filewise.Database{Build: b, Backup: b, BackupTook: b.Took, Probes: s.probes()}, nil
}

// dataDir returns the directory for a restored file: the server's default for its kind.
func (s *ownServer) dataDir(_ string, log bool) joiner {
	if log {
		return s.identity.log
	}
	return s.identity.data
}

// probes returns the probe of what the database's clients do, if the Query Store counts it.
func (s *ownServer) probes() []filewise.Probe {
	if !s.counts {
		return nil
	}
	return []filewise.Probe{userbackup.Work(func(ctx context.Context) (calls, seconds float64, err error) {
		r, err := s.ask(ctx, "own-work", nil)
		if err != nil {
			return 0, 0, err
		}
		return float64(r[0].Int("calls")), float64(r[0].Int("microseconds")) / 1e6, nil
	})}
}

// ownBackup makes backups of a layout, and compares restored ones with the original.
type ownBackup struct {
	userbackup.NoWork
	*backuper
	server *ownServer
	proof  bool
	sums   []string // of the tables, when the backup was made
}

// Observe returns no files, because nothing is built.
func (*ownBackup) Observe(context.Context) ([]filewise.File, error) { return nil, nil }

// Settle does nothing, because the user's server manages its own writes.
func (*ownBackup) Settle(context.Context) error { return nil }

// Drop removes the last backup and the database that it was restored to.
func (b *ownBackup) Drop(ctx context.Context) error {
	defer b.leave()
	return b.Discard(ctx)
}

// meanwhile replaces the sum of a table that was written to during a backup. It is not known which of the rows are in
// the backup.
const meanwhile = ": written to during the backup"

// Backup makes a backup. If it is to be compared, the tables are summed before and after it.
func (b *ownBackup) Backup(ctx context.Context) ([]filewise.File, error) {
	if !b.proof {
		return b.backuper.Backup(ctx)
	}
	before, err := b.server.sums(ctx, b.server.in, b.server.target.Database)
	if err != nil {
		return nil, err
	}
	files, err := b.backuper.Backup(ctx)
	if err != nil {
		return nil, err
	}
	b.sums, err = b.server.sums(ctx, b.server.in, b.server.target.Database)
	for i, line := range b.sums {
		if !slices.Contains(before, line) {
			b.sums[i] = tableOfSum(line) + meanwhile
		}
	}
	return files, err
}

func tableOfSum(line string) string { return line[:strings.LastIndex(line, ": ")] }

// compare compares the restored database with the original.
func (b *ownBackup) compare(ctx context.Context, copied *sql.DB) error {
	got, err := b.server.sums(ctx, copied, b.server.target.Database)
	if err != nil {
		return err
	}
	for i, line := range got {
		if written := tableOfSum(line) + meanwhile; slices.Contains(b.sums, written) {
			got[i] = written
		}
	}
	return userbackup.Same(slices.Clone(b.sums), got)
}

// content returns the sums of all tables, and the number of objects of each kind.
func (s *externalServer) content(ctx context.Context, on *sql.DB, database string) ([]string, error) {
	all, err := s.sums(ctx, on, database)
	if err != nil {
		return nil, err
	}
	rows, err := s.askOf(ctx, on, database, "own-objects", nil)
	for _, r := range rows {
		all = append(all, fmt.Sprintf("%s: %d", r.Text("kind"), r.Int("stored")))
	}
	return all, err
}

// sums returns a line for each table: its name, its number of rows and a sum over them.
func (s *externalServer) sums(ctx context.Context, on *sql.DB, database string) (all []string, err error) {
	rows, err := s.askOf(ctx, on, database, "own-columns", nil)
	if err != nil {
		return nil, err
	}
	for len(rows) > 0 {
		schema, table := rows[0].Text("table_schema"), rows[0].Text("table_name")
		var columns []string
		for len(rows) > 0 && rows[0].Text("table_schema") == schema && rows[0].Text("table_name") == table {
			if c := rows[0].Text("column_name"); c != "" {
				columns = append(columns, c)
			}
			rows = rows[1:]
		}
		r, err := s.askOf(ctx, on, database, "own-sum", map[string]any{"Schema": schema, "Table": table, "Columns": columns})
		if err != nil {
			return nil, err
		}
		all = append(all, fmt.Sprintf("%s.%s: %d rows, sum %d", schema, table, r[0].Int("stored"), r[0].Int("total")))
	}
	return all, nil
}

// ownDesign refuses backups that cannot be made of a user's database.
func ownDesign(t filewise.Target, l filewise.Layout, at place) (*design, transfer, error) {
	names := []string{dialect.Everywhere}
	for _, v := range t.Volumes {
		names = append(names, v.Name)
	}
	how, err := readBackupOptions(l.BackupOptions,
		filewise.BackupOption{Name: filewise.OptionVolume, Words: "the name of a --volume, or all", Check: filewise.OneOf(names...)})
	if err == nil && (l.Backup.Files < 1 || l.Backup.Files > maxStripes) {
		err = unsupported(fmt.Sprintf("give 1 to %d", maxStripes), "a backup to %d files on sqlserver", l.Backup.Files)
	}
	if err = errors.Join(err, onlyKeeps(t.Settings, "a database of yours is backed up as it is")); err != nil {
		return nil, how, err
	}
	d := &design{target: t, layout: l}
	d.where, err = d.dirs(at)
	how.part = t.Part
	return d, how, err
}

func (d *design) ownVolumes() []filewise.Volume {
	name, given := d.layout.BackupOptions.Get(filewise.OptionVolume)
	switch {
	case name == dialect.Everywhere:
		return d.target.Volumes
	case !given:
		return d.target.Volumes[:1]
	}
	return slices.DeleteFunc(slices.Clone(d.target.Volumes), func(v filewise.Volume) bool { return v.Name != name })
}

// ownStripes returns the files of one backup.
func (d *design) ownStripes(name string) ([]filewise.File, error) {
	volumes := d.ownVolumes()
	return d.stripesOn(name, d.layout.Backup.Files, func(i int) filewise.Volume { return volumes[i%len(volumes)] })
}
