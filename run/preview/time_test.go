package preview

import (
	"strings"
	"testing"
	"time"

	"filewise/run"
)

// A plan shows that its budget cannot be enough if storage would need longer to write the data alone.
func TestTimeToWrite(t *testing.T) {
	v := Preview{AtMost: 10 * time.Minute, Space: []run.SpaceNeed{{Need: 22 << 40}, {Need: 22 << 40}}}
	v.Plan.Budget = 10 * time.Minute
	if got := timeWords(v); !strings.Contains(got, "; but to write 44 TiB takes 13 h") {
		t.Error(got)
	}
	v.Space = []run.SpaceNeed{{Need: 500 << 30}}
	if got := timeWords(v); strings.Contains(got, "to write") {
		t.Error(got)
	}
}
