// Package longtest arranges a package's tests: which ones run, and how many at once.
package longtest

import (
	"flag"
	"os"
	"strconv"
)

// Wanted reports whether the long tests run, as in scripts/test --all. In the short part, long tests are not defined,
// so that none is shown as skipped.
func Wanted() bool { return os.Getenv("TEST_FILEWISE_ALL") == "1" }

// Leave excludes tests that match a pattern, as for -skip, from the short part. It is for TestMain.
func Leave(pattern string) {
	if Wanted() {
		return
	}
	parse()
	if also := flag.Lookup("test.skip").Value.String(); also != "" {
		pattern = also + "|" + pattern
	}
	must(flag.Set("test.skip", pattern))
}

// AtOnce sets how many parallel tests run at once, unless -parallel does. Tests wait for servers more than they
// compute. It is for TestMain.
func AtOnce(tests int) {
	parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "test.parallel" })
	if !asked {
		must(flag.Set("test.parallel", strconv.Itoa(tests)))
	}
}

// parse parses the command line once: parsing it again would undo what was set since.
func parse() {
	if !flag.Parsed() {
		flag.Parse()
	}
}

func must(err error) {
	if err != nil {
		panic(err) // no such flag of package testing
	}
}
