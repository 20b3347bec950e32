package archive

import (
	"math"
	"slices"
	"testing"
	"time"

	"filewise/internal/say"
	"filewise/lab/experiment"
	"filewise/lab/verdict/stats"
	"filewise/results/report/chart"
	"filewise/results/store"
)

// A host that two campaigns have measured is one host, and its newest run counts; one with other
// labels is another place.
func TestAHostIsTheSameInAllCampaigns(t *testing.T) {
	measured := func(ref string, tags ...string) HostRun {
		return HostRun{Ref: ref, Run: store.Run{Started: time.Unix(int64(ref[0]), 0), Plan: experiment.Plan{Tags: tags}}}
	}
	var left []string
	out := newestOf([]HostRun{measured("1", "campaign=spring", "host=db1", "storage=nvme", "rack=a"), measured("2", "host=db1", "storage=san"),
		measured("3", "rack=a", "host=DB1", "campaign=autumn", "storage=nvme")}, &left)
	if len(out) != 2 || out[0].Ref != "3" || len(left) != 1 || left[0] != "Run 1 does not count: run 3 of db1 is newer." {
		t.Errorf("%d hosts count; %q", len(out), left)
	}
	same := []string{}
	if out := newestOf([]HostRun{measured("1", "host=db1"), measured("1", "host=db1"), measured("1.zip", "host=db1")}, &same); len(out) != 1 ||
		!slices.Equal(same, []string{"Run 1 is named twice and counts once.", "Runs 1 and 1.zip are the same and count once."}) {
		t.Errorf("one run given thrice: %d hosts, %q", len(out), same)
	}
	if name := nameAmong(out[0], out); name != "DB1, rack=a, storage=nvme" {
		t.Errorf("a host is called %q", name)
	}
}

// Few hosts may give no prediction for a further one: limits beyond a factor of 100 are numbers without a meaning,
// and draw no scale.
func TestNothingIsKnownOfTheNextHost(t *testing.T) {
	percent := 323428.5
	p := AcrossPooled{NextLow: &percent, NextHigh: &percent, of: stats.Pooled{Next: stats.Interval{Lo: -8.1, Hi: 8.1}}}
	if text := p.next(); text != say.NotResolvable {
		t.Errorf("the next host is said to have %s", text)
	}
	if row := placed(chart.Estimate{Lo: -8.1, Hi: 8.1}); !math.IsNaN(row.X) || !math.IsNaN(row.Lo) || !math.IsNaN(row.Hi) {
		t.Errorf("it is drawn at %v (%v … %v)", row.X, row.Lo, row.Hi)
	}
}
