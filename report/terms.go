package report

import (
	"regexp"
	"slices"
	"strings"

	"filewise"
	"filewise/docs"
	"filewise/report/document"
)

var (
	termRow = regexp.MustCompile(`(?m)^\| ([^|]+) \| (.+) \|$`)
	plainly = strings.NewReplacer("*", "", "`", "")
)

// general are the words of a report that the whole of Filewise has; the page of words has
// those of reports alone under a heading of their own.
var general = []string{"engine", "layout", "trial", "pilot", "block", "family", "window", "slice", "tail", "sync", "baseline", "margin",
	"worst-case loss", "tolerance", "interim analysis", "write amplification", "throughput", "p50, p99, p99.9", "durability"}

// terms are the words that reports show, with what they mean.
func terms() []filewise.Fact {
	first, ofReports, _ := strings.Cut(docs.Terminology, "\n## In reports\n")
	var out []filewise.Fact
	for i, part := range []string{first, ofReports} {
		for _, m := range termRow.FindAllStringSubmatch(part, -1) {
			if m[1] != "word" && m[1] != "---" && (i > 0 || slices.Contains(general, m[1])) {
				out = append(out, filewise.Fact{Name: m[1], Value: plainly.Replace(m[2])})
			}
		}
	}
	return out
}

// tips are what each word means by itself.
func tips() map[string]string {
	out := map[string]string{}
	for _, t := range terms() {
		for word := range strings.SplitSeq(t.Name, ", ") {
			out[word] = t.Value
		}
	}
	return out
}

// words is the list of them.
func words() []document.Block {
	var out document.List
	for _, t := range terms() {
		out = append(out, t.Name+": "+t.Value+".")
	}
	return []document.Block{document.OnPages(out)}
}
