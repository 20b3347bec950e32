package filewise_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// notOnWindows matches what is of no use on Windows, in files that are built there.
var (
	notOnWindows = regexp.MustCompile(`apt-get|ulimit|/mnt/|\bsudo\b|systemctl|\bch(mod|own) |mkfifo|\bumount\b`)
	builtElse    = regexp.MustCompile(`_test\.go$|_(linux|unix|bsd|other|darwin)\.go$|^(proof|scripts)/|/(enginetest|servertest|` +
		`filewisetest|browsertest|managed|installed)/|^engine/internal/server/`)
)

// printed holds files that name such a thing, and why Windows does not print it, or may.
var printed = map[string]string{
	"engine/sqlite/warnings.go":           "the limit of open files is unknown there",
	"lab/experiment/connect.go":           "the limit of open files is unknown there",
	"engine/sqlserver/explain.go":         "the server's system decides, and both are named",
	"host/machine/install.go":             "by system",
	"host/scratch/dir.go":                 "root's alone",
	"lab/workload/userdb.go":              "of managed servers, which Windows has not",
	"internal/userdir/userdir_windows.go": "what is replaced",
}

// A remedy that only other systems understand is chosen by system, as internal/fault does it.
func TestRemediesOfOtherSystems(t *testing.T) {
	for _, name := range tracked(t, "*.go") {
		if builtElse.MatchString(name) {
			continue
		}
		text, _ := os.ReadFile(name) // it is there
		var comments, literals strings.Builder
		collect(text, &comments, &literals)
		if found := notOnWindows.FindString(literals.String()); (found != "") != (printed[name] != "") {
			t.Errorf("%s: %q is for other systems; reason why Windows does not print it: %q", name, found, printed[name])
		}
	}
}
