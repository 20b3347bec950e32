package tablecsv

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"filewise/lab/verdict"
)

// Design holds the rules in a file by which its trials were judged. Rules that the file does not name are zero.
type Design struct {
	Baseline   string
	MaxBlocks  int
	Margin     float64 // percent
	Confidence float64
	Goal       verdict.Goal
	Rules      int
	P99Limit   float64 // seconds
}

// Columns of a design. The first three describe a line's layout; the others are the same in all lines.
const (
	ofNumber = iota
	ofRank
	ofTwin
	ofBaseline
	ofMaxBlocks
	ofMargin
	ofConfidence
	ofGoal
	ofRules
	ofP99Limit
	designColumns
)

var designNames = [designColumns]string{"layout_number", "rank", "twin", "baseline", "max_blocks", "margin_percent", "confidence", "goal",
	"rules", "p99_limit_s"}

type designedArm struct {
	verdict.Arm
	number int
}

// wholes reads columns that hold whole numbers.
func (p *parser) wholes(fields []string, to map[int]*int) (err error) {
	for column, n := range to {
		if *n, err = p.whole(fields, p.at.design[column], designNames[column]); err != nil {
			return err
		}
	}
	return nil
}

// rules reads the design in a line. It returns an error if the design differs from earlier lines.
func (p *parser) rules(fields []string) error {
	text := func(column int) string { return p.at.field(fields, p.at.design[column]) }
	d := Design{Baseline: text(ofBaseline), Goal: verdict.Goal(text(ofGoal))}
	if err := p.wholes(fields, map[int]*int{ofMaxBlocks: &d.MaxBlocks, ofRules: &d.Rules}); err != nil {
		return err
	}
	for column, to := range map[int]*float64{ofMargin: &d.Margin, ofConfidence: &d.Confidence, ofP99Limit: &d.P99Limit} {
		var err error
		if *to, _, err = p.positive(fields, p.at.design[column], designNames[column]); err != nil {
			return err
		}
	}
	line, _ := p.csv.FieldPos(0)
	if p.designed && d != p.design {
		return failf(line, 1, "its rules differ from the lines' before (baseline, max_blocks, margin_percent, confidence, goal, rules and "+
			"p99_limit_s): "+
			"a file has one design")
	}
	p.design, p.designed = d, true
	return nil
}

// planned reads a line's facts about its layout, even if no trial of the layout is judged.
func (p *parser) planned(fields []string) error {
	arm := designedArm{Arm: verdict.Arm{Name: p.at.field(fields, p.at.layout), Twin: p.at.field(fields, p.at.design[ofTwin])}}
	err := p.wholes(fields, map[int]*int{ofNumber: &arm.number, ofRank: &arm.Rank})
	if err != nil || arm.Rank == 0 || arm.number == 0 {
		return err
	}
	if _, err := p.number(arm.Name, p.at.layout, "layout", p.layouts, &p.names, maxLayouts); err != nil {
		return err
	}
	if p.arms == nil {
		p.arms = map[string]designedArm{}
	}
	if before, known := p.arms[arm.Name]; known && before != arm {
		line, _ := p.csv.FieldPos(0)
		return failf(line, 1, "layout %q has another layout_number, rank or twin than before", arm.Name)
	}
	p.arms[arm.Name] = arm
	return nil
}

// whole reads a whole number. It returns 0 if the column or its value is missing.
func (p *parser) whole(fields []string, i int, what string) (int, error) {
	text := p.at.field(fields, i)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > math.MaxInt32 {
		line, column := p.csv.FieldPos(i)
		return 0, failf(line, column, "%s %q is not a whole number", what, text)
	}
	return n, nil
}

// asPlanned sorts the layouts into the order of the plan, if the file has the number of every layout.
func (p *parser) asPlanned(in *Input) {
	in.Design = p.design
	if len(p.arms) < len(p.names) {
		return
	}
	in.Layouts = slices.Clone(p.names)
	slices.SortStableFunc(in.Layouts, func(a, b string) int { return cmp.Compare(p.arms[a].number, p.arms[b].number) })
	for _, name := range in.Layouts {
		in.arms = append(in.arms, p.arms[name].Arm)
	}
}
