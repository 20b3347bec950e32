package experiment

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"filewise"
)

// evenEnough is the share of evenness below which a spread counts as uneven. Four files then did the work of fewer than
// three evenly used ones. If less than leastLoad is known per file, chance makes a spread uneven.
const (
	evenEnough = 0.75
	leastLoad  = 100 // rows or requests per file, on average
)

// spreadWarning warns of layouts with several files whose load was uneven.
func (h history) spreadWarning() []filewise.Warning {
	var found, read []string
	trials := h.counted(h.last)
	for _, l := range h.plan.Layouts {
		if l.Data.Files < 2 || !evenlyUsed(l) {
			continue
		}
		var even []float64
		for _, t := range trials {
			if t.Cell.Layout != l.Name {
				continue
			}
			if s, ok := spreadOf(t); ok {
				even = append(even, s.even)
			}
		}
		if len(even) == 0 {
			continue
		}
		if e := middle(even); e < evenEnough {
			found = append(found, fmt.Sprintf("%s worked like %.1f evenly used files", l.Name, e*float64(l.Data.Files)))
			read = append(read, fmt.Sprintf("%s as about %.0f", l.Name, e*float64(l.Data.Files)))
		}
	}
	var out []filewise.Warning
	if len(found) > 0 {
		out = append(out, filewise.Warning{Code: "uneven-spread",
			Message: "The load was uneven: " + strings.Join(found, ", ") + ".",
			Remedy:  "Read " + strings.Join(read, ", ") + ", or change keys or fill order; the report has each file's part."})
	}
	return out
}

// spread describes how a trial's load was distributed over its data files.
type spread struct {
	// even is the number of evenly used files that would share the load equally well, divided by the number of files:
	// (Σx)² / (n·Σx²).
	even   float64
	unused int
}

// loadKinds lists what may be counted per file, most informative first. Rows are the work itself; requests include the
// effect of caches.
var loadKinds = [][]string{
	{filewise.FileRows}, {filewise.FileReads, filewise.FileWrites},
}

// spreadOf compares the data files of a trial within groups that belong together. The partitions of each table form a
// group, because tables have different loads.
func spreadOf(t filewise.Trial) (spread, bool) {
	groups := fileGroups(t)
	for _, kind := range loadKinds {
		loads := make(map[string]float64)
		found := false
		for _, m := range t.Measures {
			for _, d := range m.Deltas {
				if d.Probe == filewise.ProbeFiles && slices.Contains(kind, d.Name) {
					loads[d.File] += d.Value
					found = true
				}
			}
		}
		if s, ok := spreadOver(groups, loads); found && ok {
			return s, true
		}
	}
	return spread{}, false
}

func spreadOver(groups map[string][]string, loads map[string]float64) (spread, bool) {
	var s spread
	whole := 0.0
	for _, paths := range groups {
		n, sum, squares := float64(len(paths)), 0.0, 0.0
		unused := 0
		for _, p := range paths {
			x := loads[p]
			sum, squares = sum+x, squares+x*x
			if x == 0 {
				unused++
			}
		}
		if n < 2 || sum < leastLoad*n {
			continue
		}
		s.even += sum * sum * sum / (n * squares) // weighted by the load
		s.unused += unused
		whole += sum
	}
	s.even /= whole
	return s, whole > 0
}

// fileGroups returns the paths of the data files in groups. The key is the name of the object in the file, or else of
// the file, without digits and extension. It splits paths at / and \, because the server may run on Windows. SQL
// Server's first file has a different extension than the others.
func fileGroups(t filewise.Trial) map[string][]string {
	groups := make(map[string][]string)
	seen := make(map[string]bool)
	for _, f := range slices.Concat(t.Files, t.Final) {
		if f.Role != filewise.RoleData || seen[f.Path] {
			continue
		}
		seen[f.Path] = true
		name := f.Object
		if name == "" {
			name = f.Path[strings.LastIndexAny(f.Path, `/\`)+1:]
			name = strings.TrimSuffix(name, path.Ext(name))
		}
		name = strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return -1
			}
			return r
		}, name)
		groups[name] = append(groups[name], f.Path)
	}
	return groups
}

// middle returns the median.
func middle(xs []float64) float64 {
	sorted := slices.Sorted(slices.Values(xs))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// ErrPostponed reports that the trial was ended and is not recorded. It is measured again as soon as Runner.Await
// allows.
var ErrPostponed = errors.New("postponed")

// await waits for drivers and for Runner.Await before trials that are measured together.
func (r *Runner) await(ctx context.Context, s Schedule, trials int) error {
	if r.Drivers != nil {
		if err := r.Drivers.Await(ctx, func(why string) { r.notify(Event{Kind: EventWaiting, Why: why}) }); err != nil {
			return err
		}
	}
	if r.Await == nil {
		return nil
	}
	return r.Await(ctx, time.Duration(trials)*s.TrialTime)
}

// guardInterval is the time between calls of the guard.
const guardInterval = 500 * time.Millisecond

// guard returns a context that is cancelled with the guard's error, if the guard returns one.
func (r *Runner) guard(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if r.Guard == nil {
		return ctx, func() { cancel(nil) }
	}
	go func() {
		tick := time.NewTicker(guardInterval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if err := r.Guard(); err != nil {
					cancel(err)
				}
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

// hostFault calls the guard again after a failure. If a volume has just gone, the host is at fault, not the layout, and
// the trial is measured again.
func (r *Runner) hostFault() error {
	if r.Guard == nil {
		return nil
	}
	if err := r.Guard(); filewise.CodeOf(err) == filewise.CodePreflight {
		return err
	}
	return nil
}
