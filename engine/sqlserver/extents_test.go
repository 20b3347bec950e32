package sqlserver

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/lab/workload"
)

// TestReach: rows that a layout's files do not see, or do not hold, are warned of, with what
// would do; and it does.
func TestReach(t *testing.T) {
	warned := func(rows int64, l filewise.Layout, code string) string {
		w, err := workload.NewDML(workload.Params{Connections: 2, Rows: rows, Mode: workload.ModeBoth, Connect: workload.ConnectPooled,
			Index: workload.IndexNone}, 1)
		ok(t, err)
		s, err := Engine{}.Statements(newLab(t, nil).target, l, w.Program())
		ok(t, err)
		for _, w := range s.Warnings {
			if w.Code == code {
				return w.Message + " " + w.Remedy
			}
		}
		return ""
	}
	if got := warned(1000, layout(8), "files-not-reached"); !strings.Contains(got,
		"7 of the 8 files") || !strings.Contains(got, "--rows 20672 ") {
		t.Errorf("%s", got)
	}
	if got := warned(20672, layout(8), "files-not-reached") + warned(1000, layout(1), "files-not-reached"); got != "" {
		t.Errorf("%s", got)
	}
	large := layout(8)
	large.Data.Bytes = 64 * mib
	if got := warned(3_000_000, large, "rows-outgrow-files"); !strings.Contains(got, "--size") {
		t.Errorf("%q", got)
	}
	large.Data.Bytes = 256 * mib
	if got := warned(3_000_000, large, "rows-outgrow-files"); got != "" {
		t.Errorf("%s", got)
	}
}

// TestRoom: what a database itself takes is no space for rows, and full files grow by their
// step, one of them or all.
func TestRoom(t *testing.T) {
	for _, c := range []struct {
		mib         int64
		allocation  filewise.Allocation
		all         string
		room, grown int64
	}{
		{256, filewise.Preallocated, "off", 4*1023 - 48, 1024},
		{32 << 10, filewise.Preallocated, "off", 4*(131071-2) - 48, 1024},
		{256, filewise.Growing, "off", 4*127 - 48, 16},
		{256, filewise.Growing, "on", 4*127 - 48, 4 * 16},
	} {
		l := layout(4)
		l.Data.Bytes, l.Data.Allocation, l.Data.Growth = c.mib*mib, c.allocation, 0
		if c.allocation == filewise.Growing {
			l.Data.Growth = mib
		}
		target := newLab(t, nil).target
		target.Settings = map[string]string{settingAll: c.all}
		d, err := newDesign(target, l, inserts(t, nil).Program(), somewhere(testName, "mark"))
		ok(t, err)
		g := d.primary()
		room := g.Capacity()
		g.Take(room + 1)
		if grown := g.Capacity() + 1; room != c.room || grown != c.grown {
			t.Errorf("%+v: room for %d extents, and %d more", c, room, grown)
		}
	}
}

// TestReachOfTables: of several tables all take space, and the largest is to reach the files.
func TestReachOfTables(t *testing.T) {
	const small, large = 500, 700_000 // rows: 1 extent and 271
	for _, c := range []struct {
		rows  []int64
		later filewise.AddedLater
		work  int64
		want  string
	}{
		{[]int64{large, small}, "", 0, ""},
		{[]int64{small, large}, "", 0, ""},
		{[]int64{small, small}, "", 0, "files-not-reached"},
		{[]int64{4 * large, small, large}, "", 0, "rows-outgrow-files"},
		{[]int64{small, 4 * large}, "", 0, "rows-outgrow-files"},
		{[]int64{small, small}, filewise.LaterNewData, 0, ""},
		{[]int64{0}, "", mib / 4, "files-not-reached"},
		{[]int64{0}, "", 16 * mib, ""},
	} {
		l := layout(8)
		l.Data.Bytes, l.AddedLater = 64*mib, c.later
		d, err := newDesign(newLab(t, nil).target, l, inserts(t, nil).Program(), somewhere(testName, "mark"))
		ok(t, err)
		d.program.Tables, d.program.WorkBytes = nil, c.work
		for _, rows := range c.rows {
			d.program.Tables = append(d.program.Tables, filewise.Table{RowBytes: 16, Rows: rows})
		}
		got, said := "", ""
		d.warnReach(func(code, message, remedy string) { got, said = got+code, message+" "+remedy })
		if got != c.want {
			t.Errorf("%+v: %s: %s", c, got, said)
		}
		if strings.Contains(said, "--size 111MiB ") != (len(c.rows) == 3) {
			t.Errorf("%+v: %s", c, said)
		}
	}
}

// TestGrowingFilesBegin as small as they can if there is no space for equal ones; files of
// indexes have a quarter, or their least.
func TestGrowingFilesBegin(t *testing.T) {
	l := layout(8)
	l.Data.Allocation, l.Data.Growth, l.Data.Bytes = filewise.Growing, mib, 15*mib
	s, err := Engine{}.Statements(newLab(t, nil).target, l, inserts(t, nil).Program())
	ok(t, err)
	var sizes []int64
	for _, f := range s.Files[:8] {
		sizes = append(sizes, f.Bytes/mib)
	}
	if !slices.Equal(sizes, []int64{8, 1, 1, 1, 1, 1, 1, 1}) || !strings.Contains(fmt.Sprint(s.Warnings), "Give --size 64MiB or more") {
		t.Errorf("%v, %+v", sizes, s.Warnings)
	}
	for _, c := range []struct {
		size       int64
		allocation filewise.Allocation
		data, all  int64 // the size of a file, and of all with the indexes'
	}{
		{64, filewise.Growing, 8, 72}, {512, filewise.Growing, 8, 72}, {512, filewise.Preallocated, 64, 640},
		{64, filewise.Preallocated, 8, 80},
	} {
		apart := l
		apart.Indexes, apart.Data.Bytes, apart.Data.Allocation = filewise.IndexesApart, c.size*mib, c.allocation
		s, err := Engine{}.Statements(newLab(t, nil).target, apart, inserts(t, nil).Program())
		ok(t, err)
		sum := int64(0)
		for _, f := range s.Files[:16] {
			sum += f.Bytes / mib
		}
		if s.Files[1].Bytes != c.data*mib || sum != c.all {
			t.Errorf("%+v: %+v", c, s.Files)
		}
	}
	l.Data.Bytes--
	if _, err := (Engine{}).Statements(newLab(t, nil).target, l, inserts(t, nil).Program()); filewise.CodeOf(err) != filewise.CodeUsage {
		t.Errorf("%v", err)
	}
}

// TestUsualGrowth: files grow together and the log is small, unless it is reported otherwise or the article had it so.
// First contact: SQL Server 8.
func TestUsualGrowth(t *testing.T) {
	dml, err := workload.NewDML(workload.Params{Connections: 2, Rows: 1000, Mode: workload.ModeBoth, Connect: workload.ConnectPooled,
		Index: workload.IndexNone, Published: true}, 1)
	ok(t, err)
	for name, c := range map[string]struct {
		p    filewise.Program
		set  map[string]string
		want bool
	}{
		"usual": {inserts(t, nil).Program(), nil, true}, "off": {inserts(t, nil).Program(), map[string]string{settingAll: "off"}, false},
		"as published": {dml.Program(), nil, false}, "as published, on": {dml.Program(), map[string]string{settingAll: "on"}, true},
	} {
		target := newLab(t, nil).target
		target.Settings = c.set
		s, err := Engine{}.Statements(target, layout(2), c.p)
		ok(t, err)
		sent := slices.ContainsFunc(s.Steps, func(x filewise.Step) bool { return strings.Contains(x.SQL, "AUTOGROW_ALL_FILES") })
		if sent != c.want {
			t.Errorf("%s: all files grow: %v", name, sent)
		}
		if log := s.Files[2].Bytes; c.p.Appends() && log != 256*mib {
			t.Errorf("%s: a log of %d bytes", name, log)
		}
	}
}

// TestUntouchedFile: a file's own pages are no rows.
func TestUntouchedFile(t *testing.T) {
	lab := newLab(t, nil)
	db := lab.build(lab.open(), layout(2), inserts(t, nil))
	files, err := db.Observe(t.Context())
	ok(t, err)
	if files[0].Used == nil || files[1].Used == nil || *files[0].Used == 0 || *files[1].Used != 0 { // by which reach is judged
		t.Errorf("%+v", files)
	}
}

// TestMountPoints: a directory has the space of the nearest mount point above it.
func TestMountPoints(t *testing.T) {
	mounts := map[string]mountSpace{`D:\`: {free: 1}, `D:\sql\`: {free: 2}, `D:\sql\data\`: {free: 3}, `D:\sql\log\`: {free: 4},
		`E:\`: {free: 5}}
	dir, err := parseDir(`D:\sql\data\x`)
	ok(t, err)
	for range 9 { // in any order
		if free, mount, known := freeAt(mounts, dir); free != 3 || mount != `D:\sql\data\` || !known {
			t.Errorf("%d at %s", free, mount)
		}
	}
}
