package plan

import (
	"os"
	"path/filepath"
	"testing"

	"filewise"
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
