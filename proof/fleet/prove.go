//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"filewise/fleet"
	"filewise/lab/experiment"
	"filewise/results/archive"
	"filewise/results/store"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	enums "go.temporal.io/api/enums/v1"
	"google.golang.org/protobuf/proto"
)

// prove compares the results that came home with the plan, and prints the figures.
func (g *ground) prove(ctx context.Context, want int) error {
	home := filepath.Join(g.dir, "home", "store.db")
	runs, err := archive.List(ctx, home)
	if err != nil {
		return err
	}
	if len(runs) != want {
		return fmt.Errorf("%d runs came home of %d", len(runs), want)
	}
	trials := 0
	took := map[string][]time.Duration{}
	for _, info := range runs {
		r, err := archive.Load(ctx, home, fmt.Sprint(info.ID))
		if err != nil {
			return err
		}
		trials += len(r.Trials)
		if !r.Plan.TakesTurns() { // turns overlap
			took[r.Plan.Target.Engine] = append(took[r.Plan.Target.Engine], between(r)...)
		}
		if r.State != store.Done {
			return fmt.Errorf("run %d is %s", r.ID, r.State)
		}
		if err := asPlanned(r); err != nil {
			return err
		}
	}
	fmt.Printf("%d trials of %d runs, each where its plan has it, none twice\n", trials, len(runs))
	for engine, took := range took {
		alone, err := g.alone(ctx, engine)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %v between two trials in the median; %v of \"filewise run\" alone\n", engine, medianOf(took), alone)
	}
	for _, h := range hosts {
		if err := g.kill(h.name); err != nil { // the worker is idle; anything left would be found
			return err
		}
	}
	left := error(nil) // what is in a namespace ends right after the killed process
	if err := until(ctx, "what is left stays", func() bool { left = g.left(); return left == nil }); err != nil {
		return errors.Join(err, left)
	}
	fmt.Printf("nothing is left; %s made %d calls by TLS, with a certificate and an API key\n", hosts[len(hosts)-1].name, g.fronted.Load())
	return g.asked(ctx, func(c fleet.Campaigns) error {
		jobs, err := c.Jobs(ctx, "fleet")
		for _, id := range jobs {
			if err := figures(ctx, c, id); err != nil {
				return err
			}
		}
		return err
	})
}

// actions prints how many actions Temporal has counted, as Temporal Cloud bills them, for each second of measuring.
func (g *ground) actions(ctx context.Context) error {
	home := filepath.Join(g.dir, "home", "store.db")
	runs, err := archive.List(ctx, home)
	if err != nil {
		return err
	}
	var measuring time.Duration
	for _, info := range runs {
		r, err := archive.Load(ctx, home, fmt.Sprint(info.ID))
		if err != nil {
			return err
		}
		last := r.Trials[len(r.Trials)-1]
		measuring += last.Started.Add(last.Elapsed).Sub(r.Trials[0].Started)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort("127.0.0.1", g.metrics)+"/metrics", nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	metrics, err := parser.TextToMetricFamilies(answer.Body)
	if err != nil {
		return err
	}
	total, types := 0.0, map[string]float64{}
	for _, m := range append(metrics["action"].GetMetric(), metrics["action_total"].GetMetric()...) {
		labels := map[string]string{}
		for _, l := range m.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		if labels["namespace"] == "measuring" {
			total += m.GetCounter().GetValue()
			types[labels["action_type"]] += m.GetCounter().GetValue()
		}
	}
	fmt.Printf("%.0f actions in %v of measuring, %.2f a second: %v\n", total, measuring.Round(time.Second), total/measuring.Seconds(), types)
	if total == 0 {
		return errors.New("Temporal counts no actions")
	}
	return nil
}

// figures prints the length of a job's history, and proves that no part of the study or the results can be read in
// it.
func figures(ctx context.Context, c fleet.Campaigns, id string) error {
	d, err := c.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		return err
	}
	for h := c.GetWorkflowHistory(ctx, id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); h.HasNext(); {
		e, err := h.Next()
		if err != nil {
			return err
		}
		text, err := proto.Marshal(e)
		if err != nil {
			return err
		}
		for _, word := range []string{"scenario", "connections", "storage=", "1 file"} {
			if bytes.Contains(text, []byte(word)) {
				return fmt.Errorf("%q can be read in the history of %s", word, id)
			}
		}
	}
	i := d.GetWorkflowExecutionInfo()
	fmt.Printf("%s: a history of %d events, %d KiB\n", id, i.GetHistoryLength(), i.GetHistorySizeBytes()>>10)
	return nil
}

// between returns the times from the end of each trial to the start of the next.
func between(r archive.Run) (out []time.Duration) {
	for i, t := range r.Trials[1:] {
		before := r.Trials[i]
		out = append(out, t.Started.Sub(before.Started.Add(before.Elapsed)))
	}
	return out
}

func medianOf(took []time.Duration) time.Duration {
	slices.Sort(took)
	return took[len(took)/2].Round(100 * time.Microsecond)
}

// alone returns the time that "filewise run" takes between two trials of the first experiment.
func (g *ground) alone(ctx context.Context, experiment string) (time.Duration, error) {
	cmd := g.command(ctx, "alone", "run", g.study(), "--only", experiment)
	cmd.Dir = g.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("run: %w: %s", err, out)
	}
	r, err := archive.Load(ctx, filepath.Join(g.dir, "alone", "store.db"), "last")
	if err != nil {
		return 0, err
	}
	return medianOf(between(r)), nil
}

// left returns an error that lists what killed workers have left: files and processes.
func (g *ground) left() error {
	for _, h := range hosts {
		if left, err := os.ReadDir(g.volume(h.name)); err != nil || len(left) > 0 {
			return fmt.Errorf("left on %s: %v, %w", h.name, left, err)
		}
	}
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, line := range lines {
		text, _ := os.ReadFile(line) // the process may just have ended
		for _, h := range hosts {
			if bytes.Contains(text, []byte(g.volume(h.name))) {
				return fmt.Errorf("left: %s %s", line, bytes.ReplaceAll(text, []byte{0}, []byte{' '}))
			}
		}
	}
	return err
}

// asPlanned returns an error if a run's trials differ from its plan, up to its end.
func asPlanned(r archive.Run) error {
	if err := placed(r); err != nil {
		return err
	}
	if _, d := r.Plan.Next(r.Trials); d.Ending == experiment.GoesOn {
		return fmt.Errorf("run %d is not at its end", r.ID)
	}
	return nil
}

// placed returns an error for the first trial that is not Plan.Next's after the trials before it.
func placed(r archive.Run) error {
	for i, t := range r.Trials {
		want, d := r.Plan.Next(r.Trials[:i])
		if t.Cell.Pilot && t.Cell.Position < want.Position { // of a design that was given up: the plan is the last one
			continue
		}
		if d.Ending != experiment.GoesOn || !r.Plan.TakesTurns() && t.Cell != want {
			return fmt.Errorf("trial %d of run %d is %+v, expected %+v", i+1, r.ID, t.Cell, want)
		}
	}
	return nil
}
