package inspect

import (
	"slices"
	"strings"
	"testing"
	"time"

	"filewise"
)

// server is one of each engine that is busy, or not.
func server(engine string, change func(*filewise.Inspection)) (filewise.Inspection, Target) {
	use := map[string]filewise.Fill{"sqlserver": filewise.FillFree, "oracle": filewise.FillTurns, "sqlite": filewise.FillFiles}
	fill, ok := use[engine]
	if !ok {
		fill = filewise.FillPartitions
	}
	file := func(path string, bytes, free int64, read, write float64) filewise.FileInspect {
		return filewise.FileInspect{Path: path, Bytes: bytes, Free: &free, Volume: "/data", Growth: &filewise.Growth{Bytes: 64 << 20},
			IO: map[string]float64{filewise.FileReads: 10000, filewise.FileReadTime: 10000 * read, filewise.FileWrites: 10000,
				filewise.FileWriteTime: 10000 * write}}
	}
	i := filewise.Inspection{Server: engine, Cores: 8, Since: 100 * time.Hour, Figures: map[string]float64{}, Settings: map[string]string{},
		Groups: []filewise.FileGroup{
			{Name: "group of sales", Database: "sales", Use: filewise.UseData, Fill: fill,
				Files: []filewise.FileInspect{file("a", 8<<30, 1<<30, 0.0001, 0.0001), file("b", 8<<30, 1<<30, 0.0001, 0.0001)}},
			{Name: "log", Use: filewise.UseLog, Files: []filewise.FileInspect{file("log", 1<<30, 0, 0.0001, 0.0001)}},
			{Name: "filewise_x", Use: filewise.UseData, Fill: fill, Own: true, Files: []filewise.FileInspect{file("x", 1<<40, 0, 1, 1)}},
		}}
	temps := map[string][]filewise.Mode{"postgres": {filewise.Managed, filewise.External}, "mariadb": {filewise.Managed}}
	t := Target{Engine: engine, Flags: []string{"--target", engine + "://u@h"}, Embedded: engine == "sqlite",
		Scans: engine != "sqlserver" && engine != "oracle", TempModes: temps[engine]}
	if change != nil {
		change(&i)
	}
	return i, t
}

var engines = []string{"sqlite", "mariadb", "mysql", "postgres", "sqlserver", "oracle"}

func find(r Report, about string) (Finding, bool) {
	n := slices.IndexFunc(r.Findings, func(f Finding) bool { return strings.Contains(f.About, about) })
	if n < 0 {
		return Finding{}, false
	}
	return r.Findings[n], true
}

// A quiet server is not worth an experiment, on any engine; and what is Filewise's
// own is in no other finding.
func TestQuietServer(t *testing.T) {
	for _, engine := range engines {
		r := Judge(server(engine, nil))
		if f, ok := find(r, "the question itself"); !ok || f.Worth != Not || len(f.Command) == 0 {
			t.Errorf("%s: %+v", engine, f)
		}
		if !strings.Contains(r.Summary, "hardly matters") {
			t.Errorf("%s: %s", engine, r.Summary)
		}
		for _, f := range r.Findings {
			if strings.Contains(f.About, "filewise_x") || f.Evidence == "" || f.Worth == Experiment {
				t.Errorf("%s: %+v", engine, f)
			}
		}
		if f, ok := find(r, "Filewise's own"); !ok || !strings.Contains(f.Remedy, "filewise clean --target") {
			t.Errorf("%s: %+v", engine, f)
		}
	}
}

// What is planted is found, with its worth, and the worth decides the order.
func TestPlanted(t *testing.T) {
	for _, c := range []struct {
		name, engine, about, says string
		worth                     Worth
		change                    func(*filewise.Inspection)
	}{
		{"allocation", "sqlserver", "the question itself", "allocation", Experiment, func(i *filewise.Inspection) {
			i.Waits = []filewise.Counter{{Name: "PFS", Unit: "s", Value: 90000, Class: filewise.WaitAllocation},
				{Name: "LCK_M_X", Unit: "s", Value: 10000, Class: filewise.WaitLock}}
		}},
		{"idle server's waits", "mysql", "waits since the start", "20 s for files in 4 days, which is too little", Not,
			func(i *filewise.Inspection) {
				i.Waits = []filewise.Counter{{Name: "file", Unit: "s", Value: 20, Class: filewise.WaitDataRead}}
			}},
		{"waits for storage", "oracle", "waits since the start", "storage", Perhaps, func(i *filewise.Inspection) {
			i.Waits = []filewise.Counter{{Name: "db file sequential read", Unit: "s", Value: 90000, Class: filewise.WaitDataRead}}
		}},
		{"slow reads", "postgres", "group of sales: latency", "reads are slow", Experiment, func(i *filewise.Inspection) {
			i.Groups[0].Files[0].IO[filewise.FileReadTime] = 10000 * 0.05
		}},
		{"slow log", "mariadb", "log: latency", "commit", Mend, func(i *filewise.Inspection) {
			i.Groups[1].Files[0].IO[filewise.FileWriteTime] = 10000 * 0.02
		}},
		{"skewed files", "sqlserver", "balance", "free space", Mend, func(i *filewise.Inspection) { i.Groups[0].Files[1].Bytes = 1 << 30 }},
		{"skewed free space", "sqlserver", "balance", "free space", Mend, func(i *filewise.Inspection) { *i.Groups[0].Files[1].Free = 1 << 20 }},
		{"skewed datafiles", "oracle", "balance", "further extents", Mend, func(i *filewise.Inspection) { i.Groups[0].Files[1].Bytes = 1 << 30 }},
		{"growth in percent", "sqlserver", "growth", "percentage", Mend,
			func(i *filewise.Inspection) { i.Groups[0].Files[0].Growth = &filewise.Growth{Percent: 10} }},
		{"growth by 1 MiB", "sqlserver", "growth", "grow by 1.0 MiB", Mend,
			func(i *filewise.Inspection) { i.Groups[0].Files[0].Growth.Bytes = 1 << 20 }},
		{"growth by a block", "oracle", "growth", "grow by 8.0 KiB", Mend,
			func(i *filewise.Inspection) { i.Groups[0].Files[0].Growth.Bytes = 8 << 10 }},
		{"checkpoints", "postgres", "checkpoints", "max_wal_size 1GB", Mend, func(i *filewise.Inspection) {
			i.Figures[filewise.FigureRequested], i.Figures[filewise.FigureTimed] = 500, 20
			i.Settings["max_wal_size"] = "1GB"
		}},
		{"switches", "oracle", "log switches", "1,000", Mend, func(i *filewise.Inspection) { i.Figures[filewise.FigureSwitches] = 1000 }},
		{"log waits", "mysql", "space in the log", "77", Mend, func(i *filewise.Inspection) { i.Figures[filewise.FigureLogWaits] = 77000 }},
		{"virtual log files", "sqlserver", "log", "virtual log files", Mend, func(i *filewise.Inspection) { i.Groups[1].Fragments = 5000 }},
		{"cached", "mariadb", "the question itself", "99.99 %", Not, func(i *filewise.Inspection) {
			i.Figures[filewise.FigureRequests], i.Figures[filewise.FigureMisses] = 1e9, 100
		}},
		{"one core", "postgres", "cores", "1 core", Not, func(i *filewise.Inspection) { i.Cores = 1 }},
		{"little data", "mysql", "amount of data", "16 MiB", Not, func(i *filewise.Inspection) {
			i.Groups[0].Files[0].Bytes, i.Groups[0].Files[1].Bytes = 8<<20, 8<<20
		}},
		{"other places", "postgres", "placement", "fast (sdb)", Perhaps, func(i *filewise.Inspection) {
			for n := range i.Groups[0].Files {
				i.Groups[0].Files[n].Device = "sda"
			}
			i.Places = []filewise.Place{{Volume: filewise.Volume{Name: "default"}, Device: "sda"},
				{Volume: filewise.Volume{Name: "fast", Dir: "tablespace:fast"}, Device: "sdb"}}
		}},
		{"two names of one device", "postgres", "placement", "only their names would differ", Not, func(i *filewise.Inspection) {
			for n := range i.Groups[0].Files {
				i.Groups[0].Files[n].Device = "sda"
			}
			i.Places = []filewise.Place{{Volume: filewise.Volume{Name: "default"}, Device: "sda"},
				{Volume: filewise.Volume{Name: "fast", Dir: "tablespace:fast"}, Device: "sda"}}
		}},
		{"spills", "postgres", "sorts", "10 GiB", Perhaps, func(i *filewise.Inspection) {
			i.Figures[filewise.FigureTempFiles], i.Figures[filewise.FigureTempBytes] = 40, 10<<30
		}},
		{"few temporary files", "sqlserver", "temporary files", "up to 8", Perhaps, func(i *filewise.Inspection) {
			i.Groups = append(i.Groups, filewise.FileGroup{Name: "temporary files", Use: filewise.UseTemp, Fill: filewise.FillFree, System: true,
				Files: []filewise.FileInspect{{Path: "t", Bytes: 8 << 20}}})
		}},
		{"a gap", "postgres", "waits", "denied", Unknown, func(i *filewise.Inspection) {
			i.Gaps = []filewise.Gap{{Question: "waits", Why: "denied", Remedy: "GRANT pg_monitor TO ada"}}
		}},
		{"young", "mariadb", "the question itself", "10", Know, func(i *filewise.Inspection) { i.Since = 10 * time.Second }},
		{"holes", "sqlite", "free pages", "VACUUM", Mend, func(i *filewise.Inspection) { *i.Groups[0].Files[0].Free = 7 << 30 }},
	} {
		i, target := server(c.engine, c.change)
		r := Judge(i, target)
		if f, ok := find(r, c.about); !ok || f.Worth != c.worth || !strings.Contains(f.Evidence+f.Because+f.Remedy, c.says) {
			t.Errorf("%s: want %q and %q, got %+v", c.name, c.worth, c.says, f)
		}
		if !slices.IsSortedFunc(r.Findings, func(a, b Finding) int { return slices.Index(order, a.Worth) - slices.Index(order, b.Worth) }) {
			t.Errorf("%s: the findings are not in the order of their worth", c.name)
		}
	}
}

// A server that returns nothing gives no claim and no crash.
func TestNothing(t *testing.T) {
	for _, engine := range engines {
		_, target := server(engine, nil)
		if r := Judge(filewise.Inspection{}, target); !strings.Contains(r.Summary, "no data of yours") || len(r.Findings) != 0 {
			t.Errorf("%s: %+v", engine, r)
		}
	}
}

// Nothing is concluded from what could not be read: not from sizes if files are hidden, not from waits of which only
// a part is seen, and not from the cache alone.
func TestNotRead(t *testing.T) {
	untimed := func(i *filewise.Inspection) {
		for _, g := range i.Groups {
			for n := range g.Files {
				g.Files[n].IO = nil
			}
		}
	}
	for _, c := range []struct {
		name, about string
		worth       Worth
		change      func(*filewise.Inspection)
	}{
		{"files are hidden", "amount of data", "", func(i *filewise.Inspection) {
			i.Groups[0].Files[0].Bytes, i.Groups[0].Files[1].Bytes = 8<<20, 8<<20
			i.Gaps = []filewise.Gap{{Question: "files of tables", Why: "denied"}}
		}},
		{"the cache alone", "the question itself", Know, func(i *filewise.Inspection) {
			untimed(i)
			i.Figures[filewise.FigureRequests], i.Figures[filewise.FigureMisses] = 1e9, 100
		}},
		{"locks alone", "the question itself", Know, func(i *filewise.Inspection) {
			untimed(i)
			i.Waits = []filewise.Counter{{Name: "row locks", Unit: "s", Value: 90000, Class: filewise.WaitLock}}
			i.Gaps = []filewise.Gap{{Question: "I/O per file and waits", Why: "performance_schema is off"}}
		}},
		{"locks alone, listed", "waits since the start", Know, func(i *filewise.Inspection) {
			untimed(i)
			i.Waits = []filewise.Counter{{Name: "row locks", Unit: "s", Value: 90000, Class: filewise.WaitLock}}
			i.Gaps = []filewise.Gap{{Question: "waits of other roles", Why: "denied"}}
		}},
		{"one place", "placement", Know, untimed},
		{"free space", "balance", Know, func(i *filewise.Inspection) { i.Groups[0].Files[0].Free = nil }},
	} {
		i, target := server("sqlserver", c.change)
		r := Judge(i, target)
		if f, ok := find(r, c.about); ok != (c.worth != "") || f.Worth != c.worth {
			t.Errorf("%s: want %q, got %+v", c.name, c.worth, f)
		}
		if strings.Contains(r.Summary, "hardly matters") && c.name != "files are hidden" && c.name != "free space" {
			t.Errorf("%s: %s", c.name, r.Summary)
		}
	}
}

// What cannot be divided is neither measured in several files nor moved: the largest table that can is, and if none
// can, work is captured alone.
func TestWhatCannotBeDividedIsNotProposed(t *testing.T) {
	for divisible, want := range map[bool]string{false: "filewise capture", true: "--table shop.small"} {
		i, to := server("mariadb", func(i *filewise.Inspection) {
			big := i.Groups[0]
			big.Name, big.Database, big.Whole = "table shop.big", "shop", "it has part in a foreign key"
			small := big
			small.Name, small.Files = "table shop.small", big.Files[:1]
			if divisible {
				small.Whole = ""
			}
			i.Groups = []filewise.FileGroup{big, small}
		})
		to.Captures, to.Applies = true, true
		own := Judge(i, to).Own
		if text := filewise.CommandLine(slices.Concat(own...)...); !strings.Contains(text, want) ||
			strings.Contains(text, "big") || (len(own) == 3) != divisible {
			t.Errorf("%v: %s", divisible, text)
		}
	}
}

// What users have named is on one line, and steers no terminal; a command that would need such
// a name is not proposed.
func TestNamesAreOnOneLine(t *testing.T) {
	const bad = "a\nNOTHING TO SEE\x1b[2J"
	for _, engine := range engines {
		i, to := server(engine, func(i *filewise.Inspection) {
			g := &i.Groups[0]
			g.Name, g.Database, g.Files[0].Path, g.Files[1].Path = "table "+bad, bad, bad, "x"+bad
			g.Files[0].Volume, g.Files[1].Volume, g.Files[0].IO[filewise.FileReadTime] = bad, "x"+bad, 1e6
			i.Places = []filewise.Place{{Volume: filewise.Volume{Name: bad, Dir: bad}}, {Volume: filewise.Volume{Name: "b", Dir: "/b"}}}
			i.Gaps = []filewise.Gap{{Question: bad, Why: "no right"}}
		})
		to.Captures, to.Applies = true, true
		r := Judge(i, to)
		if _, ok := find(r, "table a\uFFFDNOTHING"); !ok {
			t.Errorf("%s: the table is not shown", engine)
		}
		for _, f := range r.Findings {
			if text := f.About + f.Evidence + f.Because + f.Remedy + filewise.CommandLine(f.Command...); text != filewise.Printable(text) {
				t.Errorf("%s: %q", engine, text)
			}
		}
		if len(r.Own) > 0 || r.Summary != filewise.Printable(r.Summary) {
			t.Errorf("%s: %q %q", engine, r.Own, r.Summary)
		}
		if i.Groups[0].Database != bad || i.Groups[0].Name != "table "+bad {
			t.Error("the facts were altered")
		}
	}
}
