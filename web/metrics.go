package web

import (
	"context"
	"net/http"
	"runtime"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"filewise"
	"filewise/probe"
	"filewise/report"
)

// The labels of a run, and of a layout of it.
var (
	runLabels    = []string{"run", "engine", "scenario"}
	layoutLabels = append(append([]string(nil), runLabels...), "layout")
	familyLabels = append(append([]string(nil), layoutLabels...), "family")
)

func metric(name, help string, labels []string, more ...string) *prometheus.Desc {
	return prometheus.NewDesc("filewise_"+name, help, append(append([]string(nil), labels...), more...), nil)
}

// The metrics: of the run that is measured, or else of the newest one.
var (
	metricBuild     = metric("build_info", "Filewise's version; the value is 1.", nil, "version", "goversion")
	metricState     = metric("run_state", "1 for the state of the run: running, paused, done, interrupted or failed.", runLabels, "state")
	metricStarted   = metric("run_start_time_seconds", "When the run started, since the epoch.", runLabels)
	metricElapsed   = metric("run_trial_time_seconds", "Wall time of all finished trials of the run, pilots included.", runLabels)
	metricBlocks    = metric("run_blocks", "Complete blocks.", runLabels)
	metricMaxBlocks = metric("run_blocks_planned", "Blocks at most.", runLabels)
	metricWarnings  = metric("run_warnings", "Warnings about the run.", runLabels)
	metricTrials    = metric("trials", "Trials in blocks, by how they ended.", layoutLabels, "state")
	metricPlanned   = metric("trials_planned", "Trials in blocks at most: fewer when the layout is dropped or it is decided early.", layoutLabels)
	metricStage     = metric("trial_stage", "1 for the stage of the running trial; absent when none runs.", layoutLabels, "stage")
	metricSeconds   = metric("trial_elapsed_seconds", "Time since the running trial began.", layoutLabels)
	metricNow       = metric("trial_throughput", "Throughput of the running trial now, in units per second.", familyLabels, "unit")
	metricTypical   = metric("layout_throughput", "Throughput of the layout's typical trial, in units per second.", familyLabels, "unit")
	metricEstimate  = metric("layout_difference_ratio", "Estimated difference of throughput from the baseline: 0.06 is 6 % more.", familyLabels)
	metricLow       = metric("layout_difference_low_ratio", "Lower limit of the difference's interval.", familyLabels)
	metricHigh      = metric("layout_difference_high_ratio", "Upper limit of the difference's interval.", familyLabels)
	metricWritten   = metric("layout_write_amplification_ratio", "Bytes that the server wrote for each byte of the work's data, in the layout's typical trial.", familyLabels)
	metricCycles    = metric("layout_checkpoint_cycles", "Checkpoint cycles in the measured window of the layout's typical trial.", familyLabels)
	metricBest      = metric("layout_recommended", "1 for the layout that the verdict recommends, else 0.", familyLabels)

	metricWaiting = metric("trial_waiting_sessions", "Sessions that wait at a time, by the class of their waits: the mean of the running trial's window so far.", familyLabels, "class")
	metricMemory  = metric("trial_memory_bytes", "Memory of the machine: the mean of the running trial's window so far.", layoutLabels, "kind")
)

// metrics is the handler of /metrics. Nothing is counted between scrapes.
func (s *Server) metrics() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector{s})
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

type collector struct{ server *Server }

// Describe sends nothing: which metrics there are depends on the run.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect sends the metrics of the moment.
func (c collector) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, x float64, labels ...string) {
		for i, l := range labels { // names are the user's
			labels[i] = strings.ToValidUTF8(l, "\uFFFD")
		}
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, x, labels...)
	}
	gauge(metricBuild, 1, c.server.config.Version, runtime.Version())
	status := c.server.current(context.Background()).status
	p := status.Progress
	if p == nil {
		return
	}
	run := []string{strconv.FormatInt(p.Run, 10), p.Engine, p.Scenario}
	ofRun(gauge, run, p, status.Now)
	for _, l := range p.Layouts {
		ofLayout(gauge, append(run[:3:3], l.Name), p, l)
	}
	families := p.Families
	if len(families) == 0 {
		families = []report.FamilyDoc{{Name: p.Family, Layouts: p.Layouts}}
	}
	for _, f := range families {
		for _, l := range f.Layouts {
			ofFamily(gauge, append(run[:3:3], l.Name, f.Name), p, l)
		}
	}
	if n := status.Now; n != nil && n.Stage != "" {
		ofTrial(gauge, append(run[:3:3], n.Cell.Layout), n)
		ofCounters(gauge, append(run[:3:3], n.Cell.Layout), n)
	}
}

type gaugeFunc func(d *prometheus.Desc, x float64, labels ...string)

func ofRun(gauge gaugeFunc, run []string, p *Progress, n *Now) {
	state := p.State
	if n != nil && n.Pausing && n.Stage == "" {
		state = "paused"
	}
	gauge(metricState, 1, append(run, state)...)
	gauge(metricStarted, float64(p.Started.UnixMilli())/1e3, run...)
	gauge(metricElapsed, p.Elapsed, run...)
	gauge(metricBlocks, float64(p.Blocks), run...)
	gauge(metricMaxBlocks, float64(p.MaxBlocks), run...)
	gauge(metricWarnings, float64(len(p.Warnings)), run...)
}

func ofLayout(gauge gaugeFunc, layout []string, p *Progress, l report.LayoutDoc) {
	gauge(metricTrials, float64(l.Done), append(layout, string(filewise.Done))...)
	gauge(metricTrials, float64(l.Failed), append(layout, string(filewise.Failed))...)
	planned := p.MaxBlocks
	if l.DroppedAt > 0 {
		planned = l.DroppedAt
	}
	gauge(metricPlanned, float64(planned), layout...)
}

// ofFamily is what was found about a layout; what is not known is absent.
func ofFamily(gauge gaugeFunc, family []string, p *Progress, l report.LayoutDoc) {
	if l.Typical != nil {
		gauge(metricTypical, *l.Typical, append(family, strings.TrimSuffix(l.Unit, "/s"))...)
	}
	for d, x := range map[*prometheus.Desc]*float64{metricWritten: l.WrittenPerByte, metricCycles: l.CheckpointCycles} {
		if x != nil {
			gauge(d, *x, family...)
		}
	}
	best := 0.0
	if l.Recommended {
		best = 1
	}
	gauge(metricBest, best, family...)
	if l.Name == p.Baseline {
		return
	}
	for d, percent := range map[*prometheus.Desc]*float64{metricEstimate: l.Percent, metricLow: l.PercentLow, metricHigh: l.PercentHigh} {
		if percent != nil {
			gauge(d, *percent/100, family...)
		}
	}
}

func ofTrial(gauge gaugeFunc, layout []string, n *Now) {
	gauge(metricStage, 1, append(layout, n.Stage)...)
	gauge(metricSeconds, n.Seconds, layout...)
	if n.Throughput != nil {
		gauge(metricNow, *n.Throughput, append(layout, n.Family, n.Unit)...)
	}
}

// ofCounters is what the probes of the running trial tell.
func ofCounters(gauge gaugeFunc, layout []string, n *Now) {
	waiting := make(map[filewise.WaitClass]float64)
	for _, c := range n.Counters {
		switch {
		case c.Probe == filewise.ProbeWaits && c.Unit == "s" && c.PerSecond != nil:
			waiting[c.Class] += *c.PerSecond
		case c.Probe == probe.ProbeMemory:
			gauge(metricMemory, c.Value, append(layout, c.Name)...)
		}
	}
	for class, x := range waiting {
		gauge(metricWaiting, x, append(layout, n.Family, string(class))...)
	}
}
