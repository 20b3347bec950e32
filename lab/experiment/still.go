package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/drive"
)

// Codes of warnings about trials in which something stood still.
const (
	// WarnStoodStill warns that the machine or this process stood still. The trial is void.
	WarnStoodStill = "stood-still"
	// WarnServerStopped warns that a process of the server was stopped (state T). The trial is void the first time.
	WarnServerStopped = "server-stopped"
	// WarnServerIdle warns that the server did nothing for a while. The trial counts.
	WarnServerIdle = "server-idle"
)

var stillCodes = []string{WarnStoodStill, WarnServerStopped, WarnServerIdle}

// maxVoids is the number of void tries of a trial after which the run ends: one and three repeats.
const maxVoids = 4

// ProbeStill is the probe of the deltas that report standstills, in seconds within the window.
const (
	ProbeStill   = "stood still"
	stillMachine = "machine"
	stillServer  = "server"
)

// stood adds the standstills seen while an operation was measured.
func (l *life) stood(operation string, s drive.Still) {
	if l.still == nil {
		l.still = make(map[string]drive.Still)
	}
	l.still[operation] = l.still[operation].Plus(s)
}

// beating runs an operation that is timed as a whole, and records whether the machine stood still during it. Under a
// simulated clock it only runs the operation.
func (l *life) beating(operation string, do func() error) error {
	if _, real := l.runner.Clock.(filewise.RealClock); !real {
		return do()
	}
	heart, start := drive.Beat(goesOn(l.runner.Stopped), l.runner.Stopped), time.Now()
	err := do()
	l.stood(operation, heart.Still(start, time.Now()))
	return err
}

// lookEvery is the number of heartbeats between two checks of the server's processes, because there may be hundreds.
const lookEvery = 5

// goesOn returns a progress counter that stops while a process of the server is stopped. An operation that is timed as
// a whole shows no other progress. It returns nil if stopped is nil.
func goesOn(stopped func() bool) func() int64 {
	if stopped == nil {
		return nil
	}
	var calls, count int64
	is := false
	return func() int64 {
		if calls%lookEvery == 0 {
			is = stopped()
		}
		if calls++; !is {
			count++
		}
		return count
	}
}

// weigh makes a trial void if the machine stood still in it, or the server was stopped. It reads clocks only, never
// results. The function counted decides later which void trials count nevertheless.
func (l *life) weigh() {
	t := &l.trial
	for i := range t.Measures {
		m := &t.Measures[i]
		s, limit := l.still[m.Operation], drive.StillLimit(m.Window[1]-m.Window[0])
		warn := func(code, remedy, format string, args ...any) {
			t.Warnings = append(t.Warnings, filewise.Warning{Code: code, Message: fmt.Sprintf(format, args...), Remedy: remedy})
		}
		note := func(name string, d time.Duration) {
			m.Deltas = append(m.Deltas, filewise.Delta{Probe: ProbeStill, Name: name, Unit: "s", Value: d.Seconds()})
		}
		if s.Machine >= limit {
			note(stillMachine, s.Machine)
			warn(WarnStoodStill, "Let nothing suspend, pause or move this machine while it measures.",
				"This machine, or Filewise, stood still for %s of a window of %s.", length(s.Machine), length(m.Window[1]-m.Window[0]))
			t.State = filewise.Failed
			t.Reason = fmt.Sprintf("void: this machine, or Filewise, stood still for %s", length(s.Machine))
		}
		if s.Server < limit {
			continue
		}
		note(stillServer, s.Server)
		if !s.Stopped {
			warn(WarnServerIdle, "See what the server waited for: its log, its checkpoints, its storage.",
				"The server did nothing for %s.", length(s.Server))
			continue
		}
		warn(WarnServerStopped, "Let nothing stop the server's processes (SIGSTOP, a frozen cgroup) while it is measured.",
			"The server did nothing for %s, and a process of it was stopped.", length(s.Server))
		if t.State == filewise.Done {
			t.State = filewise.Failed
			t.Reason = fmt.Sprintf("void: the server did nothing for %s, and a process of it was stopped (state T)", length(s.Server))
		}
	}
}

func length(d time.Duration) string { return say.Human(d.Round(10 * time.Millisecond)) }

// void returns the warning code that makes a trial void, or "" if it is not void.
func void(t filewise.Trial) string {
	if t.State != filewise.Failed || !strings.HasPrefix(t.Reason, "void: ") {
		return ""
	}
	for _, code := range stillCodes[:2] {
		if slices.ContainsFunc(t.Warnings, func(w filewise.Warning) bool { return w.Code == code }) {
			return code
		}
	}
	return ""
}

// Void reports whether a trial does not count and is repeated, because something stood still in it.
func Void(t filewise.Trial) bool { return void(t) != "" }

// Counted returns the trials as they are judged. Void trials that count nevertheless get the state Done.
func Counted(trials []filewise.Trial) []filewise.Trial {
	trials, _ = counted(trials)
	return trials
}

// voids holds the numbers of void trials in a history.
type voids struct {
	of    map[string][2]int // by layout: trials void because of this machine, and all trials that ended
	often string            // the layout with clearly more than others. Empty means none
}

// countVoids counts void trials by layout.
func countVoids(trials []filewise.Trial) voids {
	v := voids{of: make(map[string][2]int)}
	var all [2]int
	for _, t := range trials {
		n := v.of[t.Cell.Layout]
		switch {
		case void(t) == WarnStoodStill:
			n[0], all[0] = n[0]+1, all[0]+1
			fallthrough
		case t.State == filewise.Done:
			n[1], all[1] = n[1]+1, all[1]+1
		}
		v.of[t.Cell.Layout] = n
	}
	for layout, n := range v.of {
		if chance(n[0], n[1], all[0], all[1]) < clearlyMore && (v.often == "" || layout < v.often) {
			v.often = layout
		}
	}
	return v
}

// clearlyMore is the probability below which a layout has clearly more void trials than the others.
const clearlyMore = 0.05

// chance returns the probability that a layout with n of all trials has at least k of all voids, if voids are equally
// likely in all layouts (Fisher's exact test, one-sided).
func chance(k, n, voids, trials int) float64 {
	if k == 0 {
		return 1
	}
	logC := func(n, k int) float64 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		return a - b - c
	}
	sum := 0.0
	for i := k; i <= min(n, voids); i++ {
		if voids-i <= trials-n {
			sum += math.Exp(logC(n, i) + logC(trials-n, voids-i) - logC(trials, voids))
		}
	}
	return sum
}

// counted returns the trials with the state Done for void trials that count nevertheless. If one layout has clearly
// more trials voided by this machine, all such trials count. If the server was stopped in a cell's trial, its second
// and later such trials count.
func counted(trials []filewise.Trial) ([]filewise.Trial, voids) {
	v := countVoids(trials)
	out, again := trials, make(map[cellKey]bool)
	for i, t := range trials {
		why, k := void(t), cellKey{t.Cell.Block, t.Cell.Layout}
		count := why == WarnStoodStill && v.often != "" || why == WarnServerStopped && again[k]
		if why == WarnServerStopped {
			again[k] = true
		}
		if !count {
			continue
		}
		if &out[0] == &trials[0] {
			out = slices.Clone(trials)
		}
		out[i].State, out[i].Reason = filewise.Done, ""
	}
	return out, v
}

// stillStop returns an error if the newest trial of a run was void for the fourth time, which ends the run. Otherwise
// it returns nil.
func (h history) stillStop(t filewise.Trial) error {
	if k := (cellKey{t.Cell.Block, t.Cell.Layout}); void(t) == "" || h.tries[k].done != nil || h.tries[k].voids < maxVoids {
		return nil
	}
	return filewise.Errorf(filewise.CodeStopped,
		"see that nothing suspends, pauses or moves this machine (a laptop's lid, a virtual machine's host); then continue: filewise resume",
		"the trial of %s was void %s: %s", t.Cell.Layout, filewise.Counted(maxVoids, "time"), strings.TrimPrefix(t.Reason, "void: "))
}

// StillWarnings splits warnings into those about standstills, which come first, and the rest.
func StillWarnings(all []filewise.Warning) (still, rest []filewise.Warning) {
	i := slices.IndexFunc(all, func(w filewise.Warning) bool { return !slices.Contains(stillCodes, w.Code) })
	if i < 0 {
		i = len(all)
	}
	return all[:i], all[i:]
}

// stillWarnings returns the warnings about standstills, which come before all others.
func (h history) stillWarnings() (out []filewise.Warning) {
	if w, ok := h.voidWarning(); ok {
		out = append(out, w)
	}
	var longest filewise.Warning
	var most float64
	n := 0
	for _, t := range h.trials {
		for _, w := range t.Warnings {
			if w.Code != WarnServerIdle && (w.Code != WarnServerStopped || t.State != filewise.Done) {
				continue
			}
			n++
			if d := stillServerOf(t); d > most {
				most, longest = d, w
				longest.Message = fmt.Sprintf("The server did nothing for %s %s (%s); the trial counts",
					length(time.Duration(d*float64(time.Second))), placeOf(t.Cell), t.Cell.Layout)
			}
			break
		}
	}
	if n == 0 || most == 0 {
		return out
	}
	if n > 1 {
		longest.Message += fmt.Sprintf(" (in %d of %d trials)", n, len(h.trials))
	}
	longest.Message += "."
	return append(out, longest)
}

// voidWarning warns of trials in which this machine stood still. They do not count, unless one layout has clearly more
// of them.
func (h history) voidWarning() (w filewise.Warning, ok bool) {
	var parts []string
	all := 0
	for _, l := range h.plan.Layouts {
		if n := h.voids.of[l.Name]; n[0] > 0 {
			all += n[0]
			parts = append(parts, fmt.Sprintf("%s %d of %d", l.Name, n[0], n[1]))
		}
	}
	if all == 0 {
		return w, false
	}
	where := strings.Join(parts, ", ")
	if h.voids.often != "" {
		return filewise.Warning{Code: WarnStoodStill, Message: fmt.Sprintf("This machine stood still clearly more often with %s than "+
			"with others (trials: %s), so these trials count: the layout may be the cause.", h.voids.often, where),
			Remedy: "Check the machine's memory and CPU while that layout is measured."}, true
	}
	return filewise.Warning{Code: WarnStoodStill, Message: fmt.Sprintf("This machine stood still in %s, which do not count and "+
		"were repeated: %s.", filewise.Counted(all, "trial"), where),
		Remedy: "Let nothing suspend, pause or move this machine while it measures."}, true
}

func placeOf(c filewise.Cell) string {
	if c.Pilot {
		return "in the pilot"
	}
	return fmt.Sprintf("in block %d", c.Block)
}

// stillServerOf returns how long the server did nothing in a trial, in seconds; of several measures, the longest.
func stillServerOf(t filewise.Trial) (most float64) {
	for _, m := range t.Measures {
		for _, d := range m.Deltas {
			if d.Probe == ProbeStill && d.Name == stillServer {
				most = max(most, d.Value)
			}
		}
	}
	return most
}
