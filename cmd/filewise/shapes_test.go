//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/engine/innodb/servertest"
	"filewise/own/capture"
)

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
		for text := range s.told {
			of, is := strings.CutPrefix(text, "fill ")
			if is && strings.Contains(f.Why, of) {
				draw, s.told[text], _ = strings.Cut(s.told[text], "; ")
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

// ungenerated returns a dump without the values of generated columns, which MariaDB's program writes of MySQL's tables, and
// MySQL refuses: their rows are taken from the database itself.
func (o *owned) ungenerated(t *testing.T, database, dump string) string {
	t.Helper()
	out, err := o.client(database, "SET SESSION group_concat_max_len = 65536; SELECT CONCAT('`', TABLE_NAME, '` \t', GROUP_CONCAT(IF("+
		"EXTRA LIKE '%DEFAULT_GENERATED%' OR EXTRA NOT LIKE '%GENERATED%', CONCAT('`', COLUMN_NAME, '`'), NULL))) AS '' FROM "+
		"information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() GROUP BY TABLE_NAME HAVING SUM(EXTRA IN ('STORED GENERATED', "+
		"'VIRTUAL GENERATED'))")
	if err != nil {
		t.Fatal(err, out)
	}
	for line := range strings.Lines(out) {
		table, columns, is := strings.Cut(strings.TrimSpace(strings.ReplaceAll(line, `\t`, "\t")), " \t")
		if !is {
			continue
		}
		rows := fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM `%s`.%s;\n", table, columns, columns, database, table)
		dump = regexp.MustCompile("(?m)^LOCK TABLES "+table+".*\n").ReplaceAllString(dump, rows)
		dump = regexp.MustCompile("(?m)^INSERT INTO "+table+" VALUES.*\n").ReplaceAllString(dump, "")
	}
	return dump
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
		o.feed(t, to, "SET SESSION sql_mode = '';\n"+o.ungenerated(t, from, o.dump(t, from)))
	}
	return o
}
