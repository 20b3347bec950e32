package report

import (
	"slices"

	"filewise/internal/say"
	"filewise/report/document"
)

// mostOpen is of how many families a page says why at once; of more it is folded.
const mostOpen = 2

// causes are the sentences of each family; families of which the same is said share them.
func (v view) causes() []document.Fold {
	var all []document.Fold
	for _, f := range v.parts {
		if f.of.Cause == nil || len(f.of.Cause.Sentences) == 0 {
			continue
		}
		said := document.List(f.of.Cause.Sentences)
		same := func(g document.Fold) bool { return slices.Equal(g.Blocks[0].(document.List), said) }
		if i := slices.IndexFunc(all, same); i >= 0 {
			all[i].Summary += ", " + f.Name
			continue
		}
		all = append(all, document.Fold{Summary: f.Name, Print: true, Blocks: []document.Block{said}})
	}
	return all
}

// why says why the layouts differ, or do not, by family; of a few families on a
// terminal too. A page has few of them in its answer.
func (v view) why() []document.Block {
	all := v.causes()
	if len(all) == 0 {
		return nil
	}
	var out []document.Block
	if len(all) <= mostDetailed {
		for _, f := range all {
			said := f.Blocks[0].(document.List)
			out = append(out, document.OnTerminal(document.Text(say.Joined(", ", "Why", f.Summary)+": "+say.Joined(" ", said...))))
		}
	}
	in := document.Paper
	if len(all) <= mostOpen {
		in = document.Markdown
	}
	return append(out, document.Only{In: in, Blocks: v.whyOnPaper(all)})
}

func (v view) whyOnPaper(all []document.Fold) []document.Block {
	var out []document.Block
	for _, f := range all {
		said := f.Blocks[0].(document.List)
		switch {
		case len(all) > mostOpen:
			f.Summary, f.Blocks = say.Joined(": ", f.Summary, said[0]), []document.Block{said[1:]}
			out = append(out, f)
		case f.Summary != "":
			out = append(out, document.Heading(f.Summary), said)
		default:
			out = append(out, said)
		}
	}
	return out
}

// whyNote says what the figures of the sentences are.
func (v view) whyNote() []document.Block {
	if len(v.causes()) == 0 {
		return nil
	}
	return notes("Why: changes per unit of work are medians over the blocks; an interval is of the difference within blocks " +
		"(Student’s t, 95 %, each by itself). Shares of a gain may overlap and need not add up.")
}
