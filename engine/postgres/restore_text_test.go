package postgres

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filewise"
	"filewise/engine/postgres/internal/installed"
)

// A packed file of some kilobytes may hold a statement of gigabytes.
func TestBombInADump(t *testing.T) {
	for _, more := range []string{strings.Repeat("1", 80<<20), strings.Repeat(strings.Repeat("1", 1<<10)+"\n", 80<<10)} {
		all := dumpReader{in: bufio.NewReader(strings.NewReader("INSERT INTO t VALUES (" + more))}
		if _, err := all.next(); err == nil || !strings.Contains(err.Error(), "longer than") {
			t.Errorf("%.100v", err)
		}
	}
}

// A link in a dump's directory would have pg_restore, which may be root's, read what it leads to.
func TestLinkInADump(t *testing.T) {
	for _, to := range []string{"/etc/passwd", "/nowhere"} {
		dir := t.TempDir()
		if err := os.Symlink(to, filepath.Join(dir, "1.dat")); err != nil {
			t.Fatal(err)
		}
		if _, _, err := dumpText(t.Context(), installed.Server{}, dir); filewise.CodeOf(err) != filewise.CodeUsage ||
			!strings.Contains(err.Error(), "1.dat") {
			t.Errorf("a link to %s: %v", to, err)
		}
	}
}
