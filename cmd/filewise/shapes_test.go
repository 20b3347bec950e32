//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/md5"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rogpeppe/go-internal/txtar"

	"filewise"
	"filewise/engine/innodb/servertest"
	"filewise/own/capture"
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

func (m *maker) value(said string) (v string) {
	defer func() { m.drawn = append(m.drawn, v) }()
	uuid := func(of string) string {
		sum := md5.Sum([]byte(of))
		return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:])
	}
	v4 := func(id string) string { return id[:14] + "4" + id[15:19] + "8" + id[20:] }
	switch before, isTime := strings.CutPrefix(said, "time"); {
	case isTime:
		at := time.Date(2026, 9, 1, 10, 0, 0, 0, time.UTC).Add(time.Duration(m.IntN(80*24*3600)) * time.Second)
		return at.Format(time.DateTime) + before
	case said == "n":
		m.next++
		return strconv.Itoa(m.next)
	case said == "newuuid" || said == "newguid":
		m.next++
		v = uuid(fmt.Sprint("new", m.next))
		if said == "newguid" {
			v = v4(v)
		}
		return v
	case said != "" && said[0] == '@':
		n, _ := strconv.Atoi(said[1:])
		return m.drawn[n-1]
	case strings.Contains(said, "|"):
		all := strings.Split(said, "|")
		return all[m.IntN(len(all))]
	}
	of := span.FindStringSubmatch(said)
	if of == nil {
		return said
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

// captured takes a study from a log, or by counts, into a file.
func (s shape) captured(t *testing.T, o *owned, p *place, by ...string) (c capture.Study, path string) {
	t.Helper()
	said := p.run(0, append([]string{"capture", "--target", o.target, "--database", s.name, "--json"}, by...)...)
	var file struct{ Study string }
	if err := errors.Join(json.Unmarshal(said.stdout.Bytes(), &c), json.Unmarshal(said.stdout.Bytes(), &file)); err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv("TEST_FILEWISE_STUDIES"); dir != "" { // to be read
		os.WriteFile(filepath.Join(dir, s.name+strings.Trim(by[0], "-")[:3]+".yaml"), []byte(file.Study), 0o600)
	}
	for _, f := range c.Fill { // what the shape's head names is filled in, as a user would: behind a part of the statement
		draw := ""
		for said := range s.told {
			of, is := strings.CutPrefix(said, "fill ")
			if is && strings.Contains(f.Why, of) {
				draw, s.told[said], _ = strings.Cut(s.told[said], "; ")
			}
		}
		if by[0] == "--log" || draw == "" {
			t.Errorf("%v: parameter %s is to be filled in: %s", by, f.Name, f.Why)
			continue
		}
		file.Study = regexp.MustCompile(`(?m)^    `+f.Name+`: .*$`).ReplaceAllLiteralString(file.Study, "    "+f.Name+": "+draw)
	}
	path = filepath.Join(t.TempDir(), "own.yaml")
	if err := os.WriteFile(path, []byte(file.Study), 0o600); err != nil {
		t.Fatal(err)
	}
	return c, path
}

// wholeTables is the kind of layouts that hold the tables of a study whole, with its files. Empty means one can be
// divided.
func wholeTables(c capture.Study) (kind filewise.Kind, files int) {
	for _, x := range c.Tables {
		if x.Whole == "" {
			return "", 0
		}
		if x.Alone != "" {
			kind, files = x.Alone, files+1
		}
	}
	if kind == filewise.KindSingle {
		files = 1
	}
	return kind, files
}

// measured runs a study on a copy, and expects all of its types at work, with at most so many keys drawn again for
// each call.
func (s shape) measured(t *testing.T, o *owned, p *place, c capture.Study, study string, redrawn float64) {
	t.Helper()
	args := []string{"run", study, "--from", o.url(s.name), "--size=12MiB", "--builds=1", "--window=300ms", "--warm-up=0s",
		"--max-blocks=3", "--budget=0"}
	if kind, files := wholeTables(c); kind != "" { // as the study demands
		for _, on := range []string{"a", "a+b"} {
			args = append(args, "--layout", fmt.Sprintf("kind=%s,files=%d,volumes=%s", kind, files, on))
		}
		args = append(args, "--volume=a="+o.volumes[0], "--volume=b="+o.volumes[1])
	} else {
		args = append(args, "--kind=partitions", "--files=1,2", "--volume=here="+o.volumes[0])
	}
	p.show(p.run(0, args...))
	_, _, _, trials := p.newest()
	work, failures := map[string]float64{}, map[string]int64{}
	for _, t := range trials {
		for _, m := range t.Measures {
			for name, of := range m.Types {
				work[name] += of.Work
				for class, n := range of.Errors {
					failures[name+" "+string(class)] += n
				}
			}
			if len(m.Types) == 0 {
				work[c.Transactions[0].Name] += m.Work
			}
		}
	}
	sum := 0.0
	for _, n := range work {
		sum += n
	}
	for _, x := range c.Transactions {
		if off := math.Abs(work[x.Name]/sum - x.Share); off > 0.02+4*math.Sqrt(x.Share*(1-x.Share)/sum) { // drawn
			t.Errorf("%s: %.3f of the work, want %.3f of %.0f", x.Name, work[x.Name]/sum, x.Share, sum)
		}
	}
	for of, n := range failures {
		if name, _, _ := strings.Cut(of, " "); float64(n) > redrawn*work[name] {
			t.Errorf("%s: %d of %.0f", of, n, work[name])
		}
	}
}

// applied rehearses the scripts of a run on a copy, and executes them on the original, there and back.
func (s shape) applied(t *testing.T, o *owned, p *place, c capture.Study) {
	t.Helper()
	_, _, plan, _ := p.newest()
	there := filepath.Join(t.TempDir(), "there.sql")
	args := []string{"apply", "--target", o.target, "--database", s.name, "--layout", plan.Layouts[len(plan.Layouts)-1].Name}
	if kind, _ := wholeTables(c); kind != "" {
		args = append(args, "--volume=a="+o.places[0], "--volume=b="+o.places[1])
	}
	args = append(args, strings.Fields(s.told["apply"])...)
	p.show(p.run(0, append(args, "--output", there)...))
	var scripts filewise.Migration
	if err := json.Unmarshal(p.run(0, append(args, "--json")...).stdout.Bytes(), &scripts); err != nil {
		t.Fatal(err)
	}
	if len(scripts.Tables) == 0 {
		t.Errorf("no table is moved: %+v", c.Tables)
	}
	original := o.dump(t, s.name)
	copied := s.name + "_copy"
	o.copied(t, s.name, copied)
	o.thereAndBack(t, copied, there, scripts, func() {})
	if after := o.dump(t, s.name); after != original {
		t.Errorf("the rehearsal has changed the original: before\n%.2000s\nafter\n%.2000s", original, after)
	}
	o.thereAndBack(t, s.name, there, scripts, func() {})
}

// Applications' databases go the whole path that a user's goes: inspected; captured from a log, with the shares that were
// fed and nothing to fill in, and by counts; run on copies by both studies; the scripts to a layout rehearsed on a copy, then
// executed, there and back; and a backup restored.
func TestShapes(t *testing.T) {
	t.Parallel()
	for engine, start := range map[string]func(*testing.T) *owned{"postgres": shapesPostgres, "mariadb": shapesMariaDB, "mysql": shapesMySQL} {
		all := shapes(t, engine)
		if len(all) == 0 {
			continue
		}
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			o := start(t)
			for _, s := range all {
				t.Run(s.name, func(t *testing.T) { s.path(t, o) })
			}
		})
	}
}

func (s shape) path(t *testing.T, o *owned) {
	p := newPlace(t)
	p.env = append(p.env, "FILEWISE_PASSWORD="+accountPassword)
	o.prepare(t, "CREATE DATABASE "+s.name)
	o.feed(t, s.name, s.schema)
	if o.forget != "" { // what was counted so far
		o.feed(t, s.name, o.forget)
	}
	log := s.works(t, o)
	p.show(p.run(0, "inspect", "--target", o.target))
	c, study := s.captured(t, o, p, "--for=0s")
	s.measured(t, o, p, c, study, 5) // a child's new key may be any parent's
	c, study = s.captured(t, o, p, "--log", log)
	s.shares(t, c)
	s.measured(t, o, p, c, study, 0.1)
	s.applied(t, o, p, c)
	if tool := s.told["backup"]; tool != "" {
		o.restores(t, p, s.name, "--backup-option="+tool, "--backup-option=compress=no,yes", "--files=1")
	} else {
		o.restores(t, p, s.name, "--files=1,2", "--backup-option="+o.options)
	}
	p.noPassword()
	p.tidy()
}

// shares compares a study's shares with what was fed.
func (s shape) shares(t *testing.T, c capture.Study) {
	t.Helper()
	var fed, got []float64
	for _, j := range s.work {
		fed = append(fed, float64(j.weight)/100)
	}
	for _, x := range c.Transactions {
		got = append(got, x.Share)
	}
	slices.Sort(fed)
	slices.Sort(got)
	near := slices.EqualFunc(fed, got, func(a, b float64) bool { return math.Abs(a-b) <= 0.02 })
	if !near || c.Covered < 0.98 {
		t.Errorf("it covers %.3f, and its shares are %.3f, want %.3f\n%s", c.Covered, got, fed, strings.Join(c.Account(), "\n"))
	}
}

func shapesPostgres(t *testing.T) *owned {
	o := ownPostgresWith(t, "-c", "logging_collector=on", "-c", "log_filename=all.log", "-c", "log_destination=csvlog,jsonlog",
		"-c", "log_directory=log", "-c", "log_min_duration_statement=0", "-c", "log_rotation_size=0", "-c", "log_file_mode=0644")
	_, dir, _ := strings.Cut(o.target, "host=")
	o.logs = map[string]string{"csv": filepath.Join(dir, "data", "log", "all.csv"), "json": filepath.Join(dir, "data", "log", "all.json")}
	o.forget = "CREATE EXTENSION pg_stat_statements SCHEMA public; SELECT public.pg_stat_statements_reset();"
	o.prepare(t, "CREATE DATABASE copied") // which the URL names
	o.volumes = []string{t.TempDir(), t.TempDir()}
	for n, name := range []string{"space_a", "space_b"} {
		at := filepath.Join(dir, name)
		if out, err := o.sql(fmt.Sprintf("COPY (SELECT 1) TO PROGRAM 'mkdir %s'", at)); err != nil { // the server's own
			t.Fatal(err, out)
		}
		o.prepare(t, fmt.Sprintf("CREATE TABLESPACE %s LOCATION '%s'", name, at), "GRANT CREATE ON TABLESPACE "+name+" TO filewise")
		o.places = append(o.places, "tablespace:"+[]string{"space_a", "space_b"}[n])
	}
	o.copied = func(t *testing.T, from, to string) { o.prepare(t, "CREATE DATABASE "+to+" TEMPLATE "+from) }
	return o
}

func shapesMariaDB(t *testing.T) *owned {
	needServer(t)
	return shapesInnoDB(t, "mariadb", servertest.MariaDB, func(dir string, more ...string) *ownServer {
		return startOwn(t, append(more, "--performance-schema=ON", "--performance-schema-consumer-statements-digest=ON",
			"--log-slow-verbosity=query_plan,explain")...)
	})
}

func shapesMySQL(t *testing.T) *owned {
	return shapesInnoDB(t, "mysql", servertest.MySQL, func(dir string, more ...string) *ownServer {
		return startOwnMySQL(t, append(more, "--innodb-directories="+dir, "--lower-case-table-names=1")...)
	})
}

func shapesInnoDB(t *testing.T, engine string, product servertest.Product, start func(dir string, more ...string) *ownServer) *owned {
	dir, err := os.MkdirTemp(product.Temp(), "shapes")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	logs := map[string]string{"general": filepath.Join(dir, "general.log"), "slow": filepath.Join(dir, "slow.log")}
	o := ownInnoDB(t, engine, start(dir, "--general-log", "--general-log-file="+logs["general"], "--slow-query-log",
		"--slow-query-log-file="+logs["slow"], "--long-query-time=0"))
	o.prepare(t, "GRANT EXECUTE ON *.* TO filewise@'%'") // of functions in statements
	o.logs, o.forget = logs, "TRUNCATE performance_schema.events_statements_summary_by_digest;"
	for _, name := range []string{"run_a", "run_b", "space_a", "space_b"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	o.volumes = []string{filepath.Join(dir, "run_a"), filepath.Join(dir, "run_b")}
	o.places = []string{filepath.Join(dir, "space_a"), filepath.Join(dir, "space_b")}
	o.copied = func(t *testing.T, from, to string) {
		o.prepare(t, "CREATE DATABASE "+to)
		o.feed(t, to, "SET SESSION sql_mode = '';\n"+o.dump(t, from))
	}
	return o
}
