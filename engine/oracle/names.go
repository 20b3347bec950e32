package oracle

import (
	"regexp"
	"strconv"
	"strings"

	"filewise"
	"filewise/engine/oracle/dialect"
	"filewise/internal/marker"
)

// names holds the names of a build; see the package's comment. Oracle folds unquoted names to upper case, so Filewise's
// names are in upper case.
type names struct {
	Tablespace string // also the name of the marker table in it
	Index      string // the indexes' tablespace; equal to Tablespace if they lie together
	Package    string
	// Password is the password of a copy's user, as long as the build exists.
	Password string
}

func newNames(apart bool) names {
	n := namesOf(marker.NewName(), apart, marker.NewName)
	n.Password = "FW12#_" + strings.TrimPrefix(marker.NewName(), marker.Prefix)
	return n
}

// planNames returns the names that plans show.
func planNames(apart bool) names {
	n := namesOf(marker.PlanName, apart, func() string { return marker.PlanName[:len(marker.PlanName)-1] + "i" })
	n.Password = "…"
	return n
}

func namesOf(name string, apart bool, another func() string) names {
	n := names{Tablespace: strings.ToUpper(name)}
	n.Index, n.Package = n.Tablespace, n.Tablespace+packageSuffix
	if apart {
		n.Index = strings.ToUpper(another())
	}
	return n
}

// table is a table of the workload, its key and the procedure that fills it.
type table struct{ Name, Key, Procedure string }

// Objects have the build's name, a letter and two base-36 digits. That is 27 + 3 bytes, the limit if COMPATIBLE is
// below 12.2. Two letters for each kind allow 2592 tables.
const (
	packageSuffix = "PKG"
	churnLetters  = "VW"  // tables that are created and dropped, one per connection
	copyJob       = "J00" // a copy's import job, and the server's table for it
	base          = 36
)

func suffix(letters string, i int) string {
	digits := strings.ToUpper(strconv.FormatInt(int64(i%(base*base)), base))
	return string(letters[i/(base*base)]) + strings.Repeat("0", 2-len(digits)) + digits
}

func (n names) table(i int) table {
	return table{n.Tablespace + suffix("TU", i), n.Tablespace + suffix("KL", i), n.Tablespace + suffix("QR", i)}
}

// userSQL returns the names for what a set-up creates.
func userSQL(n names, c *filewise.CustomSQL) userNames {
	return userNamesOf(c, n.Tablespace, n.Index, func(i int) (string, string, string) {
		t := n.table(i)
		return t.Name, t.Key, t.Procedure
	})
}

var (
	segmentSuffix = regexp.MustCompile(`^([TUKLVW][0-9A-Z]{2}|J00)?$`)
	programSuffix = regexp.MustCompile(`^([QR][0-9A-Z]{2}|PKG)$`)
)

// segmentOf reports whether a table or index with that name belongs to the build. An empty name is the marker table's.
func segmentOf(build, name string) bool {
	rest, ok := strings.CutPrefix(name, build)
	return ok && marker.IsName(build) && segmentSuffix.MatchString(rest)
}

// buildOfProgram returns the build to which a package or procedure belongs, or "" if it is not Filewise's.
func buildOfProgram(name string) string {
	if len(name) != dialect.MaxIdent {
		return ""
	}
	build, rest := name[:dialect.MaxIdent-3], name[dialect.MaxIdent-3:]
	if !marker.IsName(build) || !programSuffix.MatchString(rest) || build != strings.ToUpper(build) {
		return ""
	}
	return build
}
