package report

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"filewise/lab/verdict"
)

// plain are heads of columns and stages that need no definition, or whose text next to them is one.
var plain = []string{
	"holds", "measured", "threshold", "would mend it", "connection time", "in use", "limit", "resource",
	"a minute", "after the work", "after", "against the baseline", "against the layout’s typical trial", "before", "best on",
	"blocks", "built", "change of p99", "change", "comparison", "connections’ time", "data files", "difference", "direction",
	"failures", "figure", "file", "Filewise", "from then until durable", "highest at", "host", "hosts", "in time, as published",
	"its verdict", "I²", "kind", "label", "labels", "longest call", "result", "mean", "measured here", "median", "next host",
	"no.", "note", "observed", "of the limit", "of", "on the storage", "outcome", "p50 of calls", "p99 of calls", "path",
	"placement", "published", "range", "ratio to the baseline", "role", "run", "runs", "share of waits", "share",
	"sound verdict (throughput)", "speed", "stage", "started", "tail of the slowest connection", "time", "took", "total",
	"trials about the fit", "trials", "type", "volume", "worse on", "κ, coherence", "λ, one user", "σ, contention", "τ",
	// stages
	"measuring", "making first builds", "building layouts", "observing the files", "loading data", "adding files to loaded databases",
	"warming up", "checking the data", "dropping layouts", "pilots", "reset", "work", "stop",
}

// TestTermsAreThoseOfTheDocumentation: what stands alone on a page is explained in a tip, such as heads of columns,
// marks, classes of waits and stages. All tips are in docs/terminology.md.
func TestTermsAreThoseOfTheDocumentation(t *testing.T) {
	known, said := map[string]bool{}, tips()
	for _, f := range terms() {
		known[f.Name] = true
	}
	for _, word := range general {
		if !known[word] {
			t.Errorf("docs/terminology.md has no %q", word)
		}
	}
	shown := slices.Concat(heads(t), marks(t), stages(t))
	for _, class := range waitClasses {
		shown = append(shown, string(class))
	}
	for _, word := range shown {
		first, _, _ := strings.Cut(word, " ")
		if said[word] == "" && !slices.Contains(plain, word) && !(strings.HasSuffix(first, "ing") && said[first] != "") {
			t.Errorf("nothing says what %q means: define it in docs/terminology.md, or have it among those that are plain", word)
		}
	}
	for _, word := range plain {
		if !slices.Contains(shown, word) {
			t.Errorf("nothing shows %q any more", word)
		}
	}
}

// quotedIn are the texts that an expression finds in sources.
func quotedIn(t *testing.T, expr string, files ...string) []string {
	t.Helper()
	var all []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(expr).FindAllStringSubmatch(string(text), -1) {
			all = append(all, m[1])
		}
	}
	if len(all) < 9 {
		t.Fatalf("%s finds no more than %q", expr, all)
	}
	return all
}

// heads returns the heads of reports' columns, without what follows them: "mean (95 % …)".
func heads(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, dir := range []string{".", "../archive"} {
		in, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, in...)
	}
	var out []string
	for _, head := range quotedIn(t, `document\.(?:Num|Name|Words|Cells)\("([^"]+)"`, files...) {
		if head = strings.TrimSuffix(head, " ("); head != "against " {
			out = append(out, head)
		}
	}
	return out
}

func marks(t *testing.T) []string {
	t.Helper()
	out := []string{"dropped"}
	for _, mark := range quotedIn(t, `Mark\w+ +Mark = "([^"]+)"`, "../../lab/verdict/types.go") {
		r := row{Judged: true}
		r.Estimate.Mark = verdict.Mark(mark)
		out = append(out, r.markText())
	}
	return out
}

func stages(t *testing.T) []string {
	t.Helper()
	out := []string{stageName("measure"), stageName("pilot")}
	for _, stage := range quotedIn(t, `Stage\w+ += "([^"]+)"`, "../../trial.go") {
		out = append(out, stageName(stage))
	}
	return out
}
