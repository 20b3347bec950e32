package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filewise/lab/experiment"
	"filewise/results/report"
)

// JUnit XML has directly behind the headline what the layout to use loses in latency.
func TestJUnitSaysWhatLatencyLoses(t *testing.T) {
	d := report.Data{RunID: 3, Judgement: experiment.Judgement{Operations: []experiment.Operation{{Name: "inserts",
		Sentences: []string{"Recommended: 8 files.", "8 files: +50 %."}, LatencyLoss: "Caution: p99 is long."}}}}
	g := resultFlags{junit: filepath.Join(t.TempDir(), "out.xml")}
	g.judgeRun(&d)
	if err := g.end(&app{stdout: io.Discard, stderr: io.Discard}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(g.junit)
	if want := "<system-out>Recommended: 8 files. Caution: p99 is long.&#xA;8 files: +50 %.</system-out>"; err != nil ||
		!strings.Contains(string(text), want) {
		t.Errorf("%v:\n%s", err, text)
	}
}
