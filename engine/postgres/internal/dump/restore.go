package dump

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"filewise/engine/customsql"
	"filewise/engine/internal/dumpfile"
	"filewise/engine/postgres/client"
	"filewise/engine/postgres/installed"
)

// Site returns the places of the layout's tables, given a table's storage parameters.
type Site func(with string) map[string]customsql.Place

// Restore fills a database from a dump. The dump is a script of pg_dump, or an archive that pg_restore turns into one.
// The text is executed as it comes; only the layout's tables are created in other places.
func Restore(ctx context.Context, in installed.Server, path string, into *client.Link, site Site) error {
	text, wait, err := open(ctx, in, path)
	if err == nil {
		step := dumpfile.Shown(ctx, "loading", path)
		defer step.End()
		r := restorer{site: site, plain: site(""), in: reader{in: bufio.NewReaderSize(step.Reader(text), 1<<20)}}
		link := into.More(1) // the dump changes the connection's settings
		defer link.Close()
		err = r.learn(ctx, into)
		if err == nil {
			err = link.With(ctx, func(conn *pgx.Conn) error { return link.Why(r.run(ctx, conn)) })
		}
		err = errors.Join(err, wait(err != nil))
	}
	return dumpfile.Failed(path, programs, err)
}

// restorer executes the script of a dump.
type restorer struct {
	site  Site
	plain map[string]customsql.Place // for tables without storage parameters
	in    reader
	text  strings.Builder // statements that are not executed yet
	known map[string]bool // names of the server's parameters
}

// identifier matches a name as pg_dump writes it.
const identifier = `("(?:[^"]|"")+"|[^ ",(;\n]+)`

// qualified matches a table's name with its schema, as pg_dump writes it.
const qualified = `("(?:[^"]|"")+"|[^ ",(;\n.]+)\.` + identifier

var (
	creates = regexp.MustCompile(`^CREATE TABLE ` + qualified + ` \(\n`)
	alters  = regexp.MustCompile(`(?s)^ALTER TABLE ONLY ` + qualified + `(.*)$`)
	copies  = regexp.MustCompile(`(?s)^COPY .* FROM stdin;$`)
	// others matches statements about roles, which the managed server does not have.
	others = regexp.MustCompile(`(?s)^(ALTER [A-Z ]+ .* OWNER TO (?:"(?:[^"]|"")+"|[^\s'"()]+)|GRANT .*|REVOKE .*|` +
		`ALTER DEFAULT PRIVILEGES .*|SET SESSION AUTHORIZATION .*|CREATE USER MAPPING .*);$`)
	policies = regexp.MustCompile(`^(CREATE POLICY ` + identifier + ` ON ` + identifier + `(?: AS RESTRICTIVE)?(?: FOR [A-Z]+)?) TO ` +
		identifier + `(?:, ` + identifier + `)*`)
)

// run reads the script to its end. Statements between blocks of rows are executed before the next block.
func (r *restorer) run(ctx context.Context, conn *pgx.Conn) error {
	for {
		text, err := r.in.next()
		switch {
		case errors.Is(err, io.EOF):
			return r.execute(ctx, conn)
		case err != nil:
			return err
		case strings.HasPrefix(text, `\connect`):
			return errSeveral
		case strings.HasPrefix(text, `\restrict`), strings.HasPrefix(text, `\unrestrict`):
		case strings.HasPrefix(text, "SET default_tablespace = "), others.MatchString(text): // about the original server
		case r.foreign(text):
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

// learn reads the names of the server's parameters.
func (r *restorer) learn(ctx context.Context, link *client.Link) error {
	names, err := link.Texts(ctx, "SELECT name FROM pg_settings")
	r.known = map[string]bool{}
	for _, name := range names {
		r.known[strings.ToLower(name)] = true
	}
	return err
}

var parameter = regexp.MustCompile(`^SET (\w+) = [^\n]*;$`)

// foreign reports whether a statement sets a parameter that this server lacks. Newer programs write such statements at
// the head of a dump (transaction_timeout, since 17).
func (r *restorer) foreign(text string) bool {
	m := parameter.FindStringSubmatch(text)
	return m != nil && !r.known[strings.ToLower(m[1])]
}

// placed returns a statement with the layout's additions: a table's place, and keys that cover all of its partitions.
func (r *restorer) placed(text string) (string, error) {
	if m := policies.FindStringSubmatchIndex(text); m != nil {
		return text[:m[3]] + text[m[1]:], nil
	}
	if m := alters.FindStringSubmatch(text); m != nil {
		if _, placed := r.plain[listed(m[1:])]; placed {
			return "ALTER TABLE " + m[1] + "." + m[2] + m[3], nil
		}
	}
	m := creates.FindStringSubmatch(text)
	if m == nil {
		return text, nil
	}
	name := listed(m[1:])
	place, placed := r.plain[name]
	if !placed {
		return text, nil
	}
	columns, properties := divided(text)
	if properties != "" {
		if err := parameters(name, properties); err != nil && strings.HasPrefix(place.Clause, "PARTITION ") {
			return "", err
		}
		place = r.site(" " + properties)[name]
	}
	return strings.Join(append([]string{columns + "\n) " + place.Clause}, place.After...), ";\n") + ";", nil
}

// execute executes the statements read so far.
func (r *restorer) execute(ctx context.Context, conn *pgx.Conn) error {
	text := r.text.String()
	r.text.Reset()
	err := conn.PgConn().Exec(ctx, text).Close() // rows are discarded
	if answer := new(pgconn.PgError); errors.As(err, &answer) {
		return fmt.Errorf("%w: %s", err, answer.Detail+answer.Where)
	}
	return err
}

// copy sends a block of rows to the server, up to the line that ends the block.
func (r *restorer) copy(ctx context.Context, conn *pgx.Conn, statement string) error {
	_, err := conn.PgConn().CopyFrom(ctx, full{&block{in: r.in.in}}, statement)
	if err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}
