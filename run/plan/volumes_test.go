package plan

import (
	"os"
	"path/filepath"
	"testing"

	"filewise"
	"filewise/lab/workload"
)

// Two names for one place are refused, however it is written.
func TestVolumesAreDifferentPlaces(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(dir, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		mode filewise.Mode
		a, b string
		same bool
	}{
		{filewise.Managed, dir, dir, true},
		{filewise.Managed, dir, dir + "/", true},
		{filewise.Managed, dir, filepath.Join(dir, "link"), true},
		{filewise.Managed, "/nowhere/a", "/nowhere/x/../a", true},
		{filewise.Managed, dir, filepath.Join(dir, "sub"), false},
		{filewise.External, "", "", true},
		{filewise.External, "/v", "/v/", true},
		{filewise.External, "/v", "/w", false},
		{filewise.External, "tablespace:x", "tablespace:x", true},
		{filewise.External, "tablespace:x", "tablespace:X", false},
		{filewise.External, `D:\Data`, `d:/data/`, true},
		{filewise.External, `D:\Data`, `E:\Data`, false},
		{filewise.External, `\\host\share`, `\\HOST\share\`, true},
		{filewise.External, "+DATA", "+FRA", false},
	} {
		err := oneEach(filewise.Target{Mode: c.mode, Volumes: []filewise.Volume{{Name: "a", Dir: c.a}, {Name: "b", Dir: c.b}}})
		if (err != nil) != c.same || err != nil && (filewise.CodeOf(err) != filewise.CodeUsage || filewise.RemedyOf(err) == "") {
			t.Errorf("%s: %q and %q: %v", c.mode, c.a, c.b, err)
		}
	}
}

// A layout may name the volumes of its data and of its backups.
func TestVolumesOfALayout(t *testing.T) {
	of := func(scenario string, layouts ...string) ([]arm, error) {
		sc, err := workload.Lookup(scenario)
		if err != nil {
			t.Fatal(err)
		}
		m := &maker{o: New(), sc: sc}
		m.plan.Target.Volumes = []filewise.Volume{{Name: "a"}, {Name: "b"}, {Name: "c"}}
		for _, text := range layouts {
			spec, err := ParseLayout(text)
			if err != nil {
				t.Fatal(err)
			}
			m.o.Layouts.Value = append(m.o.Layouts.Value, spec)
		}
		return m.inFull(filewise.Layout{Data: filewise.Spread{Placement: filewise.PlaceRoundRobin}})
	}
	arms, err := of("backup", "files=1,volumes=a,backup-volumes=c",
		"files=2,volumes=a+b,backup-files=4,backup-volumes=c+b", "files=2,volumes=b+a")
	if err != nil {
		t.Fatal(err)
	}
	at := func(place func(i int, l filewise.Layout) filewise.Volume, files int, l filewise.Layout) (names string) {
		for i := range files {
			names += place(i, l).Name
		}
		return names
	}
	all := []filewise.Volume{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	data := func(i int, l filewise.Layout) filewise.Volume { return l.Data.VolumeOf(i, l.DataVolumes(all)) }
	backup := func(i int, l filewise.Layout) filewise.Volume { return l.BackupVolumeOf(i, all) }
	for n, want := range []struct{ name, data, backup string }{
		{"1 file, on a, backup in 1 file, backups on c", "a", "c"},
		{"2 files, on a and b, backup in 4 files, backups on c and b", "ab", "cbcb"},
		{"2 files, on b and a, backup in 1 file", "ba", "c"},
	} {
		l := arms[n].Layout
		if l.Name != want.name || at(data, l.Data.Files, l) != want.data || at(backup, l.Backup.Files, l) != want.backup {
			t.Errorf("%q: data on %s, backup on %s; want %+v", l.Name, at(data, l.Data.Files, l), at(backup, l.Backup.Files, l), want)
		}
	}
	if arms[1].BuildKey() == arms[2].BuildKey() {
		t.Error("layouts on other volumes share a build")
	}
	for _, bad := range [][]string{
		{"inserts", "files=1,volumes=d"}, {"inserts", "files=1,volumes=a+a"}, {"inserts", "files=1,volumes="},
		{"inserts", "files=2,volumes=a+b,log=b"},
		{"inserts", "files=1,backup-volumes=a"}, {"inserts", "files=1,backup-files=2"}, {"backup", "files=1,backup-files=0"},
		{"backup", "files=3"}, {"backup", "files=3,volumes=a+b+c"},
	} {
		if _, err := of(bad[0], bad[1]); filewise.CodeOf(err) != filewise.CodeUsage || filewise.RemedyOf(err) == "" {
			t.Errorf("%v: %v", bad, err)
		}
	}
}
