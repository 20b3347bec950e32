package backup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/engine/postgres/client"
	"filewise/engine/postgres/dialect"
	"filewise/engine/postgres/installed"
	"filewise/engine/userbackup"
	"filewise/internal/findings"
	"filewise/internal/shell"
)

// Postgres backs up users' databases with pg_dump on this machine, or a managed copy of them with pgBackRest.
type Postgres struct{}

// postgresServer is an opened server on which Filewise makes and drops marked databases.
type postgresServer interface {
	filewise.ExternalServer
	Link() *client.Link
	About() client.About
	ExamineActivity(context.Context, *findings.Examination)
	MakeDatabase(ctx context.Context, with string) (name string, err error)
	DropDatabase(ctx context.Context, name string) error
}

// postgresBackups is a server on which a user's database is backed up, by pg_dump on this machine. Filewise only reads
// that database. It restores to a database with a marked name.
type postgresBackups struct {
	postgresServer
	about    client.About
	target   filewise.Target // its volumes are directories on this machine
	programs installed.Server
	link     *client.Link // to the user's database
	counted  string       // schema of pg_stat_statements; "" if the database has none

	engine postgresCopier
	copy   *client.Copy // of the database, for pgBackRest to back up; nil until a layout needs it
}

// OpenOwn opens the server of a user's database.
func (Postgres) OpenOwn(ctx context.Context, e filewise.Engine, t filewise.Target) (filewise.Server, error) {
	there := t
	there.Volumes, there.Database = []filewise.Volume{{Name: "default"}}, ""
	if t.Address != nil && len(t.Address.Secrets) > 0 {
		return nil, filewise.Unsupported("use a key without a password", "a backup over a connection whose key has a password")
	}
	opened, err := e.Open(ctx, there)
	if err != nil {
		return nil, err
	}
	on := opened.(postgresServer)
	s := &postgresBackups{postgresServer: on, about: on.About(), target: t, engine: e.(postgresCopier), link: on.Link().To(t.Database)}
	if s.programs, err = installed.Clients(ctx, t.ServerBin, s.about.Version); err == nil {
		err = s.link.Scan(ctx, `SELECT coalesce((SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
			WHERE e.extname = 'pg_stat_statements'), '')`, nil, &s.counted)
	}
	if err == nil && s.counted != "" {
		if _, unread := s.probes()[0].Read(ctx); unread != nil { // the library is not loaded
			s.counted = ""
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close ends the connections.
func (s *postgresBackups) Close() error {
	s.link.Close()
	var err error
	if s.copy != nil {
		err = s.copy.Close()
	}
	return errors.Join(err, s.postgresServer.Close())
}

// Facts returns facts about the server and the database, and how long a statement takes while no backup runs.
func (s *postgresBackups) Facts(ctx context.Context) ([]filewise.Fact, error) {
	all, err := s.postgresServer.Facts(ctx)
	if err != nil {
		return nil, err
	}
	bytes, err := s.bytes(ctx)
	if err != nil {
		return nil, err
	}
	more, err := userbackup.Facts(ctx, s.target.Database, bytes, "pg_dump "+s.programs.Version+", "+s.programs.Program("pg_dump"), s.probes())
	return append(all, more...), err
}

// BackupSize returns the size of the tables. Indexes are not counted, because a dump does not read them.
func (s *postgresBackups) BackupSize(ctx context.Context) (filewise.BackupSize, error) {
	var names []string
	var sizes []int64
	err := s.link.Scan(ctx, "SELECT coalesce(array_agg(name), '{}'), coalesce(array_agg(pg_table_size(name::regclass)), '{}') FROM ("+
		fmt.Sprintf(postgresTables, "'r', 'm'")+") AS t (name)", nil, &names, &sizes)
	if err != nil {
		return filewise.BackupSize{}, err
	}
	parts, whole := map[string]int64{}, int64(0)
	for i, name := range names {
		parts[name], whole = sizes[i], whole+sizes[i]
	}
	return userbackup.SizeOf(s.target, parts, whole)
}

func (s *postgresBackups) bytes(ctx context.Context) (n int64, err error) {
	err = s.link.Scan(ctx, "SELECT pg_database_size(current_database())", nil, &n)
	return n, err
}

// Offers returns what an external server offers, and backups.
func (s *postgresBackups) Offers() map[filewise.Capability]error {
	all := s.postgresServer.Offers()
	all[filewise.CanBackup] = nil
	return all
}

// Examine checks whether there is space for a backup here, and whether a backup can be restored and compared.
func (s *postgresBackups) Examine(ctx context.Context, d filewise.Demand) []filewise.Finding {
	e := &findings.Examination{Demand: d}
	e.OK("version", "%s", s.about.Banner)
	if s.about.CreateDB {
		e.OK("rights", "account %s may create databases", s.about.User)
	} else {
		e.Warn("rights", "as a superuser: ALTER ROLE "+dialect.Ident(s.about.User)+" CREATEDB",
			"account %s may not create a database: no backup can be restored and compared", s.about.User)
	}
	s.ExamineActivity(ctx, e)
	e.Leftovers(ctx, s, s.target.Address.String())
	bytes, err := s.bytes(ctx)
	if err != nil {
		e.Unseen("size of the database", err)
		return e.Findings
	}
	if slices.ContainsFunc(d.Layouts, byPgBackRest) { // space for the copy and its dump, and for the restored server
		bytes *= 4
	}
	userbackup.CheckSpace(e, s.target.Volumes, bytes)
	return e.Findings
}

// Build builds nothing except one copy of the database, if the layout uses pgBackRest.
func (s *postgresBackups) Build(ctx context.Context, l filewise.Layout, p filewise.Program) (*filewise.Database, error) {
	if err := checkPostgres(s.target, l, p); err != nil {
		return nil, err
	}
	tool := &postgresTool{server: s, layout: l, proof: p.Restores()}
	if !byPgBackRest(l) {
		return userbackup.Database(s.target, l, tool, s.probes()), nil
	}
	if err := s.copyDatabase(ctx); err != nil {
		return nil, err
	}
	return userbackup.Database(s.target, l, s.copyTool(tool), s.probes()), nil
}

// probes returns the probe that counts the statements of others, except statements that backups use.
func (s *postgresBackups) probes() []filewise.Probe {
	if s.counted == "" {
		return nil
	}
	query := "SELECT coalesce(sum(calls), 0)::float8, coalesce(sum(total_exec_time), 0)::float8 / 1000 FROM " + s.counted +
		".pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND " +
		`query !~* '^\s*(copy|fetch|lock|set|begin|start|commit|rollback|close|declare|deallocate|show)\y' AND query NOT LIKE '%pg\_%'`
	return []filewise.Probe{userbackup.Work(func(ctx context.Context) (calls, seconds float64, err error) {
		err = s.link.Scan(ctx, query, nil, &calls, &seconds)
		return calls, seconds, err
	})}
}

// postgresOptions lists the options for backups of a user's database.
var postgresOptions = []filewise.BackupOption{{Name: "tool",
	Words: "pg_dump, as usual, or pgbackrest, which backs up a managed copy of the database",
	Check: filewise.OneOf(pgDump, pgBackRest)}, {Name: "compress",
	Words: "a level of gzip from 0 to 9, 6 being pg_dump's own, or from its " +
		"release 16 on gzip, lz4 or zstd with a level, such as zstd:3",
	Check: func(v string) error { _, err := pgDumpCompression(v); return err }}}

// pgDumpCompression returns how much memory a job needs for a compression method and level.
func pgDumpCompression(v string) (bytes uint64, err error) {
	method, level, divided := strings.Cut(v, ":")
	n, numeric := strconv.Atoi(level)
	most := map[string]int{"gzip": 9, "lz4": 12, "zstd": 19}[method]
	switch {
	case !divided && len(v) == 1 && v >= "0" && v <= "9":
		return 1 << 20, nil
	case most == 0 || numeric != nil || n < 1 || n > most:
		return 0, errors.New("it is neither a level from 0 to 9 nor gzip:1 to gzip:9, lz4:1 to lz4:12, zstd:1 to zstd:19")
	case method == "zstd":
		return uint64(1+n*n/4) << 20, nil // 92 MiB at 19, 2 MiB at 3
	}
	return 1 << 20, nil
}

// pgDumpBytes is a job's further memory: libpq's buffer for a row, and the program's own memory.
const pgDumpBytes = 16 << 20

// mostPostgresJobs is Filewise's own limit on jobs.
const mostPostgresJobs = 64

func checkPostgres(t filewise.Target, l filewise.Layout, p filewise.Program) error {
	each := uint64(pgDumpBytes)
	if v, ok := l.BackupOptions.Get("compress"); ok {
		n, _ := pgDumpCompression(v) // Check reports an error
		each += n
	}
	if err := userbackup.Check(t, l, p, postgresOptions, mostPostgresJobs, each); err != nil {
		return err
	}
	return checkCopied(t, l)
}

// OwnStatements describes what a trial on a user's database executes.
func (Postgres) OwnStatements(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Statements, error) {
	if err := checkPostgres(t, l, p); err != nil {
		return filewise.Statements{}, err
	}
	conninfo, _ := client.Conninfo(*t.Address, t.Database)
	step := filewise.Step{Stage: filewise.StageMeasure, On: "server", SQL: "COPY each table TO STDOUT, over " +
		filewise.Counted(l.Backup.Files, "connection")}
	switch {
	case byPgBackRest(l):
		step.On, step.SQL = shell.Place, shell.Quoted(append([]string{pgBackRest}, installed.RestBackup(l, "…", "…")...))
	case !l.Discard:
		step.On, step.SQL = shell.Place, shell.Quoted(append([]string{"pg_dump"}, pgDumpArguments(t, l, conninfo,
			userbackup.Volume(t, l).Dir+"/backup")...))
	}
	return filewise.Statements{Steps: []filewise.Step{step}}, nil
}

func pgDumpArguments(t filewise.Target, l filewise.Layout, conninfo, to string) []string {
	args := []string{"--dbname=" + conninfo, "--format=directory", "--jobs=" + strconv.Itoa(l.Backup.Files), "--file=" + to}
	if v, ok := l.BackupOptions.Get("compress"); ok {
		args = append(args, "--compress="+v)
	}
	for _, table := range t.Part {
		args = append(args, "--table="+table)
	}
	return args
}

// BackupArms returns the compression methods and levels to compare, as far as the installed pg_dump has them.
func (Postgres) BackupArms(t filewise.Target, _ filewise.Program) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	in, err := installed.Clients(ctx, t.ServerBin, 0)
	if err != nil {
		return nil, err
	}
	values := "6,0,1"
	for _, more := range []string{"lz4:1", "zstd:1", "zstd:5"} {
		if in.Number >= 160000 && in.Compresses(ctx, more) {
			values += "," + more
		}
	}
	return []string{"compress=" + values}, nil
}

// BackupScript returns a script with a dump by pg_dump and its restore by pg_restore.
func (Postgres) BackupScript(t filewise.Target, l filewise.Layout, p filewise.Program) (out filewise.BackupScript, err error) {
	if err := checkPostgres(t, l, p); err != nil {
		return out, err
	}
	if byPgBackRest(l) {
		return backRestScript(t, l), nil
	}
	conninfo, _ := client.Conninfo(*t.Address, t.Database)
	there, _ := client.Conninfo(*t.Address, "")
	args := pgDumpArguments(t, l, conninfo, "")
	out.Notes = []string{
		"It holds this database only: roles and tablespaces are the server's, and pg_dumpall --globals-only saves them.",
		"An account that is no superuser cannot restore extensions: create them before, and end restore with --no-owner --no-comments.",
		"Give the password by PGPASSWORD or ~/.pgpass. Use a pg_dump of the server's release, or a later one.",
	}
	more := shell.Quoted(append([]string{""}, args[4:]...))
	out.Backup = []string{shell.Quoted(append([]string{"pg_dump"}, args[:3]...)) + ` --file="$to"` + more + ` "$@"`}
	out.Restore = []string{fmt.Sprintf(`PGDATABASE="$database" pg_restore --dbname=%s --jobs=%d --exit-on-error "$@" "$from"`,
		shell.Quoted([]string{"", there})[1:], l.Backup.Files)}
	return out, nil
}
