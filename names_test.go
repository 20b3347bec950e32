package filewise_test

import (
	"os"
	"path"
	"strings"
	"testing"
)

// longestPath is in bytes: a checkout on Windows has 260 with the folder that it lies in.
const longestPath = 150

// largestFile is the most bytes that a tracked file may have.
const largestFile = 1 << 20

// windowsReserved are the names of devices on Windows, whatever ending they have.
var windowsReserved = map[string]bool{"con": true, "prn": true, "aux": true, "nul": true, "conin$": true, "conout$": true}

// wrongName returns the fault of a tracked path, or "" if every system can hold it.
func wrongName(name string) string {
	for part := range strings.SplitSeq(name, "/") {
		stem, _, _ := strings.Cut(strings.ToLower(part), ".")
		stem = strings.TrimRight(stem, " ")
		device := strings.TrimRight(stem, "0123456789¹²³")
		switch {
		case windowsReserved[stem], len(stem) > len(device) && len([]rune(stem)) == 4 && (device == "com" || device == "lpt"):
			return "the name of a device on Windows"
		case strings.ContainsAny(part, `<>:"\|?*`):
			return "a character that Windows refuses"
		case strings.TrimRight(part, " .") != part:
			return "an end that Windows cuts off"
		case strings.ContainsFunc(part, func(r rune) bool { return r < ' ' || r > '~' }):
			return "a character that macOS or an archive may write in another way"
		case len(part) > 100:
			return "longer than 100 bytes"
		}
	}
	if len(name) > longestPath {
		return "the path is too long for Windows"
	}
	return ""
}

// TestNamesThatEverySystemHolds: a checkout must not fail on Windows, nor lose a file on macOS, where
// names that differ in case alone are one.
func TestNamesThatEverySystemHolds(t *testing.T) {
	folded := map[string]string{}
	for _, name := range tracked(t) {
		if why := wrongName(name); why != "" {
			t.Errorf("%s: %s", name, why)
		}
		if file, err := os.Stat(name); err == nil && file.Size() > largestFile {
			t.Errorf("%s has %d bytes: a program that was built, or data that belong elsewhere", name, file.Size())
		}
		for part := name; part != "."; part = path.Dir(part) {
			lower := strings.ToLower(part)
			if before, known := folded[lower]; known && before != part {
				t.Errorf("%s and %s differ in case alone", before, part)
			}
			folded[lower] = part
		}
	}
	for name, bad := range map[string]bool{"engine/sqlserver/NUL": true, "a/nul.txt": true, "com1": true, "LPT9.go": true, "x/aux.c": true,
		"comma.go": false, "com10.go": false, "console": false, "a:b": true, "a.": true, "ü": true, "docs/null.md": false} {
		if got := wrongName(name) != ""; got != bad {
			t.Errorf("%s: refused: %v", name, got)
		}
	}
}
