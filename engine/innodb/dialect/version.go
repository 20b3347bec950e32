package dialect

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"filewise"
	"filewise/engine/internal/server"
)

// Version is the version that a server's binary reports.
type Version struct {
	Text    string // "10.11.19-MariaDB-0+deb12u1"
	Number  [3]int // 10, 11, 19
	MariaDB bool
}

// String returns the version's number: "10.11.19".
func (v Version) String() string {
	return fmt.Sprintf("%d.%d.%d", v.Number[0], v.Number[1], v.Number[2])
}

// Before reports whether the version is older than a number.
func (v Version) Before(number ...int) bool {
	return slices.Compare(v.Number[:len(number)], number) < 0
}

var versionLine = regexp.MustCompile(`Ver ((\d+)\.(\d+)\.(\d+)\S*)`)

// ReadVersion runs the binary with --version. Errors have CodePreflight.
func ReadVersion(ctx context.Context, binary string) (Version, error) {
	out, err := server.Said(ctx, binary, "--no-defaults", "--version")
	if err != nil {
		return Version{}, filewise.Errorf(filewise.CodePreflight, "", "%s --version: %w", binary, err)
	}
	m := versionLine.FindStringSubmatch(out)
	if m == nil {
		return Version{}, filewise.Errorf(filewise.CodePreflight, "", "%s --version prints %q, which is no version", binary, out)
	}
	v := Version{Text: m[1], MariaDB: strings.Contains(strings.ToLower(out), "mariadb")}
	for i, part := range m[2:5] {
		if v.Number[i], err = strconv.Atoi(part); err != nil {
			return Version{}, filewise.Errorf(filewise.CodePreflight, "", "%s: version %s: %w", binary, v.Text, err)
		}
	}
	return v, nil
}
