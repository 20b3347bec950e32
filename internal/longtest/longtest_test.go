package longtest_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"filewise/internal/longtest"
)

func TestMain(m *testing.M) {
	longtest.Leave("^TestOfTheLongPart$")
	longtest.AtOnce(7)
	os.Exit(m.Run())
}

// Leave adds to what is skipped already, and AtOnce does not undo it.
func TestLeave(t *testing.T) {
	const left = "^TestOfTheLongPart$"
	if got := flag.Lookup("test.skip").Value.String(); strings.HasSuffix(got, left) == longtest.Wanted() {
		t.Errorf("skipped is %q", got)
	}
}

func TestOfTheLongPart(t *testing.T) {
	if !longtest.Wanted() {
		t.Error("a test of the long part runs in the short one")
	}
}
