package probe

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"filewise"
)

const (
	statText = "cpu  16128 10855 6290 214838 778 1 168 51 7 8\ncpu0 7393 5798 2569 108667 149 0 11 20 0 0\nintr 1 2\nctxt 991\n"
	oldStat  = "cpu0 1 2 3 4\ncpu 100 200 300 400\n" // Linux 2.4 had no more
	ioText   = "rchar: 6976\nwchar: 12\nsyscr: 10\nsyscw: 0\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 0\n"
	psiText  = "some avg10=1.02 avg60=9.88 avg300=10.41 total=69578260\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"
	diskText = "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n 254       0 vda 98039 13041 3906170 28628 77559 68630 6862168 22588 " +
		"0 15252 53729 14711 50 23904936 1522 17490 990\n"
	oldDisk   = "   8       0 sda 10 1 20 30 40 5 60 70 0 80 90\n"
	shortDisk = "   8       0 sda 10 1\n"
	memText   = "MemTotal:       24684100 kB\nMemFree:        17377568 kB\nCached:          6280580 kB\nSwapCached:            7 kB\nDirty: " +
		"             5604 kB\nWriteback:             0 kB\nHugePages_Total:       0\n"
)

func TestParseCPU(t *testing.T) {
	want := []filewise.Counter{counter("user", "s", 161.28), counter("nice", "s", 108.55), counter("system", "s", 62.90),
		counter("idle", "s", 2148.38), counter("iowait", "s", 7.78), counter("irq", "s", 0.01), counter("softirq", "s", 1.68), counter("steal",
			"s", 0.51), counter(filewise.ContextSwitches, "switches", 991)}
	if d := cmp.Diff(want, parseCPU([]byte(statText))); d != "" {
		t.Errorf("(−want +got):\n%s", d)
	}
	old := []filewise.Counter{counter("user", "s", 1), counter("nice", "s", 2), counter("system", "s", 3), counter("idle", "s", 4)}
	if d := cmp.Diff(old, parseCPU([]byte(oldStat))); d != "" {
		t.Errorf("columns that are missing (−want +got):\n%s", d)
	}
	if got := parseCPU([]byte("cpu x -1 3\n")); len(got) != 1 || got[0].Name != "system" {
		t.Errorf("columns that are no numbers: %v", got)
	}
}

func TestParseSelfIO(t *testing.T) {
	got := map[string]float64{}
	for _, c := range parseSelfIO([]byte(ioText + "unknown: 5\nrchar\n")) {
		got[c.Name] = c.Value
	}
	want := map[string]float64{"bytes read by calls": 6976, "bytes written by calls": 12, "read calls": 10, "write calls": 0,
		"bytes read from storage": 4096, "bytes dirtied in the page cache": 8192, "bytes never written": 0}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(−want +got):\n%s", d)
	}
}

func TestParsePressure(t *testing.T) {
	both := []filewise.Counter{counter("io some", "µs", 69578260), counter("io full", "µs", 7)}
	if d := cmp.Diff(both, parsePressure("io", []byte(psiText))); d != "" {
		t.Errorf("(−want +got):\n%s", d)
	}
	if d := cmp.Diff([]filewise.Counter{counter("cpu some", "µs", 69578260)}, parsePressure("cpu", []byte(psiText))); d != "" {
		t.Errorf("full of the CPU is undefined (−want +got):\n%s", d)
	}
}

func TestParseDisks(t *testing.T) {
	want := []filewise.Counter{counter("vda reads", "requests", 98039), counter("vda reads merged", "requests", 13041),
		counter("vda bytes read", "B", 3906170*512), counter("vda read time", "ms", 28628), counter("vda writes", "requests", 77559),
		counter("vda writes merged", "requests", 68630), counter("vda bytes written", "B", 6862168*512),
		counter("vda write time", "ms", 22588), counter("vda busy time", "ms", 15252), counter("vda time of all requests", "ms", 53729),
		counter("vda flushes", "requests", 17490), counter("vda flush time", "ms", 990)}
	if d := cmp.Diff(want, parseDisks([]byte(diskText), []string{"vda"})); d != "" {
		t.Errorf("(−want +got):\n%s", d)
	}
	if got := parseDisks([]byte(oldDisk), []string{"sda"}); len(got) != 10 {
		t.Errorf("a kernel that does not count flushes: %v", got)
	}
	if got := parseDisks([]byte(shortDisk), []string{"sda"}); len(got) != 2 {
		t.Errorf("a line that ends early: %v", got)
	}
	if got := parseDisks([]byte(diskText), []string{"vd"}); len(got) != 0 {
		t.Errorf("a part of a name: %v", got)
	}
}

func TestParseMemory(t *testing.T) {
	want := map[string]float64{MemoryTotal: 24684100 << 10, MemoryCached: 6280580 << 10, MemoryDirty: 5604 << 10, MemoryWriteback: 0}
	if d := cmp.Diff(want, parseMemory([]byte(memText))); d != "" {
		t.Errorf("(−want +got):\n%s", d)
	}
	if got := parseMemory([]byte("Dirty: 5\nDirty: x kB\nDirty: -1 kB\nCached kB\nMemTotal: 1 MB\n")); len(got) != 0 {
		t.Errorf("lines of another form: %v", got)
	}
}

// No text makes a parser panic, or return a counter without name or unit, or one
// below zero.
func FuzzParsers(f *testing.F) {
	for _, s := range []string{statText, oldStat, ioText, psiText, diskText, oldDisk, shortDisk, memText, "", "cpu", "some total=", "a: "} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for name, counters := range map[string][]filewise.Counter{
			"cpu": parseCPU(text), "io": parseSelfIO(text), "psi": parsePressure("io", text),
			"disk": parseDisks(text, []string{"vda", "sda"}),
		} {
			for _, c := range counters {
				if c.Name == "" || c.Unit == "" || !(c.Value >= 0) {
					t.Errorf("%s: %+v", name, c)
				}
			}
		}
		for name, v := range parseMemory(text) {
			if name == "" || !(v >= 0) {
				t.Errorf("memory %q: %v", name, v)
			}
		}
	})
}
