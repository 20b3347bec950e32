package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/cause"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
	"filewise/lab/workload"
	"filewise/results/gate"
	"filewise/results/report/chart"
	"filewise/results/report/document"
)

// Schema is the version of the JSON document. The number grows if a field is renamed, removed or changes its meaning.
// New fields alone do not change it.
const Schema = "filewise-report/1"

// Document is the JSON form of a run. Durations are in nanoseconds if their names end in _ns. Effects are on the
// natural log scale. Values that are not known are null or missing.
type Document struct {
	Schema   string     `json:"schema"`
	RunID    int64      `json:"run"`
	Version  string     `json:"version"` // of Filewise
	State    string     `json:"state"`
	Started  *time.Time `json:"started"`
	Ended    *time.Time `json:"ended"`
	Rejudged bool       `json:"rejudged"` // judged by other rules than the run's own
	Headline string     `json:"headline"` // the verdict in a sentence
	// Decision is the first operation's decision. Each of Operations has its own.
	Decision  verdict.DecisionDoc `json:"decision"`
	Layouts   []LayoutDoc         `json:"layouts"`
	Judgement judgementDoc        `json:"judgement"`
	Plan      experiment.Plan     `json:"plan"`
	Scenario  workload.Scenario   `json:"scenario"`
	Machine   []filewise.Fact     `json:"machine"`
	Server    []filewise.Fact     `json:"server"`
	Trials    []trialDoc          `json:"trials"`
	// Operations holds the tables of all operations, if there are several. Layouts is the table of the overall operation, or else
	// of the first.
	Operations  []OperationDoc `json:"families,omitempty"`
	Published   []comparison   `json:"published_beside_measured,omitempty"`
	AsPublished *asPublished   `json:"as_published,omitempty"`
	// Waits holds the waits of connections, and Spread the evenness of files' use, by operation. Each is absent if it was not
	// read.
	Waits  []waitsDoc     `json:"waits,omitempty"`
	Spread []spreadDoc    `json:"spread,omitempty"`
	Gate   []gate.Outcome `json:"gate,omitempty"` // outcomes of the conditions of --fail-if
	// Tables holds all tables of the report as people read them, with the values behind the texts.
	Tables []document.Values `json:"tables"`
}

// judgementDoc holds the first operation's verdict and the rest of the judgement, and the operations if there are several.
type judgementDoc struct {
	experiment.Judgement
	Result    verdict.Result `json:"verdict"`
	Sentences []string       `json:"sentences"`
	Cause     *cause.Cause   `json:"cause,omitempty"`
	// Latency holds the first operation's latency, by layout.
	Latency []experiment.LayoutLatency `json:"latency,omitempty"`
	// LatencyLoss reports that a layout to use loses in latency. It is absent if none does.
	LatencyLoss string `json:"latency_loss,omitempty"`
	// Stalls reports which trials stalled and the cost of that, or how many could stall although none did. It is absent if
	// that is not known yet.
	Stalls     string                 `json:"stalls,omitempty"`
	Operations []experiment.Operation `json:"families,omitempty"`
}

func judgementOf(j experiment.Judgement) judgementDoc {
	first := j.First()
	doc := judgementDoc{Judgement: j, Result: first.Result, Sentences: j.Sentences(), Cause: first.Cause, Latency: first.Latency,
		LatencyLoss: j.LatencyLoss(), Stalls: j.Stalls()}
	if len(j.Operations) > 1 {
		doc.Operations = j.Operations
	}
	return doc
}

// waitsDoc holds the waits of one operation, in seconds per unit of work.
type waitsDoc struct {
	Operation string           `json:"family,omitempty"`
	Layouts   []layoutWaitsDoc `json:"layouts"`
}

type layoutWaitsDoc struct {
	Layout  string                          `json:"layout"`
	Classes map[filewise.WaitClass]*float64 `json:"seconds_per_unit"`
	Share   *float64                        `json:"share_of_connections_time"` // 1 means all of the time
}

// spreadDoc holds, for each kind, the busiest data file's load divided by the mean load.
type spreadDoc struct {
	Operation string            `json:"family,omitempty"`
	Kinds     []string          `json:"kinds"`
	Layouts   []layoutSpreadDoc `json:"layouts"`
}

type layoutSpreadDoc struct {
	Layout  string     `json:"layout"`
	Files   int        `json:"files"`
	Balance []*float64 `json:"balance"` // null means there is one file, or nothing was counted
}

func waitsDocs(v view) []waitsDoc {
	var out []waitsDoc
	for _, f := range v.parts {
		w, ok := f.waited()
		if !ok {
			continue
		}
		doc := waitsDoc{Operation: w.Operation}
		for _, l := range w.Layouts {
			classes := map[filewise.WaitClass]*float64{}
			for k, c := range w.Classes {
				classes[c] = number(l.Class[k]) // null means no trial of the layout has the class
			}
			doc.Layouts = append(doc.Layouts, layoutWaitsDoc{l.Layout, classes, number(l.Share)})
		}
		out = append(out, doc)
	}
	return out
}

func spreadDocs(v view) []spreadDoc {
	var out []spreadDoc
	for _, part := range v.parts {
		f, ok := part.fileLoads()
		if !ok {
			continue
		}
		doc := spreadDoc{Operation: f.Operation, Kinds: f.Kinds}
		for _, l := range f.Layouts {
			x := layoutSpreadDoc{Layout: l.Layout, Files: len(l.Files)}
			for _, b := range l.Balance {
				x.Balance = append(x.Balance, number(b))
			}
			doc.Layouts = append(doc.Layouts, x)
		}
		out = append(out, doc)
	}
	return out
}

// OperationDoc holds the outcome of one operation.
type OperationDoc struct {
	Name     string              `json:"name"`
	Headline string              `json:"headline"`
	Decision verdict.DecisionDoc `json:"decision"`
	Layouts  []LayoutDoc         `json:"layouts"`
}

// LayoutDoc is one row of the table.
type LayoutDoc struct {
	Name           string   `json:"name"`
	Baseline       bool     `json:"baseline"`
	Recommended    bool     `json:"recommended"`
	Done           int      `json:"trials_done"`
	Failed         int      `json:"trials_failed"`
	Unit           string   `json:"unit,omitempty"`       // unit of throughput
	Typical        *float64 `json:"typical"`              // throughput of the typical trial
	TypicalIs      string   `json:"typical_is"`           // "robust" or, before the first analysis, "median"
	BytesPerSecond *float64 `json:"bytes_per_second"`     // payload of the typical trial
	Percent        *float64 `json:"difference_percent"`   // against the baseline; a dropped layout keeps its last difference
	PercentLow     *float64 `json:"difference_low"`       // limits of the interval, in percent
	PercentHigh    *float64 `json:"difference_high"`      //
	Text           string   `json:"difference"`           // the difference as text
	Mark           string   `json:"mark"`                 // best, within the margin, worse, undecided, …
	DroppedAt      int      `json:"dropped_at,omitempty"` // the layout was not measured after this block
	// WrittenPerByte is the number of bytes that the server writes per byte of the work's data. CheckpointCycles is the
	// number of checkpoint cycles in a measured window. Both are from the median trial.
	WrittenPerByte   *float64 `json:"bytes_written_per_byte,omitempty"`
	CheckpointCycles *float64 `json:"checkpoint_cycles,omitempty"`
	// Latency is the latency of the operation's executions. It is absent if there were too few operations.
	Latency *experiment.LayoutLatency `json:"latency,omitempty"`
	row     row
}

// Estimate returns the last interim analysis's estimate of the layout. Its numbers are NaN if nothing is known.
func (l LayoutDoc) Estimate() verdict.Estimate { return l.row.Estimate }

// Timed reports whether the measured quantity is a time.
func (l LayoutDoc) Timed() bool { return l.row.Timed }

// Class returns a class of marks that share a colour.
func (l LayoutDoc) Class() string { return l.row.markClass() }

// Drawn returns the layout as a line of a plot of differences. ok is false if nothing is known.
func (l LayoutDoc) Drawn(name string) (m chart.Estimate, ok bool) { return estimateOf(l.row, name) }

// trialDoc is a trial without its slices, which only the export has.
type trialDoc struct {
	filewise.Trial
	Measures []measureDoc `json:"measures"`
}

// measureDoc is a measure in which NaN is null, since JSON has no NaN.
type measureDoc struct {
	filewise.Measure
	Slices     *struct{}  `json:"slices,omitempty"` // hides the slices
	Work       *float64   `json:"work"`
	Bytes      *float64   `json:"bytes"`
	Throughput *float64   `json:"throughput"` // units of work per second of the window
	Deltas     []deltaDoc `json:"deltas,omitempty"`
}

type deltaDoc struct {
	filewise.Delta
	Value *float64 `json:"value"`
}

// JSON writes the run as one JSON document.
func JSON(w io.Writer, d Data) error {
	v := newView(d)
	doc := Document{
		Schema: Schema, RunID: d.RunID, Version: d.Version, State: d.State,
		Started: when(d.Started), Ended: when(d.Ended), Rejudged: d.Rejudged, Headline: v.Headline(), Decision: v.of.Result.Document(),
		Layouts: layoutDocs(v), Judgement: judgementOf(d.Judgement), Plan: d.Plan, Scenario: d.Scenario,
		Machine: orEmpty(d.Machine), Server: orEmpty(d.Server), Trials: trialDocs(d.Trials),
		AsPublished: v.besidePublished(), Waits: waitsDocs(v), Spread: spreadDocs(v), Tables: v.document().Tables(),
		Published: v.shapes(), Gate: d.Gate,
	}
	if v.several() {
		doc.Operations = v.operationDocs()
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		return fmt.Errorf("write the result as JSON: %w", err)
	}
	return nil
}

func layoutDocs(v view) []LayoutDoc {
	out := make([]LayoutDoc, 0, len(v.Rows))
	best := v.recommended()
	for _, r := range v.Rows {
		doc := LayoutDoc{
			Name: r.Name, Baseline: r.Baseline, Recommended: best != nil && best.Name == r.Name,
			Done: r.Done, Failed: r.Failed, Typical: number(r.Typical), TypicalIs: "robust",
			BytesPerSecond: number(r.Bytes), Percent: percentage(r.Estimate.Effect),
			PercentLow: percentage(r.Estimate.Lo), PercentHigh: percentage(r.Estimate.Hi),
			Text: r.differenceText(), Mark: r.markText(), DroppedAt: r.Estimate.DroppedAt,
			WrittenPerByte:   number(reading(byServer).median(v.measuresOf(r.Name, ofWriting))),
			CheckpointCycles: number(cycles.median(v.measuresOf(r.Name, ofWriting))), Latency: r.Latency, row: r,
		}
		if v.Unit != "" {
			doc.Unit = v.unitRate()
		}
		if r.Median {
			doc.TypicalIs = "median"
		}
		out = append(out, doc)
	}
	return out
}

// operationDocs returns the outcomes of all operations.
func (v view) operationDocs() []OperationDoc {
	var out []OperationDoc
	for _, f := range v.parts {
		out = append(out, OperationDoc{cmp.Or(f.Name, f.Operation), f.Headline(), f.of.Result.Document(), layoutDocs(f)})
	}
	return out
}

func trialDocs(trials []filewise.Trial) []trialDoc {
	out := make([]trialDoc, 0, len(trials))
	for _, t := range trials {
		doc := trialDoc{Trial: t, Measures: []measureDoc{}}
		for _, m := range t.Measures {
			x := measureDoc{Measure: m, Work: number(m.Work), Bytes: number(m.Bytes)}
			if m.Throughput() > 0 {
				x.Throughput = number(m.Throughput())
			}
			for _, d := range m.Deltas {
				x.Deltas = append(x.Deltas, deltaDoc{d, number(d.Value)})
			}
			doc.Measures = append(doc.Measures, x)
		}
		out = append(out, doc)
	}
	return out
}

func when(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// number returns a pointer to x, or nil if x is not known.
func number(x float64) *float64 {
	if !say.Known(x) {
		return nil
	}
	return &x
}

func percentage(effect float64) *float64 {
	if !say.Known(effect) {
		return nil
	}
	return number(verdict.Percent(effect))
}

func orEmpty(facts []filewise.Fact) []filewise.Fact {
	if facts == nil {
		return []filewise.Fact{}
	}
	return facts
}
