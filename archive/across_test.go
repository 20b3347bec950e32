package archive

import (
	"testing"
	"time"

	"filewise/experiment"
	"filewise/store"
)

// A host that two campaigns have measured is one host, and its newest run counts; one with other
// labels is another place.
func TestAHostIsTheSameInAllCampaigns(t *testing.T) {
	measured := func(ref string, tags ...string) HostRun {
		return HostRun{Ref: ref, Run: Run{Run: store.Run{Started: time.Unix(int64(ref[0]), 0),
			Plan: experiment.Plan{Tags: tags}}}}
	}
	var left []string
	out := newestOf([]HostRun{measured("1", "campaign=spring", "host=db1", "storage=nvme", "rack=a"), measured("2", "host=db1", "storage=san"),
		measured("3", "rack=a", "host=db1", "campaign=autumn", "storage=nvme")}, &left)
	if len(out) != 2 || out[0].Ref != "3" || len(left) != 1 || left[0] != "Run 1 does not count: db1 has a newer one, 3." {
		t.Errorf("%d hosts count; %q", len(out), left)
	}
	if name := nameAmong(out[0], out); name != "db1, rack=a, storage=nvme" {
		t.Errorf("a host is called %q", name)
	}
}
