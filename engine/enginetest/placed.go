package enginetest

import (
	"testing"

	"filewise"
)

func tryVolumes(t *testing.T, b *bench, offered bool) {
	l := b.layout(4)
	l.Data.Placement = filewise.PlaceRoundRobin
	_, two := b.second()
	if !two {
		t.Skip("files on several volumes are NOT tested: the target has one volume")
	}
	on := volumesOf(built(t, b, l, offered), filewise.RoleData)
	first, second := b.target.Volumes[0].Name, b.target.Volumes[1].Name
	if offered && (on[first] != 2 || on[second] != 2) {
		t.Errorf("4 files round-robin over two volumes lie as %v", on)
	}
}

// tryLogApart: the log lies on the second volume, and no data do.
func tryLogApart(t *testing.T, b *bench, offered bool) {
	second, two := b.second()
	if offered && !two {
		t.Skip("a log on a volume of its own is NOT tested: the target has one volume")
	}
	l := b.layout(2)
	l.Data.Placement, l.LogVolume = filewise.PlaceRoundRobin, second
	files := built(t, b, l, offered)
	if offered {
		apart(t, files, filewise.RoleLog, second)
	}
}

// tryIndexApart: the indexes lie in files of their own, on the second volume
// where there is one. What has indexes apart has them together too, to compare.
func tryIndexApart(t *testing.T, b *bench, offered bool) {
	for _, indexes := range []string{filewise.IndexesApart, filewise.IndexesTogether} {
		t.Run(indexes, func(t *testing.T) {
			b := b.as(t)
			l := b.layout(2)
			l.Indexes = indexes
			second, two := b.second()
			if indexes == filewise.IndexesApart && two {
				l.Data.Placement, l.IndexVolume = filewise.PlaceRoundRobin, second
			}
			files := built(t, b, l, offered)
			switch on := volumesOf(files, filewise.RoleIndex); {
			case !offered:
			case indexes == filewise.IndexesTogether:
				if len(on) > 0 {
					t.Errorf("indexes lie together with their table, but in files of their own: %v", on)
				}
			case two:
				apart(t, files, filewise.RoleIndex, second)
			case len(on) == 0:
				t.Errorf("no file of indexes among %v", files)
			}
		})
	}
}

// apart: the files of a role lie on a volume that has no data files.
func apart(t *testing.T, files []filewise.File, role filewise.Role, volume string) {
	t.Helper()
	on, data := volumesOf(files, role), volumesOf(files, filewise.RoleData)
	if on[volume] == 0 || len(on) != 1 || data[volume] != 0 || len(data) == 0 {
		t.Errorf("files of role %s should lie on volume %s alone: they lie as %v, and the data as %v", role, volume, on, data)
	}
}

// volumesOf is the number of files of a role on each volume.
func volumesOf(files []filewise.File, role filewise.Role) map[string]int {
	on := map[string]int{}
	for _, f := range files {
		if f.Role == role {
			on[f.Volume]++
		}
	}
	return on
}
