package scratch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filewise"
)

// Root makes nothing where another user could put his own directory, with links in it, in its place.
func TestRootsAlone(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: root on volumes of other users: needs root")
	}
	reg, _ := setup(t)
	for name, c := range map[string]struct {
		uid, gid   int
		mode       os.FileMode
		above      bool // the directory is the volume's parent
		link, fine bool
	}{
		"root's": {mode: 0o755, fine: true}, "another user's": {uid: 65534, mode: 0o755}, "one above is": {uid: 65534, mode: 0o755, above: true},
		"every user's": {mode: 0o777}, "sticky, as /tmp": {mode: os.ModeSticky | 0o777, fine: true},
		"another user's, sticky": {uid: 65534, mode: os.ModeSticky | 0o777}, "a group's": {gid: 65534, mode: 0o775},
		"by a link": {uid: 65534, mode: 0o755, link: true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "dir")
			volume := dir
			if c.above {
				volume = filepath.Join(dir, "volume")
			}
			must(t, os.MkdirAll(volume, 0o755))
			must(t, os.Chown(dir, c.uid, c.gid))
			must(t, os.Chmod(dir, c.mode))
			if c.link {
				link := filepath.Join(t.TempDir(), "link")
				must(t, os.Symlink(volume, link))
				volume = link
			}
			d, err := reg.Create(volume, "test")
			if c.fine {
				must(t, err)
				must(t, d.Remove())
				return
			}
			if filewise.CodeOf(err) != filewise.CodePreflight || !strings.Contains(err.Error(), dir) || filewise.RemedyOf(err) == "" {
				t.Errorf("%v; %s", err, filewise.RemedyOf(err))
			}
			if left, err := os.ReadDir(volume); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}
