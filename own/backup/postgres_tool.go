package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"filewise"
	"filewise/engine/postgres/client"
	"filewise/engine/postgres/dialect"
	"filewise/engine/userbackup"
	"filewise/host/machine"
)

// postgresTool makes the backups of one layout of a user's database.
type postgresTool struct {
	server *postgresBackups
	layout filewise.Layout
	proof  bool // a backup will be compared, so the backup's snapshot is kept

	held     *pgx.Conn // holds that snapshot
	restored string    // the marked database; "" if there is none
}

// Dump runs pg_dump.
func (o *postgresTool) Dump(ctx context.Context, to string) error {
	snapshot := ""
	if o.proof {
		err := o.hold(ctx, &snapshot)
		if err != nil {
			return err
		}
	}
	conninfo, env := client.Conninfo(*o.server.target.Address, o.server.target.Database)
	args := pgDumpArguments(o.server.target, o.layout, conninfo+" application_name='"+client.AppName()+"'", to)
	if snapshot != "" {
		args = append(args, "--snapshot="+snapshot)
	}
	return o.run(ctx, filepath.Dir(to), env, append([]string{"pg_dump"}, args...))
}

func (o *postgresTool) run(ctx context.Context, dir string, env, command []string) error {
	command[0] = o.server.programs.Program(command[0])
	return userbackup.Run(ctx, o.server.target, dir, append(env, "LC_ALL=C"), command)
}

// snapshotRead begins a transaction that sees one snapshot and cannot write.
const snapshotRead = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

// hold opens a session that keeps a snapshot, and returns the snapshot's name.
func (o *postgresTool) hold(ctx context.Context, snapshot *string) (err error) {
	if o.held, err = pgx.ConnectConfig(ctx, o.server.link.Config); err != nil {
		return o.server.link.Why(err)
	}
	if _, err = o.held.Exec(ctx, snapshotRead); err == nil {
		err = o.held.QueryRow(ctx, "SELECT pg_export_snapshot()").Scan(snapshot)
	}
	return o.server.link.Done(ctx, snapshotRead, err)
}

// postgresTables selects the tables that hold rows, the largest first.
const postgresTables = `SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname)
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN (%s) AND c.relpersistence <> 't' AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
   AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
 ORDER BY pg_table_size(c.oid) DESC, 1`

// Read reads all rows in one snapshot, over as many connections as there are jobs.
func (o *postgresTool) Read(ctx context.Context) error {
	var snapshot string
	if err := o.hold(ctx, &snapshot); err != nil {
		return err
	}
	tables, err := client.Texts(o.held.Query(ctx, fmt.Sprintf(postgresTables, "'r'")))
	if err != nil {
		return o.server.link.Why(err)
	}
	err = userbackup.ReadAll(ctx, o.server.target, o.layout, tables, func(ctx context.Context, next <-chan string) error {
		return o.readSome(ctx, snapshot, next)
	})
	return errors.Join(err, o.release(ctx))
}

func (o *postgresTool) readSome(ctx context.Context, snapshot string, tables <-chan string) error {
	conn, err := pgx.ConnectConfig(ctx, o.server.link.Config)
	if err != nil {
		return o.server.link.Why(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, snapshotRead+"; SET TRANSACTION SNAPSHOT "+dialect.Literal(snapshot)); err != nil {
		return o.server.link.Why(err)
	}
	for table := range tables {
		statement := "COPY " + table + " TO STDOUT"
		if _, err := conn.PgConn().CopyTo(ctx, io.Discard, statement); err != nil {
			return o.server.link.Done(ctx, statement, err)
		}
	}
	return nil
}

// Fill restores a backup to a marked database on the server, without owners, privileges and subscriptions.
func (o *postgresTool) Fill(ctx context.Context, from string) error {
	var encoding, collate, ctype string
	if err := o.server.link.Scan(ctx, "SELECT pg_encoding_to_char(encoding), datcollate::text, datctype::text FROM pg_database "+
		"WHERE datname = current_database()", nil, &encoding, &collate, &ctype); err != nil {
		return err
	}
	name, err := o.server.MakeDatabase(ctx, " ENCODING "+dialect.Literal(encoding)+" LC_COLLATE "+dialect.Literal(collate)+" LC_CTYPE "+
		dialect.Literal(ctype))
	if err != nil {
		return client.Failed("making a database for the restore", err)
	}
	o.restored = name
	list, err := o.list(ctx, from)
	if err != nil {
		return err
	}
	conninfo, env := client.Conninfo(*o.server.target.Address, name)
	return o.run(ctx, filepath.Dir(from), env, []string{"pg_restore", "--dbname=" + conninfo + " application_name='" + client.AppName() + "'",
		fmt.Sprintf("--jobs=%d", o.layout.Backup.Files), "--no-owner", "--no-acl", "--no-subscriptions", "--exit-on-error", "--use-list=" + list,
		from})
}

// pgUnneeded matches entries that only a superuser can create, and on which nothing in a database depends.
var pgUnneeded = regexp.MustCompile(`^\d+; \d+ \d+ (?:COMMENT - )?(?:EVENT TRIGGER|PUBLICATION)\b`)

// list writes the list of a backup's entries to restore, and returns its path. Unless the account is a superuser, what
// only a superuser can create is left out, such as extensions that watch the server.
func (o *postgresTool) list(ctx context.Context, from string) (path string, err error) {
	const untrusted = "SELECT extname::text FROM pg_extension e WHERE NOT EXISTS (SELECT FROM pg_available_extension_versions v " +
		"WHERE v.name = e.extname AND v.version = e.extversion AND v.trusted)"
	var leave []string
	if !o.server.about.Super {
		if leave, err = o.server.link.Texts(ctx, untrusted); err != nil {
			return "", err
		}
	}
	cmd := machine.Command(ctx, o.server.programs.Program("pg_restore"), "--list", from)
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("pg_restore --list: %w", err)
	}
	lines := slices.DeleteFunc(strings.Split(string(out), "\n"), func(line string) bool {
		return !o.server.about.Super && pgUnneeded.MatchString(line) || slices.ContainsFunc(leave, func(name string) bool {
			return strings.Contains(line, " EXTENSION - "+name) || strings.Contains(line, " COMMENT - EXTENSION "+name)
		})
	})
	path = filepath.Join(from, "filewise.list")
	return path, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600)
}

// Compare compares the restored tables with the originals in the backup's snapshot: names, numbers of rows, and sums
// over the rows.
func (o *postgresTool) Compare(ctx context.Context) error {
	want, err := postgresSums(ctx, o.held)
	if err != nil {
		return o.server.link.Why(client.Failed("reading "+o.server.target.Database, err))
	}
	var got []string
	restored := o.server.link.To(o.restored)
	defer restored.Close()
	if err := restored.With(ctx, func(conn *pgx.Conn) (err error) { got, err = postgresSums(ctx, conn); return err }); err != nil {
		return o.server.link.Why(client.Failed("reading what was restored", err))
	}
	return userbackup.Same(want, got)
}

// printingAlike makes rows print equally in all databases. A database can have its own settings, which no dump contains.
const printingAlike = `SELECT set_config('datestyle', 'ISO, YMD', false), set_config('intervalstyle', 'postgres', false),
 set_config('timezone', 'UTC', false), set_config('bytea_output', 'hex', false), set_config('extra_float_digits', '1', false),
 set_config('lc_monetary', 'C', false), set_config('xmlbinary', 'base64', false)`

// postgresSums returns a line for each table: its name, its number of rows and a sum over them.
func postgresSums(ctx context.Context, conn *pgx.Conn) (all []string, err error) {
	if _, err := conn.Exec(ctx, printingAlike); err != nil {
		return nil, err
	}
	if all, err = client.Texts(conn.Query(ctx, fmt.Sprintf(postgresTables, "'r', 'p', 'm', 'v', 'S'"))); err != nil {
		return nil, err
	}
	tables, err := client.Texts(conn.Query(ctx, fmt.Sprintf(postgresTables, "'r', 'm') AND (c.relispopulated")))
	if err != nil {
		return nil, err
	}
	for _, table := range tables {
		var rows, sum string
		err := conn.QueryRow(ctx, "SELECT count(*)::text, "+
			"coalesce(sum(('x' || substr(md5(filewise_row::text), 1, 15))::bit(60)::bigint), 0)::text FROM ONLY "+
			table+" filewise_row").Scan(&rows, &sum)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", table, err)
		}
		all = append(all, table+": "+rows+" rows, sum "+sum)
	}
	large, err := client.Texts(conn.Query(ctx, "SELECT 'large object ' || oid || ': ' || md5(lo_get(oid, 0, 1 << 20)) "+
		"FROM pg_largeobject_metadata ORDER BY oid"))
	return append(all, large...), err
}

// release ends the session that holds the snapshot.
func (o *postgresTool) release(ctx context.Context) error {
	if o.held == nil {
		return nil
	}
	conn := o.held
	o.held = nil
	return conn.Close(context.WithoutCancel(ctx))
}

// Drop checks the restored database's marker and drops the database.
func (o *postgresTool) Drop(ctx context.Context) error {
	err := o.release(ctx)
	if o.restored != "" {
		if dropped := o.server.DropDatabase(ctx, o.restored); dropped != nil {
			return errors.Join(err, dropped)
		}
		o.restored = ""
	}
	return err
}
