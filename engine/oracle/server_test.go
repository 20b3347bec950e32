package oracle

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/lab/workload"
)

var (
	_ filewise.Engine         = Engine{}
	_ filewise.ExternalServer = (*server)(nil)
)

func serverTarget(volumes ...filewise.Volume) filewise.Target {
	if len(volumes) == 0 {
		volumes = []filewise.Volume{{Name: "default"}}
	}
	return filewise.Target{Engine: "oracle", Mode: filewise.External, Volumes: volumes, Durability: filewise.DurabilityFull}
}

// identity answers as a pluggable database of 19c does.
func identity(f *fakeServer) {
	f.answers["version"] = [][]any{{"19.0.0.0.0", "Oracle Database 19c Enterprise Edition"}}
	f.answers["identity"] = [][]any{{"ADA", "ADA", "PDB1", "CDB", "CDB", "db9.example", "pdb1", "1", "cdb1"}}
	f.answers["blocks"] = [][]any{{int64(16384)}}
	f.answers["may-lock"] = [][]any{{int64(1)}}
	var all [][]any
	for _, p := range privileges {
		all = append(all, []any{p.Name})
	}
	for _, p := range customPrivileges {
		all = append(all, []any{p.Name})
	}
	f.answers["privileges"] = all
}

func opened(t *testing.T, f *fakeServer, volumes ...filewise.Volume) *server {
	t.Helper()
	s := &server{target: serverTarget(volumes...), config: &config{}, control: f}
	if err := s.learn(context.Background(), f); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLearn(t *testing.T) {
	f := newFake()
	identity(f)
	s := opened(t, f)
	if s.about.block != 16384 || s.about.account != "ADA" || s.about.container != "PDB1" || len(s.missing) > 0 {
		t.Errorf("%+v, missing %v", s.about, s.missing)
	}
	for what, change := range map[string]func(*fakeServer){
		"the root":        func(f *fakeServer) { f.answers["identity"][0][2] = "CDB$ROOT" },
		"the seed":        func(f *fakeServer) { f.answers["identity"][0][2] = "PDB$SEED" },
		"SYSTEM":          func(f *fakeServer) { f.answers["identity"][0][0], f.answers["identity"][0][1] = "SYSTEM", "SYSTEM" },
		"another schema":  func(f *fakeServer) { f.answers["identity"][0][1] = "BOB" },
		"12.1":            func(f *fakeServer) { f.answers["version"] = [][]any{{"12.1.0.2.0", "Oracle Database 12c"}} },
		"no version":      func(f *fakeServer) { f.answers["version"] = [][]any{{"soon", "Oracle"}} },
		"no row":          func(f *fakeServer) { f.answers["version"] = nil; delete(f.answers, "version") },
		"too few columns": func(f *fakeServer) { f.answers["identity"] = [][]any{{"ADA"}} },
		"a lost link":     func(f *fakeServer) { f.fails["access"] = oracleError(3113) },
	} {
		f := newFake()
		identity(f)
		change(f)
		if err := (&server{target: serverTarget()}).learn(context.Background(), f); err == nil {
			t.Errorf("%s is accepted", what)
		} else if what == "the root" && (!strings.Contains(filewise.RemedyOf(err), "pluggable") || !errors.Is(err, filewise.ErrUnsupported)) {
			t.Errorf("%s: %v (%s)", what, err, filewise.RemedyOf(err))
		}
	}
}

// On RAC all connections go to the instance of the first, and one that did not is refused.
func TestOneInstance(t *testing.T) {
	f := newFake()
	identity(f)
	if s := opened(t, f); s.config.InstanceName != "" || s.onInstance("2") != nil {
		t.Errorf("a single instance: %+v", s.about)
	}
	f.answers["parameters"] = [][]any{{"cluster_database", "TRUE"}}
	s := opened(t, f)
	if s.config.InstanceName != "cdb1" || s.onInstance(int64(1)) != nil || s.onInstance("2") == nil {
		t.Errorf("RAC: %q, %+v", s.config.InstanceName, s.about)
	}
	f.answers["this-session"] = [][]any{{"7", "1", "2"}}
	c := &connection{build: &build{server: s}, held: held{client: f}}
	if err := c.identify(context.Background()); filewise.CodeOf(err) != filewise.CodePreflight {
		t.Errorf("a worker on another instance: %v", err)
	}
}

// Every capability has a stand; without a right the layouts are refused with its GRANT.
func TestOffers(t *testing.T) {
	f := newFake()
	identity(f)
	s := opened(t, f)
	offers := s.Offers()
	for _, c := range filewise.Capabilities {
		if _, ok := offers[c]; !ok {
			t.Errorf("no stand on %s", c)
		}
	}
	if offers[filewise.CanVolumes] != nil || offers[filewise.CanWaits] != nil || offers[filewise.CanLogApart] == nil {
		t.Errorf("%v", offers)
	}
	f.fails["access"] = oracleError(errNoView)
	s = opened(t, f)
	offers = s.Offers()
	if err := offers[filewise.CanVolumes]; !errors.Is(err, filewise.ErrUnsupported) ||
		!strings.Contains(filewise.RemedyOf(err), "GRANT SELECT ON SYS.DBA_TABLESPACES TO ADA") {
		t.Errorf("without views: %v (%s)", err, filewise.RemedyOf(err))
	}
	if offers[filewise.CanWaits] == nil || offers[filewise.CanFileIO] == nil {
		t.Error("waits without v$system_event")
	}
	if s.about.block != usualBlock {
		t.Errorf("blocks of %d", s.about.block)
	}
	if _, err := s.Build(context.Background(), filewise.Layout{Data: filewise.Spread{Files: 1, Bytes: 64 << 20}},
		testProgram(t, small)); filewise.CodeOf(err) != filewise.CodePreflight {
		t.Errorf("a build without rights: %v", err)
	}
}

var small = workload.Params{Connections: 2, RowBytes: 40, CommitEvery: 1, Table: workload.TableShared, Key: workload.KeySequential}

// TestExamine holds. First contact: Oracle 8, 10.
func TestExamine(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	demand := filewise.Demand{Layouts: []filewise.Layout{{Data: filewise.Spread{Files: 16}, Indexes: filewise.IndexesApart}},
		Program: filewise.Program{Phases: []filewise.Phase{{Connections: 100}}}, Space: map[string]int64{"a": 5 << 30, "default": 8 << 30}}
	good := func() *fakeServer {
		f := newFake()
		identity(f)
		f.answers["parameters"] = [][]any{{"db_files", "200"}, {"db_create_file_dest", "/u02"}, {"cluster_database", "FALSE"}}
		f.answers["database"] = [][]any{{"CDB", "Linux x86 64-bit", "NOARCHIVELOG", "NO", "YES", "READ WRITE", "PRIMARY", "NO"}}
		f.answers["files-of-all"] = [][]any{{int64(9)}}
		f.answers["storage-limit"] = [][]any{{"UNLIMITED"}}
		f.answers["bytes-of-all"] = [][]any{{int64(1 << 30)}}
		f.answers["disk-groups"] = [][]any{{"DATA", int64(10 << 10)}}
		f.answers["sessions-limit"] = [][]any{{" 300", int64(50)}}
		return f
	}
	asm := filewise.Volume{Name: "a", Dir: "+data"}
	for _, c := range []struct {
		what, check string
		status      filewise.Status
		volume      filewise.Volume
		change      func(*fakeServer)
	}{
		{"all is well", "rights", filewise.StatusOK, asm, func(*fakeServer) {}},
		{"a privilege is missing", "rights", filewise.StatusFailed, asm,
			func(f *fakeServer) { f.answers["privileges"] = f.answers["privileges"][1:] }},
		{"a view is missing", "rights", filewise.StatusFailed, asm, func(f *fakeServer) { f.fails["access"] = oracleError(errNoView) }},
		{"DB_FILES suffices", "DB_FILES", filewise.StatusOK, asm, func(*fakeServer) {}},
		{"DB_FILES is reached", "DB_FILES", filewise.StatusFailed, asm,
			func(f *fakeServer) { f.answers["files-of-all"] = [][]any{{int64(184)}} }},
		{"the disk group has room", "free space of a", filewise.StatusOK, asm, func(*fakeServer) {}},
		{"the disk group is full", "free space of a", filewise.StatusFailed, asm,
			func(f *fakeServer) { f.answers["disk-groups"] = [][]any{{"DATA", int64(10)}} }},
		{"there is no such disk group", "free space of a", filewise.StatusFailed, filewise.Volume{Name: "a", Dir: "+FRA"}, func(*fakeServer) {}},
		{"a file system", "free space of a", filewise.StatusNote, filewise.Volume{Name: "a", Dir: "/u03"}, func(*fakeServer) {}},
		{"the default place", "free space of default", filewise.StatusNote, filewise.Volume{Name: "default"}, func(*fakeServer) {}},
		{"no default place", "free space of default", filewise.StatusFailed, filewise.Volume{Name: "default"},
			func(f *fakeServer) { f.answers["parameters"] = [][]any{{"db_files", "200"}} }},
		{"the default place is a disk group", "free space of default", filewise.StatusOK, filewise.Volume{Name: "default"},
			func(f *fakeServer) { f.answers["parameters"] = [][]any{{"db_create_file_dest", "+DATA"}} }},
		{"a path of Windows on Linux", "volume a", filewise.StatusFailed, filewise.Volume{Name: "a", Dir: `D:\ora`}, func(*fakeServer) {}},
		{"MAX_PDB_STORAGE is reached", "MAX_PDB_STORAGE", filewise.StatusFailed, asm,
			func(f *fakeServer) { f.answers["storage-limit"] = [][]any{{"3221225472"}} }},
		{"processes suffice", "connections", filewise.StatusOK, asm, func(*fakeServer) {}},
		{"too few processes", "connections", filewise.StatusFailed, asm,
			func(f *fakeServer) { f.answers["sessions-limit"] = [][]any{{"140", int64(50)}} }},
		{"too few processes for a pluggable database", "connections", filewise.StatusFailed, asm, func(f *fakeServer) {
			f.answers["sessions-limit"] = [][]any{}
			f.answers["parameters"] = [][]any{{"processes", "80"}}
		}},
		{"any edition", "edition", "", asm, func(*fakeServer) {}},
		{"Standard Edition", "edition", filewise.StatusWarning, asm,
			func(f *fakeServer) { f.answers["version"][0][1] = "Oracle Database 19c Standard Edition 2" }},
		{"Standard Edition 2 of 12.2", "edition", filewise.StatusWarning, asm,
			func(f *fakeServer) {
				f.answers["version"] = [][]any{{"12.2.0.1.0", "Oracle Database 12c Standard Edition"}}
			}},
		{"more than Free holds", "edition", filewise.StatusFailed, asm,
			func(f *fakeServer) { f.answers["version"] = [][]any{{"23.0.0.0.0", "Oracle Database 23ai Free"}} }},
		{"a standby", "database", filewise.StatusFailed, asm, func(f *fakeServer) { f.answers["database"][0][5] = "READ ONLY" }},
		{"archived logs", "archive log", filewise.StatusWarning, asm, func(f *fakeServer) { f.answers["database"][0][2] = "ARCHIVELOG" }},
		{"RAC", "RAC", filewise.StatusWarning, asm, func(f *fakeServer) { f.answers["parameters"] = [][]any{{"cluster_database", "TRUE"}} }},
		{"a guaranteed restore point", "flashback", filewise.StatusFailed, asm,
			func(f *fakeServer) { f.answers["database"][0][7] = "RESTORE POINT ONLY" }},
		{"flashback", "flashback", filewise.StatusWarning, asm, func(f *fakeServer) { f.answers["database"][0][7] = "YES" }},
		{"a standby that files would stop", "standby", filewise.StatusFailed, asm, func(f *fakeServer) {
			f.answers["standby"] = [][]any{{"log_archive_dest_2", "SERVICE=sby ASYNC"}}
			f.answers["parameters"] = [][]any{{"standby_file_management", "MANUAL"}}
		}},
		{"a standby that makes them", "standby", filewise.StatusWarning, asm, func(f *fakeServer) {
			f.answers["standby"] = [][]any{{"log_archive_config", "DG_CONFIG=(a,b)"}}
			f.answers["parameters"] = [][]any{{"standby_file_management", "AUTO"}}
		}},
		{"no standby", "standby", "", asm, func(*fakeServer) {}},
		{"what --abort-if does not see", "activity", filewise.StatusNote, asm, func(*fakeServer) {}},
		{"the same host", "host", filewise.StatusWarning, asm, func(f *fakeServer) { f.answers["identity"][0][5] = host }},
		{"a profile of few sessions", "profile", filewise.StatusFailed, asm, func(f *fakeServer) { f.answers["profile"] = [][]any{{"6"}} }},
		// Oracle 10 of the first contact.
		{"somebody's RMAN", "RMAN", filewise.StatusWarning, asm, func(f *fakeServer) { f.answers["rman"] = [][]any{{int64(3)}} }},
		{"no RMAN", "RMAN", "", asm, func(f *fakeServer) { f.answers["rman"] = [][]any{{int64(0)}} }},
		{"a profile of no limit", "rights", filewise.StatusOK, asm, func(f *fakeServer) { f.answers["profile"] = [][]any{{"UNLIMITED"}} }},
		{"what cannot be looked at", "DB_FILES", filewise.StatusNote, asm, func(f *fakeServer) { f.fails["files-of-all"] = oracleError(1013) }},
	} {
		f := good()
		c.change(f)
		s := opened(t, f, c.volume)
		worst := map[filewise.Status]int{filewise.StatusOK: 1, filewise.StatusNote: 2, filewise.StatusWarning: 3, filewise.StatusFailed: 4}
		var found filewise.Status
		for _, finding := range s.examine(context.Background(), f, demand) {
			if finding.Check == c.check && worst[finding.Status] > worst[found] {
				found = finding.Status
			}
			if (finding.Consent == consentStandby) != (c.what == "a standby that files would stop" && finding.Check == c.check) {
				t.Errorf("%s: %+v asks for consent", c.what, finding)
			}
			if finding.Status != filewise.StatusOK && finding.Remedy == "" {
				t.Errorf("%s: %+v has no remedy", c.what, finding)
			}
		}
		if found != c.status {
			t.Errorf("%s: %s is %q, want %q", c.what, c.check, found, c.status)
		}
		if len(f.log) > 0 {
			t.Errorf("%s: preflight executed %v", c.what, f.log)
		}
	}
}

// Without a default place for datafiles, the remedy names the directory of the database's own ones.
// First contact: Oracle 1.
func TestNoDefaultPlace(t *testing.T) {
	for _, c := range []struct {
		places [][]any
		want   string
	}{
		{[][]any{{"/opt/oracle/oradata/FREE/FREEPDB1/"}, {`D:\ora data\`}}, `--volume data=/opt/oracle/oradata/FREE/FREEPDB1, or --volume ` +
			`"data=D:\ora data"`},
		{nil, "--volume NAME=DIR"},
	} {
		f := newFake()
		identity(f)
		f.answers["parameters"], f.answers["places"] = [][]any{{"db_files", "200"}}, c.places
		found := opened(t, f, filewise.Volume{Name: "default"}).examine(t.Context(), f, filewise.Demand{})
		i := slices.IndexFunc(found, func(f filewise.Finding) bool { return f.Check == "free space of default" })
		if i < 0 || found[i].Status != filewise.StatusFailed || !strings.Contains(found[i].Remedy, c.want) {
			t.Errorf("%+v", found)
		}
	}
}

// What is proposed if DB_FILES is too small is no option that --as-published refuses.
func TestTooFewFilesAsPublished(t *testing.T) {
	for _, published := range []bool{false, true} {
		w, err := workload.NewDML(workload.Params{Connections: 2, Rows: 100, Mode: workload.ModeBoth, Connect: workload.ConnectPooled,
			Index: workload.IndexNone, Published: published}, 7)
		if err != nil {
			t.Fatal(err)
		}
		f := newFake()
		f.answers["files-of-all"] = [][]any{{int64(9)}}
		e := &examination{server: &server{}, client: f, values: map[string]string{"db_files": "200"}}
		e.Demand = filewise.Demand{Program: w.Program(), Layouts: []filewise.Layout{smallfile(1000)}}
		if e.files(t.Context()); len(e.Findings) != 1 || strings.Contains(e.Findings[0].Remedy, "--scale") != published ||
			strings.Contains(e.Findings[0].Remedy, "--files") == published {
			t.Errorf("published %v: %+v", published, e.Findings)
		}
		e.Findings = nil // Oracle 15 of the first contact: what the published select leaves in the shared pool is reported
		if e.sharedPool(); len(e.Findings) == 1 != published {
			t.Errorf("published %v: %+v", published, e.Findings)
		}
	}
}

// Oracle 14 of the first contact: facts that decide are reported, as far as the release and the account have them.
func TestFacts(t *testing.T) {
	for version, full := range map[string]string{"19.0.0.0.0": "19.24.0.0.0", "12.2.0.1.0": ""} {
		f := newFake()
		identity(f)
		f.answers["version"][0][0] = version
		f.answers["version-full"] = [][]any{{"19.24.0.0.0"}}
		f.answers["redo"] = [][]any{{int64(3), "104857600", "209715200"}}
		f.answers["parameters"] = [][]any{{"cursor_sharing", "FORCE"}, {"plsql_optimize_level", "2"}}
		facts, err := opened(t, f).facts(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		reported := map[string]string{}
		for _, x := range facts {
			reported[x.Name] = x.Value
		}
		for name, want := range map[string]string{"full version": full, "redo log groups": "3", "smallest redo log": "104857600",
			"largest redo log": "209715200", "cursor_sharing": "FORCE", "plsql_optimize_level": "2"} {
			if reported[name] != want {
				t.Errorf("%s: %s is %q, want %q", version, name, reported[name], want)
			}
		}
	}
}

// Data that the server's own memory holds are read from there, whatever the client has.
func TestDataInMemory(t *testing.T) {
	w, err := workload.NewScan(workload.Params{Rows: 1000, Cache: workload.CacheWarm, Data: workload.DataOrdered, Repeat: 1}, 7)
	if err != nil {
		t.Fatal(err)
	}
	for sga, want := range map[string]bool{"8589934592": true, "536870912": false} {
		f := newFake()
		identity(f)
		f.answers["parameters"] = [][]any{{"sga_target", sga}}
		e := &examination{server: opened(t, f), client: f}
		e.Demand = filewise.Demand{Program: w.Program(), Space: map[string]int64{"a": 1 << 30, "b": 1 << 30}}
		e.settings(t.Context())
		if slices.ContainsFunc(e.Findings, func(f filewise.Finding) bool { return f.Check == "cache" }) != want {
			t.Errorf("sga_target %s: %+v", sga, e.Findings)
		}
	}
}

func TestActivity(t *testing.T) {
	f := newFake()
	f.answers["activity"] = [][]any{{nil, int64(0), int64(0)}}
	gauges, err := activity(context.Background(), f, &config{})
	if err != nil || len(gauges) != 3 || gauges[0].Value != 0 {
		t.Errorf("nobody: %v, %v", gauges, err)
	}
	f.answers["activity"] = [][]any{{"3", int64(12), int64(1)}}
	if gauges, err = activity(context.Background(), f, &config{}); err != nil || gauges[0].Value != 3 || gauges[1].Value != 12 ||
		gauges[2].Value != 1 {
		t.Errorf("%v, %v", gauges, err)
	}
}
