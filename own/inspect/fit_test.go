package inspect

import (
	"slices"
	"strings"
	"testing"

	"filewise"
)

// What would test a finding is like what was found: rows, connections, and whether
// rows are added, changed or read.
func TestCommandFits(t *testing.T) {
	for _, x := range []struct {
		name, engine string
		want         []string
		change       func(*filewise.Inspection)
	}{
		{"nothing known", "postgres", []string{"inserts", "--target", "postgres://u@h", "--files", "1,2,4,8"}, nil},
		{"rows and sessions", "mysql", []string{"inserts", "--target", "mysql://u@h", "--files", "1,2,4,8", "--row-bytes", "250",
			"--connections", "12"}, func(i *filewise.Inspection) {
			i.Groups[0].RowBytes, i.Figures[filewise.FigureSessions] = 250.4, 12
		}},
		{"huge rows, a crowd", "mariadb", []string{"inserts", "--target", "mariadb://u@h", "--files", "1,2,4,8", "--row-bytes", "6000",
			"--connections", "64"}, func(i *filewise.Inspection) {
			i.Groups[0].RowBytes, i.Figures[filewise.FigureSessions] = 1e6, 900
		}},
		{"rows are changed", "postgres", []string{"dml", "--target", "postgres://u@h", "--files", "1,2,4,8"}, func(i *filewise.Inspection) {
			i.Groups[0].RowBytes, i.Groups[0].Inserted, i.Groups[0].Changed = 250, 5000, 90000
		}},
		{"rows are read", "postgres", []string{"scan", "--target", "postgres://u@h", "--files", "1,2,4,8"}, func(i *filewise.Inspection) {
			i.Waits = []filewise.Counter{{Name: "IO/DataFileRead", Unit: "s", Value: 90000, Class: filewise.WaitDataRead}}
		}},
		{"rows are read and written", "postgres", []string{"inserts", "--target", "postgres://u@h", "--files", "1,2,4,8"},
			func(i *filewise.Inspection) {
				i.Waits = []filewise.Counter{{Name: "IO/DataFileWrite", Unit: "s", Value: 90000, Class: filewise.WaitDataWrite}}
				for n := range i.Groups[0].Files {
					i.Groups[0].Files[n].IO[filewise.FileReadTime] = 1000
				}
			}},
		{"read, where scan has no adapter", "oracle", []string{"inserts", "--target", "oracle://u@h", "--files", "1,2,4,8"},
			func(i *filewise.Inspection) {
				i.Waits = []filewise.Counter{{Name: "db file sequential read", Unit: "s", Value: 90000, Class: filewise.WaitDataRead}}
			}},
	} {
		f, ok := find(Judge(server(x.engine, x.change)), "the question itself")
		if want := append([]string{"filewise", "run"}, x.want...); !ok || !slices.Equal(f.Command, want) {
			t.Errorf("%s: %s, want %s", x.name, strings.Join(f.Command, " "), strings.Join(want, " "))
		}
	}
}
