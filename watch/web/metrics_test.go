package web

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"os"
	"regexp"
	"slices"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"filewise/results/report"
	"filewise/results/store"
)

// scraped returns the result of Prometheus' own parser for /metrics.
func scraped(t *testing.T, s *Server) map[string]*dto.MetricFamily {
	t.Helper()
	r, err := http.Get(s.URL() + "metrics")
	must(t, err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	must(t, err)
	problems, err := promlint.New(bytes.NewReader(body)).Lint()
	must(t, err)
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	all, err := parser.TextToMetricFamilies(bytes.NewReader(body))
	must(t, err)
	return all
}

// value is the value of the metric with these labels. NaN means there is none.
func value(f *dto.MetricFamily, labels map[string]string) float64 {
	for _, m := range f.GetMetric() {
		same := 0
		for _, l := range m.GetLabel() {
			if labels[l.GetName()] == l.GetValue() {
				same++
			}
		}
		if same == len(labels) {
			return m.GetGauge().GetValue()
		}
	}
	return math.NaN()
}

func TestMetrics(t *testing.T) {
	d := finished(t)
	m := NewMonitor(first(t, d, 13), "", func() {})
	m.Notify(measuring(t, d, 13))
	s := opened(t, shelf{fleet: campaigns}, m)
	var all map[string]*dto.MetricFamily
	until(t, "the running trial has a throughput", func() bool {
		all = scraped(t, s)
		return all["filewise_trial_throughput"] != nil && all["filewise_trial_waiting_sessions"] != nil &&
			all["filewise_campaign_order_state"] != nil
	})
	status := m.Status(t.Context(), 0)
	four := status.Progress.Operations[0].Layouts[2]
	at := func(ms int64) float64 { // as a histogram of three digits has it
		h := hdr.New(1, 1e9, 3)
		must(t, h.RecordValue(ms*1000))
		return float64(h.ValueAtQuantile(99)) / 1e6
	}
	for _, c := range []struct {
		name   string
		labels map[string]string
		want   float64
	}{
		{"build_info", map[string]string{"version": "test"}, 1},
		{"run_state", map[string]string{"run": "12", "engine": "fake", "scenario": "inserts", "state": "running"}, 1},
		{"run_blocks", nil, 3},
		{"run_blocks_planned", nil, 5},
		{"trials", map[string]string{"layout": "4 files", "state": "done"}, 3},
		{"trials", map[string]string{"layout": "2 files", "state": "failed"}, 1},
		{"trials_planned", map[string]string{"layout": "4 files"}, 5},
		{"trial_stage", map[string]string{"layout": d.Trials[13].Cell.Layout, "stage": "measure"}, 1},
		{"layout_throughput", map[string]string{"layout": "4 files", "family": "inserts", "unit": "rows"}, *four.Typical},
		{"layout_difference_ratio", map[string]string{"layout": "4 files", "family": "inserts"}, *four.Percent / 100},
		{"layout_difference_low_ratio", map[string]string{"layout": "4 files"}, *four.PercentLow / 100},
		{"layout_difference_high_ratio", map[string]string{"layout": "4 files"}, *four.PercentHigh / 100},
		{"layout_write_amplification_ratio", map[string]string{"layout": "4 files", "family": "inserts"}, 3.5},
		{"layout_checkpoint_cycles", map[string]string{"layout": "2 files", "family": "inserts"}, 0.25},
		{"layout_latency_seconds", map[string]string{"layout": "4 files", "operation": "all", "percentile": "50"}, at(4)},
		{"layout_latency_seconds", map[string]string{"layout": "4 files", "family": "inserts", "operation": "all", "percentile": "99"}, at(40)},
		{"layout_latency_seconds", map[string]string{"layout": "4 files", "operation": "payment", "percentile": "99.9"}, at(40)},
		{"layout_latency_seconds", map[string]string{"layout": "1 file", "operation": "all", "percentile": "99"}, at(10)},
		{"trial_memory_bytes", map[string]string{"layout": d.Trials[13].Cell.Layout, "kind": "dirty"}, 5e6},
		{"layout_recommended", map[string]string{"layout": "4 files"}, 1},
		{"layout_recommended", map[string]string{"layout": "1 file"}, 0},
		{"run_decision", map[string]string{"family": "inserts", "decision": "use"}, 1},
		{"campaign_order_state", map[string]string{"campaign": "storage", "experiment": "inserts", "host": "db1", "state": "running"}, 1},
		{"campaign_order_trials", map[string]string{"host": "db2"}, 12},
		{"campaign_difference_ratio", map[string]string{"host": "db1", "layout": "4 files"}, 0.06},
		{"campaign_difference_low_ratio", map[string]string{"host": "db1", "layout": "4 files"}, 0.04},
		{"campaign_difference_high_ratio", map[string]string{"host": "db1", "layout": "2 files"}, math.NaN()},
		{"campaign_host_working", map[string]string{"host": "db2"}, 0},
		{"run_warnings", nil, float64(len(status.Progress.Warnings))},
	} {
		if got := value(all["filewise_"+c.name], c.labels); !(math.Abs(got-c.want) < 1e-9) && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s%v is %v, want %v", c.name, c.labels, got, c.want)
		}
	}
	waits := all["filewise_trial_waiting_sessions"] // the probe's own: twice as long for the log as for reads
	if log, reads := value(waits, map[string]string{"class": "log", "family": "inserts"}), value(waits,
		map[string]string{"class": "data read"}); !(math.Abs(log-2*reads) < 1e-6*log) {
		t.Errorf("sessions wait %v for the log and %v for reads", log, reads)
	}
	if four.PercentLow == nil || *four.PercentLow < 50 {
		t.Errorf("4 files do three times as much, and its interval begins at %v", four.PercentLow)
	}
	dashboard(t, all)
}

// dashboard checks that all metrics of Grafana's dashboard are there, and that it shows all metrics.
func dashboard(t *testing.T, all map[string]*dto.MetricFamily) {
	t.Helper()
	text, err := os.ReadFile("../../grafana/filewise.json")
	must(t, err)
	var board struct {
		Title  string
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	must(t, json.Unmarshal(text, &board))
	if len(board.Panels) < 8 {
		t.Errorf("the dashboard has %d panels", len(board.Panels))
	}
	asked := regexp.MustCompile(`filewise_[a-z_]+`)
	label := regexp.MustCompile(`\{\{([a-z]+)\}\}`)
	seen := map[string]bool{}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			names := asked.FindAllString(target.Expr, -1)
			if len(names) == 0 {
				t.Errorf("%s asks for nothing of ours: %s", p.Title, target.Expr)
			}
			for _, n := range names {
				seen[n] = true
				if all[n] == nil {
					t.Errorf("%s asks for %s, which there is not", p.Title, n)
				}
			}
			for _, l := range label.FindAllStringSubmatch(target.LegendFormat, -1) {
				if !slices.ContainsFunc(all[names[0]].GetMetric()[0].GetLabel(), func(p *dto.LabelPair) bool { return p.GetName() == l[1] }) {
					t.Errorf("%s names label %s, which %s has not", p.Title, l[1], names[0])
				}
			}
		}
	}
	for n := range all {
		if !seen[n] {
			t.Errorf("no panel shows %s", n)
		}
	}
}

// Without a run there is the version alone; a stored run is shown when none is
// measured.
func TestMetricsAtRest(t *testing.T) {
	if all := scraped(t, opened(t, shelf{}, nil)); len(all) != 1 || all["filewise_build_info"] == nil {
		t.Errorf("without a run: %v", all)
	}
	d := finished(t)
	d.State = string(store.Done)
	all := scraped(t, opened(t, shelf{runs: []report.Data{d}}, nil))
	if x := value(all["filewise_run_state"], map[string]string{"run": "12", "state": "done"}); x != 1 || all["filewise_trial_stage"] != nil {
		t.Errorf("a stored run: %v", all)
	}
	d.Plan.Layouts[2].Name = "4 \xff files" // which is not UTF-8
	if all := scraped(t, opened(t, shelf{runs: []report.Data{d}}, nil)); len(all["filewise_trials"].GetMetric()) != 6 {
		t.Errorf("a name that is not UTF-8 spoils it: %v", all["filewise_trials"])
	}
}
