package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"filewise"
	"filewise/internal/say"
	"filewise/report/document"
)

// spent is one part of the run's wall time.
type spent struct {
	Name  string
	Took  time.Duration
	Whole time.Duration
}

// share is the part of the whole: "62 %".
func (s spent) share() string { return say.Share(float64(s.Took), float64(s.Whole)) }

// stageWords are what the stages are for, where the name alone does not say.
var stageWords = map[string]string{
	"measure":            "measuring",
	filewise.StageCreate: "making first builds", filewise.StageBuild: "building layouts", filewise.StageObserve: "observing the files",
	filewise.StageLoad: "loading data", filewise.StageExtend: "adding files to loaded databases",
	filewise.StageSettle: "settling", filewise.StageWarmUp: "warming up",
	filewise.StageDrain: "draining until durable", filewise.StageCheck: "checking the data",
	filewise.StageDrop: "dropping layouts", "pilot": "pilots",
}

// where says where the wall time of the trials went: measuring first, then the
// rest, largest first. It is empty when nothing was timed.
func (v view) where() []spent {
	whole := v.Judgement.Elapsed
	sum := time.Duration(0)
	for _, s := range v.Judgement.Stages {
		sum += s.Took
	}
	whole = max(whole, sum)
	if whole <= 0 {
		return nil
	}
	out := []spent{{stageWords["measure"], v.Judgement.Measuring, whole}}
	for _, s := range v.Judgement.Stages {
		if s.Name == filewise.StageMeasure {
			// What the stage took beyond the measured windows is shown as such.
			s.Name, s.Took = "around the measured windows", s.Took-v.Judgement.Measuring
			if float64(s.Took) < 0.001*float64(whole) {
				continue
			}
		}
		if s.Took > 0 {
			out = append(out, spent{stageName(s.Name), s.Took, whole})
		}
	}
	if rest := whole - sum; float64(rest) >= 0.001*float64(whole) {
		out = append(out, spent{"between stages", rest, whole})
	}
	slices.SortStableFunc(out[1:], func(a, b spent) int { return cmp.Compare(b.Took, a.Took) })
	return out
}

func stageName(name string) string {
	if w, ok := stageWords[name]; ok {
		return w
	}
	return name
}

// elapsed is the wall time of the trials.
func (v view) elapsed() string {
	if v.Judgement.Elapsed <= 0 {
		return say.Absent
	}
	return say.Human(v.Judgement.Elapsed)
}

// time is where the time went, on a terminal in a sentence.
func (v view) time() []document.Block {
	all := v.where()
	if len(all) == 0 {
		return []document.Block{document.OnPages(document.Text("Nothing was timed yet."))}
	}
	said := fmt.Sprintf("Time: %s of trials, %s of it measuring", say.Human(all[0].Whole), all[0].share())
	for i, s := range all[1:] {
		said += map[bool]string{true: "; ", false: ", "}[i == 0] + s.Name + " " + s.share()
	}
	table := document.Tabulate(document.Table{Caption: "Wall time of all trials: " + v.elapsed(), Class: "where"}, all,
		document.Name("stage", func(s spent) string { return s.Name }),
		document.Num("time", func(s spent) string { return say.Human(s.Took) }).Raw("s", func(s spent) float64 { return s.Took.Seconds() }),
		document.Num("share", spent.share),
		document.Cells("", func(s spent) document.Cell {
			class := map[bool]string{true: "best", false: "rest"}[s.Name == stageWords["measure"]]
			return document.Cell{Class: class, Bar: 100 * float64(s.Took) / float64(s.Whole)}
		}).As("bar").Only(document.HTML))
	return []document.Block{table, document.OnTerminal(document.Text(said + "."))}
}

// stamp is a moment, in the time zone that was stored.
func stamp(t time.Time) string {
	if t.IsZero() {
		return say.Absent
	}
	return t.Format("2006-01-02 15:04:05 -07:00")
}
