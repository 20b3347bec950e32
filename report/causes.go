package report

import (
	"slices"

	"filewise/report/document"
)

// why says why the layouts differ, or do not, by family; of a few families on a
// terminal too.
func (v view) why() []document.Block {
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
	if len(all) == 0 {
		return nil
	}
	var out []document.Block
	for _, f := range all {
		said := f.Blocks[0].(document.List)
		if len(all) <= mostDetailed {
			out = append(out, document.OnTerminal(document.Text(joined(", ", "Why", f.Summary)+": "+joined(" ", said...))))
		}
		switch {
		case len(all) > 2:
			f.Summary, f.Blocks = joined(": ", f.Summary, said[0]), []document.Block{said[1:]}
			out = append(out, f)
		case f.Summary != "":
			out = append(out, document.Heading(f.Summary), said)
		default:
			out = append(out, said)
		}
	}
	return append(out, document.Note("Changes per unit of work are medians over the blocks; an interval is of the difference within blocks "+
		"(Student’s t, 95 %, each by itself). Shares of a gain may overlap and need not add up."))
}
