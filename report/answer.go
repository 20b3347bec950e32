package report

import (
	"fmt"
	"strings"

	"filewise/internal/say"
	"filewise/report/document"
)

// mostWarnings are shown on a screen; the report has all.
const mostWarnings = 3

// answer is what a terminal shows at the end of a run, on one screen: the verdict, the
// table, why, what to be wary of, and where the rest is.
func (v view) answer() document.Block {
	out := []document.Block{document.Headline(v.Headline())}
	for _, s := range []string{v.latencyLoss(), v.rules()} {
		if s != "" {
			out = append(out, document.Line{Text: s})
		}
	}
	return document.OnScreen(out...)
}

// answerTable is the table of the layouts, or of all families.
func (v view) answerTable() document.Block {
	table := document.Tabulate(document.Table{Caption: "The answer"}, v.Rows, v.layoutColumns()...)
	out := []document.Block{table}
	if v.several() {
		out = []document.Block{v.overviewLines()}
	}
	for _, s := range v.footnotes() {
		if s != "" {
			out = append(out, document.Note(s))
		}
	}
	return document.OnScreen(out...)
}

// answerRest is why, the first warnings, and where the rest is.
func (v view) answerRest() document.Block {
	var out []document.Block
	if s := v.causeInShort(); s != "" {
		out = append(out, document.Text(s))
	}
	all := Notices(v.Judgement.Warnings)
	for _, w := range all[:min(len(all), mostWarnings)] {
		out = append(out, document.Notice{Message: w.Message})
	}
	more := "Report: "
	if n := len(all) - mostWarnings; n > 0 {
		more = fmt.Sprintf("%d more in the report: ", n)
	}
	rest := say.Joined(" ", v.stopped(), more+v.showCommand()+", or --full here.")
	if v.Rejudged {
		rest = v.storedVerdict()
	}
	return document.OnScreen(append(out, document.Note(rest))...)
}

// causeInShort is the first thing that changed with the difference, without its interval;
// where nothing did, where the time went.
func (v view) causeInShort() string {
	c := v.of.Cause
	if c == nil || len(c.Sentences) == 0 {
		return v.relevance()
	}
	said := c.Sentences[0]
	if i := strings.LastIndex(said, " ("); i > 0 && strings.HasSuffix(said, ").") && strings.Contains(said[i:], "interval") {
		said = said[:i] + "."
	}
	return "Why: " + said
}

// latencyLoss says that the layout to use is slow where it matters; empty: it is not.
func (v view) latencyLoss() string {
	if !v.several() {
		return v.of.LatencyLoss
	}
	var out []string
	for _, f := range v.parts {
		if s := f.of.LatencyLoss; s != "" {
			out = append(out, say.Sentence(f.Name)+": "+s)
		}
	}
	return say.Joined(" ", out...)
}
