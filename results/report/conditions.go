package report

import (
	"fmt"
	"slices"

	"filewise"
	"filewise/internal/say"
	"filewise/results/report/document"
)

// conditions returns the conditions under which the run answers a question about files.
func (v view) conditions() []document.Block {
	all := v.Judgement.Conditions
	if len(all) == 0 {
		return nil
	}
	t := document.Table{Caption: "Conditions of meaning: what was measured, and what a run needs to answer a question about files"}
	table := document.Tabulate(t, all,
		document.Words("holds", func(c filewise.Condition) string { return c.Sign() }),
		document.Name("condition", func(c filewise.Condition) string { return string(c.Name) }),
		document.Words("measured", conditionMeasured),
		document.Words("threshold", func(c filewise.Condition) string { return c.Threshold }),
		document.Words("would mend it", func(c filewise.Condition) string { return c.Mend }))
	lines := filewise.Each(all, func(c filewise.Condition) string {
		return fmt.Sprintf("%s %s: %s; needed: %s", c.Sign(), c.Name, say.Joined("; ", conditionMeasured(c), mends(c)), c.Threshold)
	})
	out := []document.Block{document.OnTerminal(document.List(lines)), onPaper(table)}
	for _, r := range v.Plan.Rungs {
		out = append(out, document.Everywhere(document.Text(r.Climbed())))
	}
	return out
}

// conditionMeasured returns the measured value of a condition.
func conditionMeasured(c filewise.Condition) string {
	if c.Unknown {
		return "not measured"
	}
	return c.Measured
}

// mends returns the change that would mend a condition, or "" if none is known.
func mends(c filewise.Condition) string {
	if c.Mend == "" {
		return ""
	}
	return "would mend it: " + c.Mend
}

// conditionsInShort lists the conditions with their signs. For broken conditions it adds the measured value and a
// remedy: "reach ✔, reads ✘ (54 MiB of data; would mend it: more --warehouses)".
func conditionsInShort(all []filewise.Condition) string {
	if !slices.ContainsFunc(all, func(c filewise.Condition) bool { return !c.Unknown }) {
		return ""
	}
	var words []string
	for _, c := range all {
		word := fmt.Sprintf("%s %s", c.Name, c.Sign())
		if c.Broken() {
			word += " (" + say.Joined("; ", c.Measured, mends(c)) + ")"
		}
		words = append(words, word)
	}
	return "Conditions: " + say.Joined(", ", words...) + "."
}

// Conditions lists the conditions of meaning of a run so far. It is empty if none was measured.
func Conditions(d Data) string { return conditionsInShort(d.Judgement.Conditions) }
