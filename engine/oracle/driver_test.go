package oracle

import (
	"regexp"
	"strings"
	"testing"

	"github.com/sijms/go-ora/v2/network"
)

var (
	selectsInto = regexp.MustCompile(`(?s)\bSELECT\b[^;]*\bINTO v_`)
	raisesAnew  = regexp.MustCompile(`(?s)\nEXCEPTION\n  WHEN NO_DATA_FOUND THEN\n    RAISE_APPLICATION_ERROR\(-20010, '[^']+'\);\nEND;$`)
)

// The server reports NO_DATA_FOUND as it reports the end of a query, and for the driver it
// is no error: a block in which nothing was found would count as done. So every
// block that selects into variables raises its own error.
func TestNoDataFoundIsAnError(t *testing.T) {
	if s := (&network.Session{Summary: &network.SummaryObject{RetCode: 1403}}); s.HasError() {
		t.Error("the driver tells ORA-01403: the handlers are not needed any more")
	}
	seen := 0
	everyStatement(t).each(func(section, text string) {
		if !selectsInto.MatchString(text) {
			return
		}
		seen++
		if !raisesAnew.MatchString(strings.TrimSpace(text)) {
			t.Errorf("%s selects into variables, and does not end with a handler of NO_DATA_FOUND:\n%s", section, text)
		}
	})
	if seen < 6 {
		t.Errorf("%d statements select into variables, want the five transactions and dml's select", seen)
	}
}

// The driver looks for a statement's kind beyond its comments, but takes an odd
// quote in one for the beginning of a text that hides the statement.
func TestCommentsHideNoStatement(t *testing.T) {
	everyStatement(t).each(func(section, text string) {
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, "--") {
				if !strings.HasPrefix(line, "CREATE") && strings.TrimSpace(line) != "" {
					comment := text[:strings.Index(text, line)]
					if strings.Count(comment, "'")%2 == 1 || strings.Count(comment, `"`)%2 == 1 {
						t.Errorf("%s: a quote in its comment hides the statement from the driver:\n%s", section, text)
					}
				}
				return
			}
		}
	})
}
