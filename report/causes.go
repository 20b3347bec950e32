package report

import (
	"slices"

	"filewise/experiment"
)

// why is the cause of one family's verdict, in words.
type why struct {
	Family    string // empty: the run has one
	Sentences []string
}

// First says most.
func (w why) First() string { return w.Sentences[0] }

// Others are the sentences after the first.
func (w why) Others() []string { return w.Sentences[1:] }

// Causes are those of all families that have one.
func (v view) Causes() []why {
	families := v.Judgement.Families
	if v.whole == nil {
		families = []experiment.Family{{Cause: v.Judgement.Cause}}
	}
	var out []why
	for _, f := range families {
		if f.Cause == nil || len(f.Cause.Sentences) == 0 {
			continue
		}
		if i := slices.IndexFunc(out, func(w why) bool { return slices.Equal(w.Sentences, f.Cause.Sentences) }); i >= 0 {
			out[i].Family += ", " + f.Name
			continue
		}
		out = append(out, why{f.Name, f.Cause.Sentences})
	}
	return out
}

// causes says why, of a few families only: the report has them all.
func (p *page) causes(v view) {
	all := v.Causes()
	if len(all) == 0 || len(all) > mostDetailed {
		return
	}
	for _, w := range all {
		text := "Why: "
		if w.Family != "" {
			text = "Why, " + w.Family + ": "
		}
		for i, s := range w.Sentences {
			if i > 0 {
				text += " "
			}
			text += s
		}
		p.para(text, "  ")
	}
	p.line("")
}

// causes lists them.
func (m *md) causes(v view) {
	all := v.Causes()
	if len(all) == 0 {
		return
	}
	m.para("## Why")
	for _, w := range all {
		for _, s := range w.Sentences {
			m.WriteString("- " + escape(joined(": ", w.Family, s)) + "\n")
		}
	}
	m.WriteString("\n")
}
