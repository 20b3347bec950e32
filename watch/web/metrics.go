package web

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/lab/probe"
	"filewise/results/report"
)

// The labels of a run, and of one of its layouts.
var (
	runLabels       = []string{"run", "engine", "scenario"}
	layoutLabels    = append(append([]string(nil), runLabels...), "layout")
	operationLabels = append(append([]string(nil), layoutLabels...), "family")
)

// metric describes a gauge and the names of its labels.
type metric struct {
	name, help string
	labels     []string
}

func newMetric(name, help string, labels []string, more ...string) *metric {
	return &metric{"filewise_" + name, help, append(slices.Clone(labels), more...)}
}

// The metrics of the run in progress, or else of the newest run.
var (
	metricBuild     = newMetric("build_info", "Filewise's version; the value is 1.", nil, "version", "goversion")
	metricState     = newMetric("run_state", "1 for the state of the run: running, paused, done, interrupted or failed.", runLabels, "state")
	metricStarted   = newMetric("run_start_time_seconds", "When the run started, since the epoch.", runLabels)
	metricElapsed   = newMetric("run_trial_time_seconds", "Wall time of all finished trials of the run, pilots included.", runLabels)
	metricBlocks    = newMetric("run_blocks", "Complete blocks.", runLabels)
	metricMaxBlocks = newMetric("run_blocks_planned", "Blocks at most.", runLabels)
	metricWarnings  = newMetric("run_warnings", "Warnings about the run.", runLabels)
	metricTrials    = newMetric("trials", "Trials in blocks, by how they ended.", layoutLabels, "state")
	metricPlanned   = newMetric("trials_planned", "Trials in blocks at most: fewer when the layout is dropped or it is decided early.",
		layoutLabels)
	metricStage    = newMetric("trial_stage", "1 for the stage of the running trial; absent when none runs.", layoutLabels, "stage")
	metricSeconds  = newMetric("trial_elapsed_seconds", "Time since the running trial began.", layoutLabels)
	metricNow      = newMetric("trial_throughput", "Throughput of the running trial now, in units per second.", operationLabels, "unit")
	metricTypical  = newMetric("layout_throughput", "Throughput of the layout's typical trial, in units per second.", operationLabels, "unit")
	metricEstimate = newMetric("layout_difference_ratio", "Estimated difference of throughput from the baseline: 0.06 is 6 % more.",
		operationLabels)
	metricLow     = newMetric("layout_difference_low_ratio", "Lower limit of the difference's interval.", operationLabels)
	metricHigh    = newMetric("layout_difference_high_ratio", "Upper limit of the difference's interval.", operationLabels)
	metricWritten = newMetric("layout_write_amplification_ratio",
		"Bytes that the server wrote for each byte of the work's data, in the layout's typical trial.", operationLabels)
	metricCycles = newMetric("layout_checkpoint_cycles", "Checkpoint cycles in the measured window of the layout's typical trial.",
		operationLabels)
	metricBest = newMetric("layout_recommended", "1 for the layout that the verdict recommends, else 0.", operationLabels)

	metricDecision = newMetric("run_decision", "1 for what the run comes to: use, keep, more, open or none.", runLabels, "family", "decision")
	metricBound    = newMetric("run_gain_bound_ratio", "The most that any tested layout can gain over the baseline: 0.02 is 2 %.", runLabels,
		"family")

	metricLatency = newMetric("layout_latency_seconds", "What so many of the layout's operations stay within: operations of a type, or all.",
		operationLabels, "operation", "percentile")

	metricWaiting = newMetric("trial_waiting_sessions", "Sessions that wait at a time, by the class of their waits: the mean of the running "+
		"trial's window so far.", operationLabels, "class")
	metricMemory = newMetric("trial_memory_bytes", "Memory of the machine: the mean of the running trial's window so far.", layoutLabels,
		"kind")
)

// scrape holds the lines of each metric for one scrape.
type scrape map[*metric][]string

var escaped = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// gauge adds a value. Labels may be names chosen by users, so invalid UTF-8 in them is replaced.
func (s scrape) gauge(m *metric, x float64, labels ...string) {
	pairs := make([]string, len(m.labels))
	for i, name := range m.labels {
		pairs[i] = name + `="` + escaped.Replace(strings.ToValidUTF8(labels[i], "\uFFFD")) + `"`
	}
	s[m] = append(s[m], fmt.Sprintf("%s{%s} %s\n", m.name, strings.Join(pairs, ","), strconv.FormatFloat(x, 'g', -1, 64)))
}

// metrics answers /metrics in Prometheus' text format: https://prometheus.io/docs/instrumenting/exposition_formats/. It
// counts nothing between scrapes.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	lines := s.scrape(r.Context())
	var b strings.Builder
	for _, m := range slices.SortedFunc(maps.Keys(lines), func(a, b *metric) int { return strings.Compare(a.name, b.name) }) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s gauge\n%s", m.name, m.help, m.name, strings.Join(lines[m], ""))
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = io.WriteString(w, b.String()) // an error only means that the client has gone
}

// scrape returns the current metrics.
func (s *Server) scrape(ctx context.Context) scrape {
	out := make(scrape)
	out.gauge(metricBuild, 1, s.config.Version, runtime.Version())
	picture := s.current(ctx)
	out.ofFleet(picture.fleet)
	status := picture.status
	p := status.Progress
	if p == nil {
		return out
	}
	run := []string{strconv.FormatInt(p.Run, 10), p.Engine, p.Scenario}
	out.ofRun(run, p, status.Now)
	for _, l := range p.Operations[0].Layouts {
		out.ofLayout(append(run[:3:3], l.Name), p, l)
	}
	for _, f := range p.Operations {
		operation := append(run[:3:3], f.Name)
		out.gauge(metricDecision, 1, append(operation[:4:4], string(f.Decision.Decision))...)
		if most := f.Decision.BoundPercent; most != nil {
			out.gauge(metricBound, *most/100, operation...)
		}
		for _, l := range f.Layouts {
			out.ofOperation(append(run[:3:3], l.Name, f.Name), p, l)
		}
	}
	for _, l := range p.Types {
		out.ofLatency(append(run[:3:3], l.Layout, l.Operation, l.Type), l.P50, l.P99, l.P999)
	}
	if n := status.Now; n != nil && n.Stage != "" {
		out.ofTrial(append(run[:3:3], n.Cell.Layout), n)
		out.ofCounters(append(run[:3:3], n.Cell.Layout), n)
	}
	return out
}

func (s scrape) ofRun(run []string, p *Progress, n *Now) {
	state := p.State
	if n != nil && n.Pausing && n.Stage == "" {
		state = "paused"
	}
	s.gauge(metricState, 1, append(run, state)...)
	s.gauge(metricStarted, float64(p.Started.UnixMilli())/1e3, run...)
	s.gauge(metricElapsed, p.Elapsed, run...)
	s.gauge(metricBlocks, float64(p.Blocks), run...)
	s.gauge(metricMaxBlocks, float64(p.MaxBlocks), run...)
	s.gauge(metricWarnings, float64(len(p.Warnings)), run...)
}

func (s scrape) ofLayout(layout []string, p *Progress, l report.LayoutDoc) {
	s.gauge(metricTrials, float64(l.Done), append(layout, string(filewise.Done))...)
	s.gauge(metricTrials, float64(l.Failed), append(layout, string(filewise.Failed))...)
	planned := p.MaxBlocks
	if l.DroppedAt > 0 {
		planned = l.DroppedAt
	}
	s.gauge(metricPlanned, float64(planned), layout...)
}

// ofOperation adds a layout's results. Unknown values are left out.
func (s scrape) ofOperation(operation []string, p *Progress, l report.LayoutDoc) {
	if l.Typical != nil {
		s.gauge(metricTypical, *l.Typical, append(operation, strings.TrimSuffix(l.Unit, "/s"))...)
	}
	for d, x := range map[*metric]*float64{metricWritten: l.WrittenPerByte, metricCycles: l.CheckpointCycles} {
		if x != nil {
			s.gauge(d, *x, operation...)
		}
	}
	if t := l.Latency; t != nil {
		s.ofLatency(append(operation[:len(operation):len(operation)], "all"), t.P50, t.P99, t.P999)
	}
	best := 0.0
	if l.Recommended {
		best = 1
	}
	s.gauge(metricBest, best, operation...)
	if l.Name == p.Baseline {
		return
	}
	for d, percent := range map[*metric]*float64{metricEstimate: l.Percent, metricLow: l.PercentLow, metricHigh: l.PercentHigh} {
		if percent != nil {
			s.gauge(d, *percent/100, operation...)
		}
	}
}

func (s scrape) ofLatency(labels []string, p50, p99, p999 time.Duration) {
	for i, took := range []time.Duration{p50, p99, p999} {
		s.gauge(metricLatency, took.Seconds(), append(labels[:len(labels):len(labels)], []string{"50", "99", "99.9"}[i])...)
	}
}

func (s scrape) ofTrial(layout []string, n *Now) {
	s.gauge(metricStage, 1, append(layout, n.Stage)...)
	s.gauge(metricSeconds, n.Seconds, layout...)
	if n.Throughput != nil {
		s.gauge(metricNow, *n.Throughput, append(layout, n.Operation, n.Unit)...)
	}
}

// ofCounters adds the counters of the running trial's probes.
func (s scrape) ofCounters(layout []string, n *Now) {
	waiting := make(map[filewise.WaitClass]float64)
	for _, c := range n.Counters {
		switch {
		case c.Probe == filewise.ProbeWaits && c.Unit == "s" && c.PerSecond != nil:
			waiting[c.Class] += *c.PerSecond
		case c.Probe == probe.ProbeMemory:
			s.gauge(metricMemory, c.Value, append(layout, c.Name)...)
		}
	}
	for class, x := range waiting {
		s.gauge(metricWaiting, x, append(layout, n.Operation, string(class))...)
	}
}
