package run

import (
	"strings"
	"testing"

	"filewise"
)

// What a user has accepted is a warning, which the report has too; what no user has, a refusal that states how to
// accept it; and what cannot be accepted stays refused.
func TestAccept(t *testing.T) {
	target := filewise.Target{Engine: "x", Address: &filewise.Address{}}
	found := func() []filewise.Finding {
		return []filewise.Finding{
			{Check: "standby", Status: filewise.StatusFailed, Detail: "it would stop", Remedy: "ask", Consent: "standby"},
			{Check: "space", Status: filewise.StatusFailed, Detail: "full", Remedy: "less"},
			{Check: "log", Status: filewise.StatusWarning, Detail: "grows", Remedy: "look", Consent: "standby"},
		}
	}
	all := accept(found(), nil)
	if all[0].Status != filewise.StatusFailed || all[0].Remedy != "ask; or accept that by --allow standby" || all[2].Remedy != "look" {
		t.Errorf("nobody has accepted it: %+v", all)
	}
	all = accept(found(), []string{"standby"})
	if err := Refused(target, all[:1]); err != nil || all[1].Status != filewise.StatusFailed || Refused(target, all) == nil {
		t.Errorf("%v: %+v", err, all)
	}
	if w := findingWarnings(all); len(w) != 2 || !strings.Contains(w[0].Message, "it would stop (accepted by --allow standby)") {
		t.Errorf("%+v", w)
	}
}

// The limits of an engine's layouts do not concern backups of a user's own database.
func TestNoteIsOfLayouts(t *testing.T) {
	about := filewise.Description{Note: "partitions are not files"}
	said := labelWarnings(filewise.Target{Mode: filewise.External}, about)
	if len(said) != 1 || said[0].Message != "Partitions are not files." {
		t.Errorf("%+v", said)
	}
	if said := labelWarnings(filewise.Target{Mode: filewise.External, Database: "sales"}, about); len(said) != 0 {
		t.Errorf("of backups: %+v", said)
	}
}
