package oracle

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"filewise"
	"filewise/internal/sqlfile"
	"filewise/lab/workload"
)

// The names of the tests' builds.
var testNames = []names{
	namesOf("FILEWISE_ABCDEFGHIJKLMNOPQR", false, nil),
	namesOf("FILEWISE_ABCDEFGHIJKLMNOPQR", true, func() string { return "FILEWISE_RQPONMLKJIHGFEDCBA" }),
}

// rendered are the statements of each section of each file, those that occur
// several times once: "server/create" → statements.
type rendered map[string]map[string]bool

func (r rendered) add(file string, all []statement) {
	for _, s := range all {
		key := file + "/" + s.section
		if r[key] == nil {
			r[key] = map[string]bool{}
		}
		r[key][s.text] = true
	}
}

func (r rendered) each(do func(section, text string)) {
	for _, section := range slices.Sorted(maps.Keys(r)) {
		for _, text := range slices.Sorted(maps.Keys(r[section])) {
			do(section, text)
		}
	}
}

// testPlaces are the volumes of an Oracle server: OMF, ASM, Unix, Windows, mixed.
var testPlaces = map[string][]filewise.Volume{
	"omf":     {{Name: "default"}},
	"asm":     {{Name: "a", Dir: "+DATA"}, {Name: "b", Dir: "+fra$1"}},
	"linux":   {{Name: "a", Dir: "/u02/ora data"}, {Name: "b", Dir: "/u03/o'hara/"}},
	"windows": {{Name: "a", Dir: `D:\oradata`}, {Name: "b", Dir: "e:/ora/it's"}, {Name: "c", Dir: `\\nas\share\ora`}},
	"mixed":   {{Name: "a"}, {Name: "b", Dir: "+DATA"}, {Name: "c", Dir: "/u02"}},
}

// testLayouts returns all combinations of what a layout can be; those that Oracle
// refuses are among them.
func testLayouts(volumes []filewise.Volume) []filewise.Layout {
	var all []filewise.Layout
	for _, kind := range []filewise.Kind{filewise.KindSmallfile, filewise.KindBigfile} {
		for _, files := range []int{1, 5} {
			for _, allocation := range []filewise.Allocation{filewise.Preallocated, filewise.Growing} {
				for _, growth := range []int64{0, 3 << 20} {
					for _, indexes := range []string{"", filewise.IndexesTogether, filewise.IndexesApart} {
						for _, later := range []filewise.AddedLater{"", filewise.LaterUntouched, filewise.LaterNewData, filewise.LaterRebuilt} {
							for _, placement := range []filewise.Placement{filewise.PlaceOne, filewise.PlaceRoundRobin} {
								l := filewise.Layout{Kind: kind, Indexes: indexes, AddedLater: later,
									Data: filewise.Spread{Files: files, Bytes: 100 << 20, Allocation: allocation, Growth: growth, Placement: placement}}
								if indexes == filewise.IndexesApart && len(volumes) > 1 {
									l.IndexVolume = volumes[1].Name
								}
								all = append(all, l)
							}
						}
					}
				}
			}
		}
	}
	return all
}

// testPrograms returns all combinations of what the workload can be. The text that
// payloads are cut from is only in the first.
func testPrograms(t *testing.T) []filewise.Program {
	var all []filewise.Program
	for _, table := range []string{workload.TableShared, workload.TablePerConnection} {
		for _, key := range []string{workload.KeySequential, workload.KeyRandom} {
			for _, every := range []int{1, 7} {
				p := testProgram(t, workload.Params{Connections: 2, RowBytes: 40, CommitEvery: every, Table: table, Key: key})
				if len(all) > 0 {
					p.Phases[0].Args = nil
				}
				all = append(all, p)
			}
		}
	}
	return all
}

func testProgram(t testing.TB, p workload.Params) filewise.Program {
	t.Helper()
	w, err := workload.NewInserts(p, 42)
	if err != nil {
		t.Fatal(err)
	}
	return w.Program()
}

// everyStatement renders every section for every layout, allocation, volume, place
// of indexes, added-later, durability, table, key and length of transactions. What
// would be rendered from the same values again is left out.
func everyStatement(t *testing.T) rendered {
	t.Helper()
	if everything == nil {
		everything = renderAll(t)
	}
	return everything
}

// everything is rendered once: it takes seconds.
var everything rendered

func renderAll(t *testing.T) rendered {
	t.Helper()
	out, seen := rendered{}, map[string]bool{}
	designs, refused := 0, 0
	programs := testPrograms(t)
	for _, volumes := range testPlaces {
		for _, l := range testLayouts(volumes) {
			for _, durability := range []filewise.Durability{filewise.DurabilityFull, filewise.DurabilityNormal} {
				for i, p := range programs {
					target := filewise.Target{Mode: filewise.External, Volumes: volumes, Durability: durability}
					n := testNames[0]
					if l.Indexes == filewise.IndexesApart {
						n = testNames[1]
					}
					d, err := newDesign(target, l, p, n, usualBlock)
					if err != nil {
						refused++
						continue
					}
					designs++
					if key := fmt.Sprint("program ", i, n, durability); !seen[key] {
						seen[key] = true
						out.addProgram(t, d)
					}
					out.addFiles(t, d, seen)
				}
			}
		}
	}
	out.addAllPhased(t)
	t.Logf("%d designs rendered, %d refused", designs, refused)
	return out
}

// addAllPhased adds each workload of several phases once: layouts and durability
// change names and the commit's clause alone, and the parser takes seconds.
func (r rendered) addAllPhased(t *testing.T) {
	t.Helper()
	for i, w := range phasedWorkloads(t) {
		if i == 0 || w.Program().Unindexed() {
			continue // the same without churn, and without an index
		}
		r.addPhased(t, phasedDesign(t, w.Program(), filewise.IndexesApart, filewise.DurabilityFull))
	}
}

// phasedWorkloads returns the workloads of several phases, small.
func phasedWorkloads(t testing.TB) []filewise.Workload {
	t.Helper()
	var all []filewise.Workload
	add := func(w filewise.Workload, err error) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, w)
	}
	for _, churn := range []bool{false, true} {
		add(workload.NewOrders(workload.Params{Connections: 2, Warehouses: 2, Scale: 0.001, Churn: churn}, 7))
	}
	for _, index := range []string{workload.IndexNone, workload.IndexKey} {
		add(workload.NewDML(workload.Params{Connections: 2, Rows: 10, Mode: workload.ModeBoth, Connect: workload.ConnectPooled, Index: index}, 7))
	}
	add(workload.NewDML(workload.Params{Connections: 2, Rows: 10, Mode: workload.ModeBoth, Connect: workload.ConnectPooled,
		Index: workload.IndexKey, Published: true}, 7))
	add(workload.NewScan(workload.Params{Rows: 1000, Cache: workload.CacheWarm, Data: workload.DataGrown, Repeat: 1}, 7))
	return all
}

func phasedDesign(t testing.TB, p filewise.Program, indexes string, durability filewise.Durability) *design {
	t.Helper()
	n := testNames[0]
	if indexes == filewise.IndexesApart {
		n = testNames[1]
	}
	target := filewise.Target{Mode: filewise.External, Volumes: testPlaces["linux"], Durability: durability}
	l := filewise.Layout{Kind: filewise.KindSmallfile, Indexes: indexes,
		Data: filewise.Spread{Files: 4, Bytes: 64 << 20, Allocation: filewise.Preallocated}}
	d, err := newDesign(target, l, p, n, usualBlock)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// addPhased adds all sections of a workload of several phases, and the sections of the
// server's file that depend on its tables.
func (r rendered) addPhased(t *testing.T, d *design) {
	t.Helper()
	w := d.program.Workload
	for _, section := range workloads[w].Sections() {
		all, err := d.statementsWith(section, table{}, vars{"ChurnTable": d.names.Tablespace + suffix(churnLetters, 41)})
		if err != nil {
			t.Fatal(err)
		}
		r.add(w, all)
	}
	for _, name := range d.objects.loaded {
		i := slices.IndexFunc(d.program.Tables, func(t filewise.Table) bool { return t.Name == name })
		s, err := d.loading(name, d.program.Tables[i].Columns)
		if err != nil {
			t.Fatal(err)
		}
		r.add("server", []statement{s})
	}
	for _, section := range []string{"loaded-batches", "batch-loaded", "mark-loaded", "statistics"} {
		v := d.objectVars()
		v["Table"] = d.objects.tables["loaded"]
		all, err := askAll(section, v)
		if err != nil {
			t.Fatal(err)
		}
		r.add("server", all)
	}
}

// addProgram adds the workload's sections, and the sections of the server's file that no
// file of the layout is in.
func (r rendered) addProgram(t *testing.T, d *design) {
	t.Helper()
	for _, section := range workloads["inserts"].Sections() {
		for _, table := range d.tables {
			all, err := d.statements(section, table)
			if err != nil {
				t.Fatal(err)
			}
			r.add("inserts", all)
		}
	}
	base := vars{"Sum": "x", "Tablespace": d.names.Index,
		"Names": tellingParameters, "Lock": lockID, "Tables": d.tables, "Name": d.tables[0].Name,
		"Key":  d.tables[0].Key,
		"Mark": planMarker + ` {"it's":1}`, "Password": "FW12#_abc", "Job": d.names.Tablespace + copyJob,
		"Directory": "DUMPS", "File": "shop%U.dmp", "Schema": "It's", "Table": "Größe (alt)"}
	for name, file := range map[string]*sqlfile.File{"inspect": inspectSQL, "apply": applySQL} {
		for _, section := range file.Sections() {
			texts, err := file.Statements(section, vars{})
			if err != nil {
				t.Fatal(err)
			}
			r.add(name, statementsOf(section, texts))
		}
	}
	for _, section := range captureSQL.Sections() {
		texts, err := captureSQL.Statements(section, vars{"Withheld": []string{"Name", "it's"}})
		if err != nil {
			t.Fatal(err)
		}
		r.add("capture", statementsOf(section, texts))
	}
	for _, section := range serverSQL.Sections() {
		values := []vars{{}}
		switch section {
		case "create", "add-file", "loaded-batches", "batch-loaded", "mark-loaded", "load", "statistics":
			continue
		case "access":
			values = nil
			for _, view := range views {
				values = append(values, vars{"View": view.Name})
			}
		case "copy-sum":
			values = []vars{{"Hashed": []string{`"Id"`, `DBMS_LOB.GETLENGTH("Note")`}}, {"Hashed": nil}}
		case "drop-program":
			values = []vars{{"Type": "PROCEDURE"}, {"Type": "PACKAGE"}}
		}
		for _, v := range values {
			maps.Copy(v, base)
			all, err := askAll(section, v)
			if err != nil {
				t.Fatal(err)
			}
			r.add("server", all)
		}
	}
}

// addFiles adds the sections with the layout's files: a tablespace is created with
// its first file, and the others are added.
func (r rendered) addFiles(t *testing.T, d *design, seen map[string]bool) {
	t.Helper()
	for i, f := range append(d.files[:len(d.files):len(d.files)], d.index...) {
		v, err := d.createVars(f)
		if err != nil {
			t.Fatal(err)
		}
		section := "create"
		if i > 0 && f.role == filewise.RoleData {
			section = "add-file"
		}
		key := fmt.Sprint(section, v)
		if seen[key] {
			continue
		}
		seen[key] = true
		all, err := askAll(section, v)
		if err != nil {
			t.Fatal(err)
		}
		r.add("server", all)
	}
}

// sqlSections returns the sections of all SQL files.
func sqlSections() []string {
	var all []string
	for _, s := range inspectSQL.Sections() {
		all = append(all, "inspect/"+s)
	}
	for _, s := range applySQL.Sections() {
		all = append(all, "apply/"+s)
	}
	for _, s := range captureSQL.Sections() {
		all = append(all, "capture/"+s)
	}
	for _, s := range serverSQL.Sections() {
		all = append(all, "server/"+s)
	}
	for _, w := range slices.Sorted(maps.Keys(workloads)) {
		for _, s := range workloads[w].Sections() {
			all = append(all, w+"/"+s)
		}
	}
	return all
}
