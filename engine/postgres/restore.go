package postgres

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"filewise"
	"filewise/engine/internal/dumpfile"
	"filewise/engine/postgres/internal/client"
	"filewise/engine/postgres/internal/installed"
	"filewise/machine"
)

const dumpPrograms = "pg_dump"

// CheckDump reads a program's dump, and refuses layouts that cannot hold its tables.
func (Engine) CheckDump(ctx context.Context, t filewise.Target, layouts []filewise.Layout, p filewise.Program) error {
	in, err := installed.Find(ctx, t.ServerBin)
	if err != nil {
		return err
	}
	text, wait, err := dumpText(ctx, in, p.Custom.From, "--schema-only")
	if err == nil {
		err = hold(layouts, p.Custom, text)
		err = errors.Join(err, wait(err != nil))
	}
	return dumpfile.Failed(p.Custom.From, dumpPrograms, err)
}

// Dump writes a dump of the database that the address names, by pg_dump.
func (Engine) Dump(ctx context.Context, t filewise.Target, to io.Writer) error {
	in, err := installed.Find(ctx, t.ServerBin)
	if err != nil {
		return err
	}
	if len(t.Address.Secrets) > 0 {
		return refuse("take the dump yourself, and give its file", "an address with secrets besides its password, which pg_dump takes in sight "+
			"of others")
	}
	conninfo, env := client.Conninfo(*t.Address, t.Address.Path)
	return dumpfile.Take(ctx, to, append(env, "PGAPPNAME=filewise"), in.Program("pg_dump"), "--format=custom", "--compress=1",
		"--no-password", "--lock-wait-timeout=30s", "--dbname="+conninfo)
}

// restoreDump fills the database from the dump that a study names: a script as pg_dump
// writes it, or an archive, of which pg_restore makes one. Its text is executed as it
// comes; only the tables of the layout are made where that says.
func (i *instance) restoreDump(ctx context.Context) (err error) {
	path := i.design.program.Custom.From
	text, wait, err := dumpText(ctx, i.install, path)
	if err != nil {
		return dumpfile.Failed(path, dumpPrograms, err)
	}
	r := restorer{design: i.design, in: bufio.NewReaderSize(text, 1<<20)}
	link := i.link.More(1) // whose settings the dump changes
	defer link.Close()
	err = link.With(ctx, func(conn *pgx.Conn) error { return link.Why(r.run(ctx, conn)) })
	if err = errors.Join(err, wait(err != nil)); err != nil {
		return dumpfile.Failed(path, dumpPrograms, err)
	}
	return r.finish(ctx, i.link)
}

// dumpText is the script of a dump; wait ends what makes it.
func dumpText(ctx context.Context, in installed.Server, path string, only ...string) (text io.Reader, wait func(failed bool) error,
	err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.IsDir() {
		f, err := dumpfile.Open(path)
		if err != nil {
			return nil, nil, err
		}
		buffered := bufio.NewReaderSize(f, 1<<20)
		if head, _ := buffered.Peek(512); !bytes.HasPrefix(head, []byte("PGDMP")) && !bytes.Contains(head, []byte("ustar")) {
			return buffered, func(bool) error { return f.Close() }, nil
		}
		f.Close() // pg_restore opens it itself
	}
	cmd := machine.Command(ctx, in.Program("pg_restore"), append(only, "--no-owner", "--no-acl", "--no-tablespaces", "--file=-", path)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	return out, func(failed bool) error {
		if failed { // it would wait for a reader
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			return nil
		}
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("pg_restore: %w: %s", err, strings.TrimSpace(said.String()))
		}
		return nil
	}, err
}

// restorer executes a dump's script.
type restorer struct {
	design *design
	in     *bufio.Reader
	text   strings.Builder // of statements that have not been executed yet
	table  string          // whose CREATE TABLE is being read
	ended  bool            // but for its properties
	body   bool            // a function's is being read
}

var (
	creates = regexp.MustCompile(`^CREATE TABLE public\.("(?:[^"]|"")+"|[^ (]+) \($`)
	alters  = regexp.MustCompile(`^ALTER TABLE ONLY public\.("(?:[^"]|"")+"|[^ ;]+)(.*)$`)
	copies  = regexp.MustCompile(`^COPY .* FROM stdin;$`)
	// others are statements about roles, which the managed server has not.
	unique      = regexp.MustCompile(`^    ADD CONSTRAINT .* (?:PRIMARY KEY|UNIQUE) \((.*)\);`)
	uniqueIndex = regexp.MustCompile(`^CREATE UNIQUE INDEX .* ON public\.("(?:[^"]|"")+"|[^ ]+) USING btree \((.*)\);`)
	quotes      = regexp.MustCompile(`\$[A-Za-z_]*\$`) // of a function's body
	others      = regexp.MustCompile(`^(ALTER [A-Z ]+ .* OWNER TO .*|GRANT .*|REVOKE .*|ALTER DEFAULT PRIVILEGES .*);$`)
)

// run reads the script to its end. What stands between blocks of rows is executed at once.
func (r *restorer) run(ctx context.Context, conn *pgx.Conn) error {
	for {
		line, err := r.in.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		last := err != nil
		text := strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(text, `\connect`):
			return errors.New("it is of several databases, or creates its own: leave -C out, and use no pg_dumpall")
		case !r.body && strings.HasPrefix(text, "SET default_tablespace = "): // the original's
		case strings.HasPrefix(text, `\restrict`), strings.HasPrefix(text, `\unrestrict`), !r.body && others.MatchString(text):
		case !r.body && copies.MatchString(text):
			if err := r.execute(ctx, conn); err != nil {
				return err
			}
			if err := r.copy(ctx, conn, strings.TrimSuffix(text, ";")); err != nil {
				return err
			}
		default:
			if err := r.add(ctx, conn, text); err != nil {
				return err
			}
		}
		if last {
			return r.execute(ctx, conn)
		}
	}
}

// add adds a line. A script of INSERTs is executed in parts, each of whole statements.
func (r *restorer) add(ctx context.Context, conn *pgx.Conn, line string) error {
	if len(quotes.FindAllString(line, -1))%2 == 1 {
		r.body = !r.body
	}
	placed, err := r.placed(line)
	if err != nil {
		return err
	}
	r.text.WriteString(placed + "\n")
	if r.text.Len() < 1<<20 || r.body || r.table != "" || !strings.HasSuffix(line, ";") || strings.Count(r.text.String(), "'")%2 == 1 {
		return nil
	}
	return r.execute(ctx, conn)
}

// hold refuses layouts that cannot hold the keys of a dump's tables.
func hold(layouts []filewise.Layout, custom *filewise.CustomSQL, script io.Reader) error {
	divide := slices.ContainsFunc(layouts, func(l filewise.Layout) bool { return l.Kind != filewise.KindSingle })
	lines := bufio.NewReaderSize(script, 1<<20)
	has, of := map[string]bool{}, ""
	made, ended := "", false // the table whose columns are read, or were
	for {
		line, err := lines.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		last := err != nil
		line = strings.TrimRight(line, "\r\n")
		columns := ""
		if m := unique.FindStringSubmatch(line); m != nil {
			columns = m[1]
		} else if m := uniqueIndex.FindStringSubmatch(line); m != nil {
			of, columns = m[1], m[2]
		} else if m := creates.FindStringSubmatch(line); m != nil {
			of, has[plain(m[1])], made = m[1], true, plain(m[1])
		} else if m := alters.FindStringSubmatch(line); m != nil {
			of = m[1]
		}
		at := slices.IndexFunc(custom.Tables, func(t filewise.CustomTable) bool { return t.Name == plain(of) })
		if columns != "" && divide && at >= 0 {
			var key []string
			for _, c := range strings.Split(columns, ", ") {
				key = append(key, plain(c))
			}
			if err := dumpfile.CheckKey(custom.Tables[at], key); err != nil {
				return err
			}
		}
		if ended && divide && at >= 0 {
			if err := parameters(made, line); err != nil {
				return err
			}
		}
		if ended = made != "" && line == ")"; !ended && strings.HasSuffix(line, ");") {
			made = ""
		}
		if last {
			return dumpfile.CheckTables(custom, func(name string) bool { return has[name] }, " in schema public")
		}
	}
}

// plain is a name without its quotes.
func plain(said string) string {
	if quoted, is := strings.CutPrefix(said, `"`); is {
		return strings.ReplaceAll(strings.TrimSuffix(quoted, `"`), `""`, `"`)
	}
	return said
}

// parameters refuses what follows the columns of a table, unless it is of storage parameters.
func parameters(table, line string) error {
	if strings.HasPrefix(line, "WITH (") && strings.HasSuffix(line, ");") {
		return nil
	}
	return dumpfile.Refuse("table %s has properties of its own, which a layout may not hold: %s", table, line)
}

// placed is a line with what the layout adds: where a table lies, and that keys are
// those of all of its partitions.
func (r *restorer) placed(line string) (string, error) {
	spread := func(said string) string {
		for _, t := range r.design.tables {
			if plain(said) == t.Name {
				return t.Name
			}
		}
		return ""
	}
	if r.body {
		return line, nil
	}
	if m := creates.FindStringSubmatch(line); m != nil {
		r.table = spread(m[1])
		return line, nil
	}
	if r.table != "" && line == ")" {
		r.ended = true
		return "", nil
	}
	if r.table != "" && (r.ended || line == ");") {
		with := ""
		if r.ended {
			if err := parameters(r.table, line); err != nil && r.design.customSite("", "").Spread[r.table].Clause != "" {
				return "", err
			}
			with = " " + strings.TrimSuffix(line, ";")
		}
		place := r.design.customSite("public.", with).Spread[r.table]
		line = ") " + place.Clause + ";"
		for _, after := range place.After {
			line += "\n" + after + ";"
		}
		r.table, r.ended = "", false
	}
	if m := alters.FindStringSubmatch(line); m != nil && spread(m[1]) != "" {
		return "ALTER TABLE public." + m[1] + m[2], nil
	}
	return line, nil
}

// execute executes the statements that were read.
func (r *restorer) execute(ctx context.Context, conn *pgx.Conn) error {
	text := r.text.String()
	r.text.Reset()
	_, err := conn.PgConn().Exec(ctx, text).ReadAll()
	if told := new(pgconn.PgError); errors.As(err, &told) {
		return fmt.Errorf("%w: %s", err, told.Detail+told.Where)
	}
	return err
}

// copy hands over a block of rows, up to the line that ends it.
func (r *restorer) copy(ctx context.Context, conn *pgx.Conn, statement string) error {
	_, err := conn.PgConn().CopyFrom(ctx, full{&block{in: r.in}}, statement)
	if err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

// full reads as much as there is room for: each read is a message, and a system call.
type full struct{ of io.Reader }

func (f full) Read(to []byte) (n int, err error) {
	for n < len(to) && err == nil {
		var m int
		m, err = f.of.Read(to[n:])
		n += m
	}
	if n > 0 && errors.Is(err, io.EOF) { // which is told again
		err = nil
	}
	return n, err
}

// block are the lines of a COPY.
type block struct {
	in   *bufio.Reader
	line []byte
	mid  bool // the line goes on
	end  bool
}

func (b *block) Read(to []byte) (int, error) {
	for len(b.line) == 0 {
		if b.end {
			return 0, io.EOF
		}
		line, err := b.in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return 0, fmt.Errorf("the dump ends within rows: %w", errors.Join(err, io.ErrUnexpectedEOF))
		}
		if !b.mid && string(bytes.TrimRight(line, "\r\n")) == `\.` {
			b.end = true
			return 0, io.EOF
		}
		b.mid, b.line = err != nil, line
	}
	n := copy(to, b.line)
	b.line = b.line[n:]
	return n, nil
}

// finish puts the keys of partitions where the layout
// has them, and gathers statistics.
func (r *restorer) finish(ctx context.Context, link *client.Link) error {
	for _, t := range r.design.tables {
		for _, leaf := range t.Leaves {
			if leaf.index.name == "" {
				continue
			}
			rows, err := link.Rows(ctx, "SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = to_regclass($1)", client.Ident(leaf.Name))
			if err != nil {
				return err
			}
			for _, row := range rows {
				if err := link.Exec(ctx, "ALTER INDEX "+client.Text(row[0])+" SET TABLESPACE "+client.Ident(leaf.index.name)); err != nil {
					return err
				}
			}
		}
	}
	return link.Exec(ctx, "ANALYZE")
}
