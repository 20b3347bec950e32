package plan_test

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"filewise"
	"filewise/engine/all"
	"filewise/lab/workload"
	"filewise/run/plan"
)

// made is a plan of an engine, changed so.
func made(t *testing.T, engine string, change func(*plan.Options)) plan.Made {
	t.Helper()
	engines := plan.Engines(all.Engines())
	o := engines.New()
	o.Engine = plan.Of(engine)
	o.Volumes = plan.Of([]plan.Pair{{Name: "here", Value: t.TempDir()}})
	change(o)
	p, err := engines.Make(o)
	if err != nil {
		t.Fatalf("%s: %v", engine, err)
	}
	return p
}

// script returns the statements that a layout's build would execute.
func script(t *testing.T, p plan.Made, l filewise.Layout) (filewise.Statements, error) {
	t.Helper()
	return p.Engine.Statements(plan.InScratch(p.Target), l, program(t, p))
}

func program(t *testing.T, p plan.Made) filewise.Program {
	t.Helper()
	sc, err := workload.Lookup(p.Scenario)
	if err != nil {
		t.Fatal(err)
	}
	w, err := sc.New(p.Params, p.Seed)
	if err != nil {
		t.Fatal(err)
	}
	return p.Program(w)
}

// Partitions are refused on engines without that layout, with the reason and what works.
func TestPartitionsElsewhere(t *testing.T) {
	for _, engine := range []string{"sqlserver", "oracle"} {
		for _, change := range []func(*plan.Options){
			func(o *plan.Options) { o.Kind = plan.Of("partitions") },
			func(o *plan.Options) {
				spec, err := plan.ParseLayout("files=4,kind=partitions")
				if err != nil {
					t.Fatal(err)
				}
				o.Layouts = plan.Of([]plan.LayoutSpec{spec})
			},
		} {
			engines := plan.Engines(all.Engines())
			o := engines.New()
			o.Target = plan.Of(engine + "://me@db")
			change(o)
			_, err := engines.Make(o)
			if !errors.Is(err, filewise.ErrUnsupported) || !strings.Contains(err.Error(), "--files") ||
				!strings.Contains(filewise.RemedyOf(err), "init custom --engine "+engine) {
				t.Errorf("%s: %v: %s", engine, err, filewise.RemedyOf(err))
			}
		}
	}
}

// Partitions are compared with one of them, which costs what partitions cost without being further files; the plan
// explains them.
func TestOnePartition(t *testing.T) {
	for _, engine := range []string{"mariadb", "mysql"} {
		p := made(t, engine, func(o *plan.Options) {
			o.Kind, o.Files = plan.Of("partitions"), plan.Of([]int{4, 8})
		})
		if len(p.Layouts) != 3 || p.Layouts[0].Data.Files != 1 || p.Layouts[0].Kind != filewise.KindPartitions {
			t.Errorf("%s: %+v", engine, p.Layouts)
		}
		s, err := script(t, p, p.Layouts[2])
		if err != nil || !slices.ContainsFunc(s.Warnings, func(w filewise.Warning) bool { return w.Code == "partitions-scope" }) {
			t.Errorf("%s: %v, %+v", engine, err, s.Warnings)
		}
	}
}

// The space that the user's SQL needs is not counted by commits of a byte.
func TestCustomSpace(t *testing.T) {
	for _, engine := range []string{"mariadb", "mysql", "sqlite", "postgres"} {
		p := made(t, engine, func(o *plan.Options) {
			text := func(s string) workload.Script { return workload.Script{"": {{Text: s, File: "my.yaml", Line: 1}}} }
			o.Scenario, o.Custom = "custom", &workload.Custom{Setup: text(`CREATE TABLE a (id INTEGER) {{spread "a"}}`),
				Tables:       []filewise.CustomTable{{Name: "a", Key: "id"}},
				Transactions: []workload.Transaction{{Name: "add", Weight: 1, SQL: text("INSERT INTO a VALUES (1)")}}}
		})
		s, err := script(t, p, p.Layouts[0])
		if err != nil {
			t.Fatal(err)
		}
		if need, size := s.Space["here"], p.Layouts[0].Data.Bytes; need > 8*size {
			t.Errorf("%s: %d bytes for a layout of %d", engine, need, size)
		}
	}
}

// No scale is too small for the article's numbers of files. If the engine cannot do them, other numbers are run, and
// the plan reports it.
func TestPublishedNumbersStay(t *testing.T) {
	engines := plan.Engines(all.Engines())
	o := engines.New()
	o.Scenario, o.Engine, o.AsPublished, o.Scale = "scan", plan.Of("mariadb"), plan.Of(true), plan.Of(0.002)
	o.Volumes = plan.Of([]plan.Pair{{Name: "here", Value: t.TempDir()}})
	if m, err := engines.Make(o); err != nil || len(m.Plan.Layouts) != 2 || m.Plan.Layouts[1].Data.Files != 40 {
		t.Errorf("%v; %s", err, filewise.RemedyOf(err))
	}
	p := made(t, "sqlite", func(o *plan.Options) { o.Scenario, o.AsPublished = "scan", plan.Of(true) })
	sc, err := workload.Lookup("scan")
	if err != nil {
		t.Fatal(err)
	}
	if says := strings.Join(sc.DiffersHere(p.Layouts, 0.02, p.Command), "\n"); !strings.Contains(says, "cannot do it: 40 files.") ||
		!strings.Contains(says, "not published: 4 files.") || !strings.Contains(says, "1039773 rows there, 53000 rows here") {
		t.Error(says)
	}
}

// As published, inserts begin with nothing: there are no loaded builds, no copies and no space for them.
func TestPublishedInsertsKeepNoBuilds(t *testing.T) {
	p := made(t, "sqlite", func(o *plan.Options) { o.AsPublished = plan.Of(true) })
	if p.Builds != 0 || p.Preload != 0 {
		t.Errorf("%d builds loaded with %d bytes", p.Builds, p.Preload)
	}
}

// Indexes that the article had when it loaded its tables are made before the load. InnoDB's always are, so that their pages
// lie between the rows': a file that held nothing else would not be read.
func TestIndexedFirst(t *testing.T) {
	for _, engine := range []string{"sqlite", "mariadb", "mysql", "postgres"} {
		usual := map[string]string{"sqlite": filewise.StageLoad, "postgres": filewise.StageLoad}
		for published, stage := range map[bool]string{true: filewise.StageBuild, false: cmp.Or(usual[engine], filewise.StageBuild)} {
			p := made(t, engine, func(o *plan.Options) {
				o.Scenario, o.AsPublished = "scan", plan.Opt[bool]{Value: published}
				if published {
					o.AsPublished = plan.Of(true)
				}
			})
			s, err := script(t, p, p.Layouts[0])
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, step := range s.Steps {
				if strings.Contains(step.SQL, "frag1") && (strings.Contains(step.SQL, "CREATE INDEX") || strings.Contains(step.SQL, "ADD INDEX")) {
					if found = true; step.Stage != stage {
						t.Errorf("%s, as published %v: %s in stage %s", engine, published, step.SQL, step.Stage)
					}
				}
			}
			if !found {
				t.Errorf("%s: no index", engine)
			}
		}
	}
}

// A cold scan is repeated only where it reads from the storage again: InnoDB bypasses the system's cache, and its own holds a
// twelfth of the data. A look-up would find its page cached.
func TestColdScansAreRepeated(t *testing.T) {
	for engine, want := range map[string]int64{"mariadb": 20, "mysql": 20, "postgres": 1, "sqlite": 1} {
		for published, times := range map[bool]int64{false: want, true: 1} {
			p := made(t, engine, func(o *plan.Options) {
				o.Scenario, o.Cache = "scan", plan.Of(string(filewise.CacheStorageCold))
				if published {
					o.AsPublished = plan.Of(true)
				}
			})
			phases, readers := program(t, p).Phases, int64(p.Params.Connections)
			if scans, lookups := phases[3].Ops/readers, phases[0].Ops/readers; scans != times || lookups != 1 {
				t.Errorf("%s, as published %v: a reader scans %d times and looks up %d times, want %d and 1", engine, published, scans,
					lookups, times)
			}
		}
	}
}

// One file of the article was a bigfile on Oracle, and files grew by a block.
func TestBigfileAsPublished(t *testing.T) {
	for _, published := range []bool{false, true} {
		p := made(t, "oracle", func(o *plan.Options) {
			o.Scenario, o.Volumes, o.Target = "dml", plan.Of([]plan.Pair{{Name: "a", Value: "/u02"}}), plan.Of("oracle://u@h/pdb")
			if published {
				o.AsPublished = plan.Of(true)
			}
		})
		for _, l := range p.Layouts {
			if big := l.Kind == filewise.KindBigfile; big != (published && l.Data.Files == 1) || published && l.Data.Growth != 0 {
				t.Errorf("as published %v: %+v", published, l)
			}
		}
	}
}

// Files that grow begin as small as they can, including InnoDB's system tablespace.
func TestGrowingBeginsSmall(t *testing.T) {
	for _, engine := range []string{"mariadb", "mysql"} {
		p := made(t, engine, func(o *plan.Options) { o.Scenario, o.AsPublished = "dml", plan.Of(true) })
		for _, l := range p.Layouts {
			s, err := script(t, p, l)
			if err != nil {
				t.Fatal(err)
			}
			var bytes int64
			for _, f := range s.Files {
				if f.Role == filewise.RoleData {
					bytes += f.Bytes
				}
			}
			if most := int64(l.Data.Files+4) << 20; l.Data.Allocation == filewise.Growing && bytes > most {
				t.Errorf("%s: %s begins with %d bytes, more than %d", engine, l.Name, bytes, most)
			}
		}
	}
}

// The files of tempdb are measured as they are, twice, so that a later run can be compared.
func TestTempAsItIs(t *testing.T) {
	engines := plan.Engines(all.Engines())
	o := engines.New()
	o.Scenario, o.Target = "temp", plan.Of("sqlserver://u@h")
	p, err := engines.Make(o)
	if err != nil {
		t.Fatalf("%v; %s", err, filewise.RemedyOf(err))
	}
	if len(p.Layouts) != 2 || p.Layouts[0].Name != "as it is" || p.AA != p.Layouts[1].Name || p.Baseline != p.Layouts[0].Name ||
		p.Layouts[0].Temp.Files != 0 {
		t.Errorf("%+v, again %q", p.Layouts, p.AA)
	}
	if _, err := script(t, p, p.Layouts[0]); err != nil {
		t.Error(err)
	}
	o.Files = plan.Of([]int{1, 2})
	if _, err := engines.Make(o); filewise.CodeOf(err) != filewise.CodePreflight || filewise.RemedyOf(err) == "" {
		t.Error(err)
	}
}

// SQL Server's half of the article on single rows has its own rows, files and log. First contact: SQL Server 4.
func TestDMLOfSQLServer(t *testing.T) {
	engines := plan.Engines(all.Engines())
	for scale, want := range map[float64]string{
		1: "350000 10000 2000: 8M+1M log 1M+1M, 8M 1M 1M 1M 1M 1M 1M 1M+1M log 1M+1M, 12M+1M log 438M+1M, " +
			"8M 8M 8M 8M 8M 8M 8M 8M+1M log 438M+1M",
		0.04: "14000 400 2000: 8M+1M log 1M+1M, 8M 1M 1M 1M 1M 1M 1M 1M+1M log 1M+1M, 12M+1M log 17.5M+1M, " +
			"8M 8M 8M 8M 8M 8M 8M 8M+1M log 17.5M+1M",
	} {
		o := engines.New()
		o.Scenario, o.Target, o.AsPublished, o.Scale = "dml", plan.Of("sqlserver://u@h"), plan.Of(true), plan.Of(scale)
		p, err := engines.Make(o)
		if err != nil {
			t.Fatal(err)
		}
		grows := regexp.MustCompile(`'([^']*)', SIZE = (\d+)KB, MAXSIZE = UNLIMITED, FILEGROWTH = (\d+)KB`)
		var layouts []string
		for _, l := range p.Layouts {
			s, err := script(t, p, l)
			if err != nil {
				t.Fatal(err)
			}
			var all, growth string
			for _, m := range grows.FindAllStringSubmatch(s.Steps[0].SQL, -1) {
				kb, _ := strconv.ParseFloat(m[2], 64)
				size := strconv.FormatFloat(kb/1024, 'g', -1, 64) + "M"
				if strings.HasSuffix(m[1], ".ldf") {
					size, growth = growth+" log "+size, ""
				}
				all += " " + size
				step, _ := strconv.Atoi(m[3])
				growth = fmt.Sprintf("+%dM", step/1024)
			}
			layouts = append(layouts, strings.ReplaceAll(strings.TrimSpace(all+growth), " +", "+"))
		}
		got := fmt.Sprintf("%d %d %d: %s", p.Params.Rows, p.Params.Selects, p.Params.Concurrent, strings.Join(layouts, ", "))
		if got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		sc, err := workload.Lookup("dml")
		if err != nil {
			t.Fatal(err)
		}
		says := strings.Join(sc.On("sqlserver").DiffersHere(p.Layouts, scale, p.Command), "\n")
		if strings.Contains(says, "Oracle") || !strings.Contains(says, "8 MiB each") || !strings.Contains(says, "#TMP") ||
			!strings.Contains(says, "changed both columns") || scale != 1 && !strings.Contains(says, "350000 rows there, 14000 rows here") {
			t.Error(says)
		}
	}
}

// Oracle's half of it has some 1,000 files at the original's size, as far as Oracle can
// make them, and nowhere else.
func TestManyFilesOfOracle(t *testing.T) {
	engines := plan.Engines(all.Engines())
	for url, scales := range map[string]map[float64]string{
		"oracle://u@h/x":  {1: "1 8 1000 1 8", 0.04: "1 8 1 8"},
		"sqlserver://u@h": {1: "1 8 1 8"},
	} {
		for scale, want := range scales {
			o := engines.New()
			o.Scenario, o.Target, o.AsPublished, o.Scale = "dml", plan.Of(url), plan.Of(true), plan.Of(scale)
			p, err := engines.Make(o)
			if err != nil {
				t.Fatal(err)
			}
			var files []string
			for _, l := range p.Layouts {
				if _, err := script(t, p, l); err != nil {
					t.Error(err)
				}
				files = append(files, strconv.Itoa(l.Data.Files))
			}
			if got := strings.Join(files, " "); got != want {
				t.Errorf("%s at scale %g: %s, want %s", url, scale, got, want)
			}
		}
	}
}

// A step of 0 is the server's own: on Oracle the file's clause has no NEXT. Elsewhere it is refused.
func TestOwnGrowth(t *testing.T) {
	engines := plan.Engines(all.Engines())
	for _, byLayout := range []bool{false, true} {
		for target, own := range map[string]bool{"oracle://u@h/x": true, "sqlserver://u@h": false} {
			o := engines.New()
			o.Target = plan.Of(target)
			if byLayout {
				step := []plan.Pair{{Name: "allocation", Value: "growing"}, {Name: "growth", Value: "0"}}
				o.Layouts = plan.Of([]plan.LayoutSpec{append(step, plan.Pair{Name: "files", Value: "1"}), append(step, plan.Pair{Name: "files",
					Value: "4"})})
			} else {
				o.Allocation, o.Growth, o.Files = plan.Of("growing"), plan.Of("0"), plan.Of([]int{1, 4})
			}
			p, err := engines.Make(o)
			if own != (err == nil) || !own && !strings.Contains(err.Error(), "growth") {
				t.Errorf("%s: %v", target, err)
			}
			if err != nil {
				continue
			}
			for _, l := range p.Layouts {
				s, err := script(t, p, l)
				if err != nil || !strings.Contains(s.Steps[0].SQL, "AUTOEXTEND ON MAXSIZE") {
					t.Errorf("%s: %v: %s", l.Name, err, s.Steps[0].SQL)
				}
			}
		}
	}
}

// What SQL Server's files hold, and which of them rows reach, is known before anything is built, in every
// scenario and form: no layout of an article's is refused at the usual scale, what is warned of
// names rows that would do, and those do.
func TestRowsReachFiles(t *testing.T) {
	engines := plan.Engines(all.Engines())
	says := regexp.MustCompile(`--rows (\d+)`)
	for _, sc := range workload.Scenarios() {
		for _, published := range []bool{false, true} {
			o := engines.New()
			o.Scenario, o.Target = sc.Name, plan.Of("sqlserver://u@h")
			if published {
				o.AsPublished = plan.Of(true)
			}
			p, err := engines.Make(o)
			if sc.Name == "custom" || sc.Temp && published || sc.Name == "dump" || sc.Design == nil && published {
				if err == nil {
					t.Errorf("%s is planned now: test it here", sc.Name)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s, as published %v: %v; %s", sc.Name, published, err, filewise.RemedyOf(err))
				continue
			}
			reached := unreached(t, p) == ""
			if want := sc.Name != "dml" || !published; reached != want { // the article's table is one extent: of 8 files one
				t.Errorf("%s, as published %v: %q", sc.Name, published, unreached(t, p))
			}
			if m := says.FindStringSubmatch(unreached(t, p)); m != nil && !published {
				n, _ := strconv.ParseInt(m[1], 10, 64)
				o.Rows = plan.Of(n)
				if p, err = engines.Make(o); err != nil || unreached(t, p) != "" {
					t.Errorf("%s: the remedy leads to %v, %s", sc.Name, err, unreached(t, p))
				}
			}
		}
	}
}

// unreached is the remedy of the warning that rows do not reach the last layout's files.
func unreached(t *testing.T, p plan.Made) string {
	t.Helper()
	s, err := script(t, p, p.Layouts[len(p.Layouts)-1])
	if err != nil {
		t.Fatalf("%s: %v", p.Scenario, err)
	}
	for _, w := range s.Warnings {
		if w.Code == "files-not-reached" || w.Code == "rows-outgrow-files" {
			return w.Message + " " + w.Remedy
		}
	}
	return ""
}

// The article's backups were compressed.
func TestPublishedBackupIsCompressed(t *testing.T) {
	for engine, want := range map[string]filewise.BackupOptions{"sqlserver": "compression=on", "sqlite": ""} {
		p := made(t, engine, func(o *plan.Options) {
			o.Scenario, o.AsPublished = "backup", plan.Of(true)
			if engine == "sqlserver" {
				o.Engine, o.Target, o.Volumes = plan.Opt[string]{}, plan.Of("sqlserver://u@h"), plan.Opt[[]plan.Pair]{}
			}
		})
		for _, l := range p.Layouts {
			s, err := script(t, p, l)
			if err != nil || l.BackupOptions != want {
				t.Errorf("%s: %s has %q, %v", engine, l.Name, l.BackupOptions, err)
			}
			reported := slices.ContainsFunc(s.Steps, func(x filewise.Step) bool { return strings.Contains(x.SQL, ", COMPRESSION") })
			if reported != (want != "") {
				t.Errorf("%s: %v", engine, reported)
			}
		}
	}
}
