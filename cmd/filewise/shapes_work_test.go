//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/md5"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rogpeppe/go-internal/txtar"
)

// shape is a database as an application has it, and what that does to it.
type shape struct {
	name string
	told map[string]string // of the file's head: engine, log, connect, fill PART-OF-A-STATEMENT, apply, backup, quick
	// schema is given to the server's own client.
	schema string
	work   []job
}

// job is a type of transactions: of 100 calls, weight are of it. The values in it are written as «1..9», «one|other»,
// «time», «n» (a new number), «uuid1..9» and «newuuid» (guid: of version 4), «@1» (the first one again), or as they
// are.
type job struct {
	weight int
	named  bool // statements are prepared, and values are parameters
	lines  []string
}

// shapes are an engine's shapes: in the long part the quick ones, for each takes a minute or two, with
// TEST_FILEWISE_SHAPES=1 all.
func shapes(t *testing.T, engine string) (all []shape) {
	t.Helper()
	files, err := filepath.Glob("testdata/shapes/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d shapes: %v", len(files), err)
	}
	for _, path := range files {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s := shape{name: strings.TrimSuffix(filepath.Base(path), ".txtar"), told: map[string]string{}}
		for line := range strings.Lines(string(a.Comment)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			s.told[name] = value
		}
		for _, f := range a.Files {
			of := strings.Fields(f.Name)
			if of[0] == "schema" {
				s.schema = string(f.Data)
				continue
			}
			weight, err := strconv.Atoi(of[1])
			if err != nil {
				t.Fatal(path, err)
			}
			s.work = append(s.work, job{weight, len(of) > 2, strings.Split(strings.TrimSpace(string(f.Data)), "\n")})
		}
		if s.told["engine"] == engine && (os.Getenv("TEST_FILEWISE_SHAPES") != "" || everything() && s.told["quick"] != "") {
			all = append(all, s)
		}
	}
	return all
}

// made is a statement that is given to the server, with parameters (nil: NULL).
type made struct {
	sql  string
	args []any
}

// maker makes the calls of a shape's work.
type maker struct {
	*rand.Rand
	next  int
	drawn []string // in this call
}

var (
	place1 = regexp.MustCompile(`«([^»]*)»`)
	span   = regexp.MustCompile(`^(.*?)(\d+)\.\.(\d+)(.*)$`)
)

func (m *maker) value(text string) (v string) {
	defer func() { m.drawn = append(m.drawn, v) }()
	uuid := func(of string) string {
		sum := md5.Sum([]byte(of))
		return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:])
	}
	v4 := func(id string) string { return id[:14] + "4" + id[15:19] + "8" + id[20:] }
	switch before, isTime := strings.CutPrefix(text, "time"); {
	case isTime:
		at := time.Date(2026, 9, 1, 10, 0, 0, 0, time.UTC).Add(time.Duration(m.IntN(80*24*3600)) * time.Second)
		return at.Format(time.DateTime) + before
	case text == "n":
		m.next++
		return strconv.Itoa(m.next)
	case text == "newuuid" || text == "newguid":
		m.next++
		v = uuid(fmt.Sprint("new", m.next))
		if text == "newguid" {
			v = v4(v)
		}
		return v
	case text != "" && text[0] == '@':
		n, _ := strconv.Atoi(text[1:])
		return m.drawn[n-1]
	case strings.Contains(text, "|"):
		all := strings.Split(text, "|")
		return all[m.IntN(len(all))]
	}
	of := span.FindStringSubmatch(text)
	if of == nil {
		return text
	}
	low, _ := strconv.Atoi(of[2])
	high, _ := strconv.Atoi(of[3])
	n := strconv.Itoa(low + m.IntN(high-low+1))
	switch of[1] {
	case "uuid":
		return uuid(n)
	case "guid":
		return v4(uuid(n))
	case "md":
		return strings.ReplaceAll(uuid(n), "-", "")
	}
	return of[1] + n + of[4]
}

// call makes one of a job's.
func (m *maker) call(j job, parameter func(n int) string) (all []made) {
	m.drawn = nil
	for _, line := range j.lines {
		x := made{}
		x.sql = place1.ReplaceAllStringFunc(line, func(found string) string {
			v := m.value(strings.Trim(found, "«»"))
			if !j.named {
				return v
			}
			x.args = append(x.args, any(v))
			if n, err := strconv.ParseInt(v, 10, 64); err == nil {
				x.args[len(x.args)-1] = n
			} else if v == "NULL" {
				x.args[len(x.args)-1] = nil
			}
			return parameter(len(x.args))
		})
		all = append(all, x)
	}
	return all
}

// client is a session of the application's.
type client interface {
	do(made) error
	Close() error
}

type postgresClient struct {
	*pgconn.PgConn
	prepared map[string]string
}

func (c postgresClient) Close() error { return c.PgConn.Close(context.Background()) }

func (c postgresClient) do(x made) error {
	ctx := context.Background()
	if x.args == nil {
		_, err := c.Exec(ctx, x.sql).ReadAll()
		return err
	}
	name, is := c.prepared[x.sql]
	if !is {
		name = fmt.Sprint("a", len(c.prepared)+1)
		if _, err := c.Prepare(ctx, name, x.sql, nil); err != nil {
			return err
		}
		c.prepared[x.sql] = name
	}
	args := make([][]byte, len(x.args))
	for i, a := range x.args {
		if a != nil {
			args[i] = fmt.Append(nil, a)
		}
	}
	_, err := c.ExecPrepared(ctx, name, args, nil, nil).Close()
	return err
}

type innoClient struct {
	*sql.Conn
	db *sql.DB
}

func (c innoClient) Close() error { return errors.Join(c.Conn.Close(), c.db.Close()) }

func (c innoClient) do(x made) error {
	rows, err := c.QueryContext(context.Background(), x.sql, x.args...) // which reads what there is, also of no query
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return rows.Err()
}

// connect opens a session with a database as its owner.
func (o *owned) connect(database string) (client, error) {
	_, at, _ := strings.Cut(o.target, "host=")
	if strings.HasPrefix(o.target, "postgres") {
		c, err := pgconn.Connect(context.Background(), "user=owner host="+at+" dbname="+database)
		return postgresClient{c, map[string]string{}}, err
	}
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.DBName = "root", "unix", at, database
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	conn, err := db.Conn(context.Background())
	return innoClient{conn, db}, err
}

// calls counts an application's calls, and sessions the sessions in which it makes them.
const calls, appSessions = 400, 3

// works has the application work, and returns the server's log of it.
func (s shape) works(t *testing.T, o *owned) (log string) {
	t.Helper()
	m := &maker{Rand: rand.New(rand.NewPCG(42, 1)), next: 20000}
	parameter := func(int) string { return "?" }
	other := "mysql"
	if s.told["engine"] == "postgres" {
		parameter, other = func(n int) string { return fmt.Sprint("$", n) }, "postgres"
	}
	var all [][]made
	for _, j := range s.work {
		for range j.weight * calls / 100 {
			all = append(all, m.call(j, parameter))
		}
	}
	m.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	path := o.logs[s.told["log"]]
	mark := func(what string) int64 { // the server has written it, and what was before
		what = fmt.Sprintf("SELECT '%s of %s'", what, s.name)
		if out, err := o.client(other, what); err != nil {
			t.Fatal(err, out)
		}
		var size int64
		if err := until(time.Minute, func() (bool, error) {
			text, err := os.ReadFile(path)
			size = int64(len(text))
			return bytes.Contains(text, []byte(what)), err
		}); err != nil {
			t.Fatal(err)
		}
		return size
	}
	from := mark("the begin")
	var done sync.WaitGroup
	var one sync.Mutex // at a time, on servers that find deadlocks between any two
	failed := make([]error, appSessions)
	for n := range appSessions {
		done.Go(func() {
			c, err := o.connect(s.name)
			if failed[n] = err; err != nil {
				return
			}
			defer c.Close()
			if of := s.told["connect"]; of != "" {
				failed[n] = c.do(made{sql: of})
			}
			for i := n; i < len(all) && failed[n] == nil; i += appSessions {
				if other != "postgres" {
					one.Lock()
				}
				for _, x := range all[i] {
					if err := c.do(x); err != nil && failed[n] == nil {
						failed[n] = fmt.Errorf("%w: %s %v", err, x.sql, x.args)
					}
				}
				if other != "postgres" {
					one.Unlock()
				}
			}
		})
	}
	done.Wait()
	if err := errors.Join(failed...); err != nil {
		t.Fatal(err)
	}
	to := mark("the end")
	text, err := os.ReadFile(path)
	log = filepath.Join(t.TempDir(), "log")
	if err := errors.Join(err, os.WriteFile(log, text[from:to], 0o600)); err != nil {
		t.Fatal(err)
	}
	return log
}
