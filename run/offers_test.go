package run

import (
	"testing"

	"filewise"
)

type offering struct {
	filewise.Server
	offers map[filewise.Capability]error
}

func (s offering) Offers() map[filewise.Capability]error { return s.offers }

// A right that is missing comes with the statement that grants it; other reasons are no one's to mend.
func TestOffersNamesTheGrant(t *testing.T) {
	got := Offers(offering{offers: map[filewise.Capability]error{"a": nil, "b": filewise.Unsupported("leave it out", "not here"),
		"c": filewise.Unsupported("GRANT SELECT ON x TO the account", "no right")}})
	if got["a"] != "yes" || got["b"] != "not here" || got["c"] != "no right: GRANT SELECT ON x TO the account" {
		t.Errorf("%q", got)
	}
}
