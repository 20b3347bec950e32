package postgres

import (
	"bufio"
	"strings"
	"testing"
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
