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
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"filewise"
	"filewise/engine/internal/dumpfile"
	"filewise/engine/postgres/internal/client"
	"filewise/engine/postgres/internal/inspection"
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

// ServerBin asks the server which it is.
func (Engine) ServerBin(ctx context.Context, t filewise.Target) (string, error) {
	l, err := client.Open(*t.Address, inspection.ReadingSettings())
	if err != nil {
		return "", err
	}
	defer l.Close()
	var number int
	if err := l.Scan(ctx, "SELECT current_setting('server_version_num')::integer", nil, &number); err != nil {
		return "", client.ConnectError(t.Address.String(), err)
	}
	in, err := installed.AtLeast(ctx, number)
	return in.Bin, err
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
	r := restorer{design: i.design, in: dumpReader{in: bufio.NewReaderSize(text, 1<<20)}}
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
	if info.IsDir() {
		if err := noLinks(path); err != nil {
			return nil, nil, err
		}
	} else {
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

// noLinks refuses a dump's directory in which pg_restore, which may be root's, would follow a link.
func noLinks(dir string) error {
	all, err := os.ReadDir(dir)
	for _, e := range all {
		if !e.Type().IsRegular() {
			return filewise.Errorf(filewise.CodeUsage, "give the directory as pg_dump has written it", "%s in it is no file of its own", e.Name())
		}
	}
	return err
}

// restorer executes a dump's script.
type restorer struct {
	design *design
	in     dumpReader
	text   strings.Builder // of statements that have not been executed yet
}

// identifier is a name as pg_dump writes it.
const identifier = `("(?:[^"]|"")+"|[^ ",(;\n]+)`

var (
	creates = regexp.MustCompile(`^CREATE TABLE public\.` + identifier + ` \(\n`)
	alters  = regexp.MustCompile(`(?s)^ALTER TABLE ONLY public\.` + identifier + `(.*)$`)
	copies  = regexp.MustCompile(`(?s)^COPY .* FROM stdin;$`)
	// others are statements about roles, which the managed server has not.
	others = regexp.MustCompile(`(?s)^(ALTER [A-Z ]+ .* OWNER TO (?:"(?:[^"]|"")+"|[^\s'"()]+)|GRANT .*|REVOKE .*|` +
		`ALTER DEFAULT PRIVILEGES .*|SET SESSION AUTHORIZATION .*|CREATE USER MAPPING .*);$`)
	policies = regexp.MustCompile(`^(CREATE POLICY ` + identifier + ` ON ` + identifier + `(?: AS RESTRICTIVE)?(?: FOR [A-Z]+)?) TO ` +
		identifier + `(?:, ` + identifier + `)*`)
)

// run reads the script to its end. What stands between blocks of rows is executed at once.
func (r *restorer) run(ctx context.Context, conn *pgx.Conn) error {
	for {
		text, err := r.in.next()
		switch {
		case errors.Is(err, io.EOF):
			return r.execute(ctx, conn)
		case err != nil:
			return err
		case strings.HasPrefix(text, `\connect`):
			return errors.New("it is of several databases, or creates its own: leave -C out, and use no pg_dumpall")
		case strings.HasPrefix(text, `\restrict`), strings.HasPrefix(text, `\unrestrict`):
		case strings.HasPrefix(text, "SET default_tablespace = "), others.MatchString(text): // the original's
		case copies.MatchString(text):
			if err := r.execute(ctx, conn); err != nil {
				return err
			}
			if err := r.copy(ctx, conn, strings.TrimSuffix(text, ";")); err != nil {
				return err
			}
		default:
			placed, err := r.placed(text)
			if err != nil {
				return err
			}
			r.text.WriteString(placed + "\n")
			if r.text.Len() < 1<<20 {
				continue
			}
			if err := r.execute(ctx, conn); err != nil {
				return err
			}
		}
	}
}

// placed is a statement with what the layout adds: where a table lies, and that keys are
// those of all of its partitions.
func (r *restorer) placed(text string) (string, error) {
	spread := func(said string) string {
		for _, t := range r.design.tables {
			if plain(said) == t.Name {
				return t.Name
			}
		}
		return ""
	}
	if m := policies.FindStringSubmatchIndex(text); m != nil {
		return text[:m[3]] + text[m[1]:], nil
	}
	if m := alters.FindStringSubmatch(text); m != nil && spread(m[1]) != "" {
		return "ALTER TABLE public." + m[1] + m[2], nil
	}
	m := creates.FindStringSubmatch(text)
	if m == nil || spread(m[1]) == "" {
		return text, nil
	}
	name, with := spread(m[1]), ""
	columns, properties := divided(text)
	if properties != "" {
		if err := parameters(name, properties); err != nil && r.design.customSite("", "").Spread[name].Clause != "" {
			return "", err
		}
		with = " " + properties
	}
	place := r.design.customSite("public.", with).Spread[name]
	return strings.Join(append([]string{columns + "\n) " + place.Clause}, place.After...), ";\n") + ";", nil
}

// execute executes the statements that were read.
func (r *restorer) execute(ctx context.Context, conn *pgx.Conn) error {
	text := r.text.String()
	r.text.Reset()
	err := conn.PgConn().Exec(ctx, text).Close() // which keeps no rows
	if told := new(pgconn.PgError); errors.As(err, &told) {
		return fmt.Errorf("%w: %s", err, told.Detail+told.Where)
	}
	return err
}

// copy hands over a block of rows, up to the line that ends it.
func (r *restorer) copy(ctx context.Context, conn *pgx.Conn, statement string) error {
	_, err := conn.PgConn().CopyFrom(ctx, full{&block{in: r.in.in}}, statement)
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
			indexes, err := link.Texts(ctx, "SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = to_regclass($1)",
				client.Ident(leaf.Name))
			if err != nil {
				return err
			}
			for _, index := range indexes {
				if err := link.Exec(ctx, "ALTER INDEX "+index+" SET TABLESPACE "+client.Ident(leaf.index.name)); err != nil {
					return err
				}
			}
		}
	}
	return link.Exec(ctx, "ANALYZE")
}
