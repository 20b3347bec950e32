package plan

import (
	"strconv"

	"filewise"
	"filewise/internal/limit"
	"filewise/internal/maintenance"
	"filewise/internal/nearest"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
)

// JudgeOptions sets how trials are judged. The command judge has these options too.
type JudgeOptions struct {
	Margin     Opt[float64]
	Confidence Opt[float64]
	Goal       Opt[string]
	Baseline   Opt[string]
	Rules      Opt[int]
}

// Table returns the rows of these options.
func (o *JudgeOptions) Table() []Option {
	return []Option{
		Row(&o.Margin, "margin", 2, "ignore differences below this `percent`"),
		Row(&o.Confidence, "confidence", 95, "confidence in `percent`, over all layouts and interim analyses"),
		Row(&o.Goal, "goal", string(verdict.GoalRecommend), "`goal`: recommend a layout (recommend), prove that none is more than "+
			"the margin faster (best), or resolve every layout (verdicts)").
			oneOf(string(verdict.GoalRecommend), string(verdict.GoalBest), string(verdict.GoalVerdicts)),
		Row(&o.Baseline, "baseline", "", "compare with this `layout`, by name or number of files (default the first)"),
		Row(&o.Rules, "rules", verdict.NewestRules, "`rules` to judge by, 1 to 3; a stored run keeps its own").between(1,
			verdict.NewestRules),
	}
}

// Override replaces a stored plan's rules by the given options.
func (o JudgeOptions) Override(p *experiment.Plan) error {
	if !o.Margin.Given() {
		o.Margin.Value = p.Margin
	}
	if !o.Confidence.Given() {
		o.Confidence.Value = 100 * p.Confidence
	}
	if !o.Goal.Given() {
		o.Goal.Value = string(p.Goal)
	}
	if !o.Rules.Given() {
		o.Rules.Value = p.JudgedBy()
	}
	return o.Apply(p)
}

// Apply sets how the plan's trials are judged.
func (o *JudgeOptions) Apply(p *experiment.Plan) (err error) {
	margin, confidence := o.Margin.Value, o.Confidence.Value
	if !(margin > 0 && margin <= 100) {
		return OutOfRange("margin", margin, "use a percentage above 0, up to 100 (default 2)")
	}
	if !(confidence >= 50 && confidence <= 99.99) {
		return OutOfRange("confidence", confidence, "use a percentage from 50 to 99.99 (default 95)")
	}
	if o.Rules.Value < 1 || o.Rules.Value > verdict.NewestRules {
		return OutOfRange("rules", o.Rules.Value, "give 1, 2 or 3")
	}
	p.Margin, p.Confidence, p.Rules = margin, confidence/100, o.Rules.Value
	if p.Target.Database != "" && !o.Rules.Given() {
		p.Rules = verdict.RaceRules
	}
	if p.Goal, err = Choice("goal", o.Goal.Value, verdict.GoalRecommend, verdict.GoalBest, verdict.GoalVerdicts); err != nil {
		return err
	}
	return o.setBaseline(p)
}

func (o *JudgeOptions) setBaseline(p *experiment.Plan) error {
	wanted := o.Baseline.Value
	if wanted == "" {
		if p.Baseline == "" {
			p.Baseline = p.Layouts[0].Name
		}
		return nil
	}
	var names []string
	for _, l := range p.Layouts {
		if l.Name == p.AA && p.AA != "" {
			continue // it checks the baseline, and cannot be the baseline
		}
		if wanted == l.Name || wanted == strconv.Itoa(l.Data.Files) {
			p.Baseline = l.Name
			return nil
		}
		names = append(names, l.Name)
	}
	return nearest.Unknown("--baseline", wanted, names)
}

// StopOptions sets when a run yields to others, in run, plan and resume.
type StopOptions struct {
	AbortIf Opt[[]string]
	Windows Opt[[]string]
}

// Table returns the rows of these options.
func (o *StopOptions) Table() []Option {
	return []Option{
		Row(&o.AbortIf, "abort-if", nil, "stop beyond this `limit` of others' activity, such as active>5 or sessions>100; resume "+
			"continues (repeatable)"),
		Row(&o.Windows, "maintenance-window", nil, "measure only in these local `hours`, such as 22:00-06:00 or Sat,Sun 08:00-20:00 "+
			"(repeatable)"),
	}
}

func (m *maker) setStops() error { return m.o.StopOptions.Apply(&m.plan) }

// Apply sets the given options in the plan.
func (o *StopOptions) Apply(p *experiment.Plan) error {
	if limits := o.AbortIf.Value; len(limits) > 0 {
		if _, err := limit.ParseAll(limits); err != nil {
			return err
		}
		if p.Target.Mode != filewise.External && p.Origin() == nil {
			return badUse("abort-if", limits[0], "it watches the server of --target; on "+p.Target.Engine+
				" that Filewise starts no one else works: leave it out")
		}
		p.AbortIf = limits
	}
	if windows := o.Windows.Value; len(windows) > 0 {
		if _, err := maintenance.ParseAll(windows); err != nil {
			return err
		}
		p.Maintenance = windows
	}
	return nil
}
