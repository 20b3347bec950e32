package plan

import (
	"testing"

	"filewise"
	"filewise/lab/workload"
)

// Every number of backup files comes with every number of data files and every
// combination of options, each layout under a separate name.
func TestStripes(t *testing.T) {
	sc, err := workload.Lookup("backup")
	if err != nil {
		t.Fatal(err)
	}
	m := &maker{o: New(), sc: sc}
	m.o.DataFiles, m.o.BackupOptions = Of([]int{1, 8}), Of([]string{"a=1,2", "b=x,y"})
	layouts, err := m.stripes(filewise.Layout{Data: filewise.Spread{Placement: filewise.PlaceOne}}, []int{1, 4})
	if err != nil || len(layouts) != 2*2*4 {
		t.Fatalf("%d layouts: %v", len(layouts), err)
	}
	seen := map[string]bool{}
	for _, l := range layouts {
		if seen[l.Name] {
			t.Errorf("two layouts are called %q", l.Name)
		}
		seen[l.Name] = true
	}
	if !seen["4 backup files of 8 files, a=2, b=x"] {
		t.Errorf("%v", seen)
	}
	if err := different(layouts); err != nil {
		t.Error(err)
	}
	m.About.CopiesFiles, m.o.DataFiles, m.o.BackupOptions = true, Of[[]int](nil), Of[[]string](nil)
	layouts, err = m.stripes(filewise.Layout{Data: filewise.Spread{Placement: filewise.PlaceOne}}, []int{1, 4})
	if err != nil || len(layouts) != 2 || layouts[0].Data.Files != 4 || layouts[1].Data.Files != 4 {
		t.Errorf("processes that copy whole files have too few: %+v, %v", layouts, err)
	}
	for _, bad := range [][]string{{"a"}, {"=1"}, {"a="}, {"a=1", "a=2"}} {
		m.o.BackupOptions = Of(bad)
		if _, err := m.stripes(filewise.Layout{}, []int{1, 2}); filewise.CodeOf(err) != filewise.CodeUsage {
			t.Errorf("%v: %v", bad, err)
		}
	}
	m.o.DataFiles, m.o.BackupOptions, m.About.StripesAsFiles = Of([]int{1, 8}), Of[[]string](nil), true
	if _, err := m.stripes(filewise.Layout{}, []int{1, 2}); filewise.CodeOf(err) != filewise.CodeUsage {
		t.Errorf("data files where a backup has as many: %v", err)
	}
}
