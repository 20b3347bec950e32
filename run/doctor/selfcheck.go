package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"filewise"
	"filewise/lab/experiment"
	"filewise/run"
	"filewise/run/plan"
)

// notOffered begins notes about features that an engine or server lacks.
const notOffered = "not offered: "

// paste is the remedy for an unforeseen failure.
const paste = "paste this report into an issue"

// SelfCheck runs a small trial of every workload on a few layouts. Trials are planned and measured as in any run. It
// reports the results, and leaves nothing behind.
func SelfCheck(ctx context.Context, p Patient, report func(filewise.Finding)) error {
	c := &selfCheck{Patient: p, report: report, record: newRecorder("")}
	for _, t := range trials(p.Engine.Describe()) {
		if err := errors.Join(c.try(ctx, t), ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// Limits holds the time limits of a whole self-check.
type Limits struct {
	One   time.Duration // for one trial on all its layouts
	Tries time.Duration // since the start; no trial begins later
	Whole time.Duration // since the start; the self-check ends then, even if the server hangs
}

// UsualLimits holds the limits of the command (doctor --self-check --all). They leave three minutes between
// the latest start of a trial and the end.
var UsualLimits = Limits{2 * time.Minute, 12 * time.Minute, 15 * time.Minute}

// SelfCheckAll is SelfCheck with time limits. It continues after failures, removes what trials have left behind, and
// returns the parts that may be sent to others. Its error is the context's, or why nothing was tried.
func SelfCheckAll(ctx context.Context, p Patient, l Limits, report func(filewise.Finding)) (Record, error) {
	c := &selfCheck{Patient: p, record: newRecorder(p.Engine.Name())}
	var mu sync.Mutex
	over := false
	c.report = func(f filewise.Finding) {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			report(f)
		}
	}
	ended, late := make(chan error, 1), time.NewTimer(l.Whole)
	defer late.Stop()
	go func() { ended <- c.all(filewise.SeeRefusals(ctx, c.record.see), l) }()
	var err error
	select {
	case err = <-ended:
	case <-late.C: // the server does not answer; the connection ends with the process
		c.record.stage(stageTime)
		c.say("time", filewise.StatusFailed, fmt.Sprintf("it did not end within %v", l.Whole), c.cleaning())
	}
	mu.Lock()
	defer mu.Unlock()
	over = true
	return c.record.closed(), err
}

func (c *selfCheck) cleaning() string {
	if c.Plan.Target.Address == nil {
		return "filewise clean"
	}
	return filewise.CommandLine("filewise", "clean", "--target", c.Plan.Target.Address.String())
}

// all runs each trial within its time, and cleans up.
func (c *selfCheck) all(ctx context.Context, l Limits) error {
	start := time.Now()
	before, err := c.onServer(ctx, nil)
	if err != nil {
		return err
	}
	for _, t := range trials(c.Engine.Describe()) {
		limit := min(l.One, l.Tries-time.Since(start))
		if c.record.begin(t.name); limit <= 0 {
			c.say(t.name, filewise.StatusNote, fmt.Sprintf("not tried: %v have passed", l.Tries), "")
			continue
		}
		within, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it took longer than %v", limit.Round(time.Second)))
		err := c.try(within, t)
		cancel()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && !c.questioned: // another run measures, and nothing was tried
			return err
		case err != nil:
			c.failed(t.name, err)
		}
		c.record.tried()
	}
	c.record.begin("")
	_, err = c.onServer(ctx, before)
	if err != nil {
		c.failed("cleaned up", err)
	}
	return nil
}

// onServer returns what runs have left on the server. If before is not nil, it removes what is not in before.
func (c *selfCheck) onServer(ctx context.Context, before map[string]filewise.Leftover) (left map[string]filewise.Leftover, err error) {
	env, err := run.LookAt(ctx, c.Engine, c.Plan.Target, c.Login)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, env.Close()) }()
	if before == nil { // an account that may build nothing can still show the version
		if facts, err := env.Facts(ctx); err == nil {
			c.record.facts(facts, true)
		}
	}
	if left, err = c.leftovers(ctx, env.Server); err != nil || before == nil {
		return left, err
	}
	var removed []string
	for key, l := range left {
		if _, old := before[key]; old {
			continue
		}
		if e := env.Server.(filewise.ExternalServer).Remove(ctx, l); e != nil {
			err = errors.Join(err, filewise.Errorf(filewise.CodePreflight, c.cleaning(), "%s stays: %w", key, e))
			continue
		}
		removed = append(removed, key)
	}
	if err == nil {
		c.say("cleaned up", filewise.StatusOK, cmp.Or(strings.Join(removed, ", "), "nothing was left"), "")
	}
	return left, err
}

// window is shorter than a run's may be, since nothing is judged.
const window = 50 * time.Millisecond

// selfCheck holds the state of a self-check.
type selfCheck struct {
	Patient
	report     func(filewise.Finding)
	record     *recorder
	questioned bool
}

func (c *selfCheck) say(check string, status filewise.Status, detail, remedy string) {
	c.record.status(status)
	c.report(filewise.Finding{Check: check, Status: status, Detail: detail, Remedy: remedy})
}

// failed reports an error as a failed check.
func (c *selfCheck) failed(check string, err error) {
	f := failed(check, err)
	if f.Remedy == "" {
		f.Remedy = paste
	}
	c.record.status(f.Status)
	c.report(f)
}

// try plans and measures a trial on each layout. A feature that the server lacks is a note. If another run is
// measuring, the self-check ends.
func (c *selfCheck) try(ctx context.Context, t trial) error {
	o := plan.New()
	o.TargetOptions, o.Volumes = c.Options.TargetOptions, c.Options.Volumes
	t.set(o)
	made, err := plan.Engines{c.Engine}.Make(o)
	if err == nil {
		made.Target = c.Plan.Target
		// Each layout runs once, one after the other, without pilots.
		made.AsPublished, made.Interleaved, made.Attempts = &experiment.AsPublished{Repeats: 1, Scale: 1}, false, 1
		made.Window = min(made.Window, window)
		if err = c.measure(ctx, t.name, made.Plan); err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			c.record.stage(stageTime)
			err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
	switch {
	case errors.Is(err, filewise.ErrUnsupported):
		c.say(t.name, filewise.StatusNote, notOffered+filewise.Plain(err), filewise.RemedyOf(err))
	case filewise.CodeOf(err) == filewise.CodeBusy:
		return err
	case err != nil:
		c.failed(t.name, err)
	}
	return nil
}

// measure measures a plan's trials without storing them.
func (c *selfCheck) measure(ctx context.Context, name string, p experiment.Plan) (err error) {
	env, err := run.SetUp(ctx, c.Engine, p, c.Login, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, env.Close()) }()
	if !c.questioned {
		c.question(ctx, env.Server)
	}
	left, err := c.leftovers(ctx, env.Server)
	if err != nil {
		return err
	}
	server, looked := &watched{Server: env.Server}, false
	env.Server = server
	done, _, err := env.Unstored(ctx, run.Options{}, func(e experiment.Event) {
		if e.Stage == filewise.StageMeasure && !looked {
			looked = true
			c.whileUsed(ctx, name, server, left)
		}
	})
	for _, t := range done {
		if !experiment.Void(t) { // void trials were repeated
			c.trial(name+" on "+t.Cell.Layout, t)
		}
	}
	looking, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookPatience)
	defer cancel()
	now, lost := c.leftovers(looking, server.Server)
	for l := range now {
		if _, before := left[l]; !before {
			lost = errors.Join(lost, fmt.Errorf("%s is left", l))
		}
	}
	if c.record.claim(claimNothing, provenIf(lost == nil)); lost != nil {
		c.failed(name+": nothing left", lost)
	}
	return err
}

// lookPatience is the time limit for the look at what a trial has left behind.
const lookPatience = 30 * time.Second

// trial reports the result of one trial: its stages, then each phase.
func (c *selfCheck) trial(check string, t filewise.Trial) {
	defer c.stays(check, t.Final)
	switch {
	case t.State == filewise.Done:
	case strings.Contains(t.Reason, filewise.ErrUnsupported.Error()): // only this server shows it
		c.say(check, filewise.StatusNote, notOffered+t.Reason, t.Remedy)
		return
	default:
		c.record.failedIn(t.Reason)
		c.say(check, filewise.StatusFailed, t.Reason, paste)
		return
	}
	c.record.worked(t)
	var parts []string
	took := map[string]time.Duration{}
	for _, s := range t.Stages {
		if _, known := took[s.Name]; !known && s.Name != filewise.StageMeasure {
			parts = append(parts, s.Name)
		}
		took[s.Name] += s.Took
	}
	for i, name := range parts {
		parts[i] = fmt.Sprintf("%s %v", name, took[name].Round(time.Millisecond))
	}
	counters, waits := 0, 0
	for _, m := range t.Measures {
		if m.Work == 0 {
			c.record.stage(filewise.StageMeasure)
			c.say(check, filewise.StatusFailed, fmt.Sprintf("%s: 0 %s in %v, so nothing was tried", m.Operation, m.Unit,
				(m.Window[1]-m.Window[0]).Round(time.Millisecond)), paste)
			return
		}
		parts = append(parts, fmt.Sprintf("%s %.0f %s in %v", m.Operation, m.Work, m.Unit, (m.Window[1]-m.Window[0]).Round(time.Millisecond)))
		for _, d := range m.Deltas {
			counters++
			if filewise.OfWaits(d.Probe) {
				waits++
			}
		}
	}
	c.say(check, filewise.StatusOK, fmt.Sprintf("%s; %s; %s, %s", filewise.Counted(len(t.Final), "file"), strings.Join(parts, ", "),
		filewise.Counted(counters, "counter"), filewise.Counted(waits, "wait")), "")
}

// stays notes the files that only the server's owner can remove.
func (c *selfCheck) stays(check string, files []filewise.File) {
	files = slices.DeleteFunc(slices.Clone(files), func(f filewise.File) bool { return !f.Stays })
	if len(files) > 0 {
		paths := filewise.Each(files, func(f filewise.File) string { return f.Path })
		c.say(check+": files stay", filewise.StatusNote, strings.Join(paths, ", "), "remove them on the server's host")
	}
}

// question checks what no trial tests: whether the activity of others can be read, and that two runs cannot measure at
// the same time.
func (c *selfCheck) question(ctx context.Context, s filewise.Server) {
	c.questioned = true
	facts, err := s.Facts(ctx)
	if c.record.facts(facts, err == nil); err != nil {
		c.failed("facts", err)
	}
	external, ok := s.(filewise.ExternalServer)
	if !ok {
		return
	}
	gauges, err := external.Activity(ctx)
	if err != nil {
		c.record.claim(claimActivity, StateAbsent)
		c.say("activity", filewise.StatusNote, err.Error(), filewise.RemedyOf(err))
	} else {
		c.record.claim(claimActivity, StateProven)
		c.say("activity", filewise.StatusOK, filewise.Counted(len(gauges), "gauge"), "")
	}
	another, err := external.Lock(ctx, filewise.Holder{Who: "another self-check"})
	c.record.claim(claimLock, provenIf(filewise.CodeOf(err) == filewise.CodeBusy))
	if err == nil {
		c.failed("measuring lock", errors.Join(errors.New("two have taken the lock"), another.Release()))
	} else if filewise.CodeOf(err) != filewise.CodeBusy {
		c.failed("measuring lock", err)
	} else {
		c.say("measuring lock", filewise.StatusOK, "it is taken, and refused to another", "")
	}
}

// watched is a server that keeps the database it built last.
type watched struct {
	filewise.Server
	built *filewise.Database
}

// Build builds a database and keeps it.
func (w *watched) Build(ctx context.Context, l filewise.Layout, p filewise.Program) (db *filewise.Database, err error) {
	w.built, err = w.Server.Build(ctx, l, p)
	return w.built, err
}

// whileUsed checks that the database of a running trial carries the ownership marker and cannot be removed. It also
// checks that the probes can be read, since a trial goes on without a probe that fails.
func (c *selfCheck) whileUsed(ctx context.Context, name string, w *watched, before map[string]filewise.Leftover) {
	const check = ": found again, and kept while it is used"
	for _, p := range w.built.Probes {
		if _, err := p.Read(ctx); err != nil {
			c.failed(name+": probe "+p.Name(), err)
		}
	}
	s := w.Server
	now, err := c.leftovers(ctx, s)
	found := 0
	for key, l := range now {
		if _, old := before[key]; old {
			continue
		}
		found++
		if l.Kept == "" || s.(filewise.ExternalServer).Remove(ctx, l) == nil {
			err = errors.Join(err, fmt.Errorf("%s may be removed", key))
		}
	}
	if _, ok := s.(filewise.ExternalServer); ok && err == nil && found == 0 {
		err = errors.New("what the trial has built does not carry the marker")
	}
	if c.record.claim(claimMark, provenIf(err == nil)); err != nil {
		c.failed(name+check, err)
		return
	}
	c.say(name+check, filewise.StatusOK, filewise.Counted(found, "object"), "")
}

// leftovers returns what runs have left on the server, by kind and name.
func (c *selfCheck) leftovers(ctx context.Context, s filewise.Server) (map[string]filewise.Leftover, error) {
	all := map[string]filewise.Leftover{}
	server, ok := s.(filewise.ExternalServer)
	if !ok {
		return all, nil
	}
	list, err := run.Ask(ctx, c.Plan.Target, "what runs have left there", server.Leftovers, nil)
	for _, l := range list {
		all[l.Kind+" "+l.Name] = l
	}
	return all, err
}
