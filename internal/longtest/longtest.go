// Package longtest arranges the tests of a package: which run, and how many at once.
package longtest

import (
	"flag"
	"os"
	"strconv"
)

// Wanted reports whether the long part of the tests runs, as in scripts/test --all. A test of the long part does not
// exist in the short one, so that none is skipped.
func Wanted() bool { return os.Getenv("TEST_FILEWISE_ALL") == "1" }

// Leave leaves the tests of a pattern, as -skip has it, out of the short part. For TestMain.
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

// AtOnce has that many parallel tests run at once unless -parallel sets another number: tests wait for servers more
// than they compute. For TestMain.
func AtOnce(tests int) {
	parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "test.parallel" })
	if !asked {
		must(flag.Set("test.parallel", strconv.Itoa(tests)))
	}
}

// parse parses the command line once: again, it would undo what was set since.
func parse() {
	if !flag.Parsed() {
		flag.Parse()
	}
}

func must(err error) {
	if err != nil {
		panic(err) // a flag of package testing
	}
}
