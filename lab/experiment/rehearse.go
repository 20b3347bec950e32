package experiment

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"filewise"
)

// rehearsal holds the result of rehearsing custom SQL.
type rehearsal struct {
	sync.Mutex
	done bool
	left []failure // types left out since then
}

// failure is a type of transaction that cannot be executed.
type failure struct {
	name  string
	share float64 // of all transactions, from 0 to 1
	err   error
}

// Failing reports types of custom transactions that cannot be executed. Nothing was measured.
type Failing struct {
	types []failure
	all   bool // whether all types fail
}

func (f *Failing) Error() string {
	if len(f.types) == 1 {
		return f.types[0].line()
	}
	sum := 0.0
	var each []string
	for _, x := range f.types {
		sum += x.share
		each = append(each, "\n  "+x.line())
	}
	return fmt.Sprintf("%d types, %.1f %% of the transactions:%s", len(f.types), 100*sum, strings.Join(each, ""))
}

func (x failure) line() string {
	text := strings.Join(strings.Fields(filewise.Printable(x.err.Error())), " ")
	return fmt.Sprintf("%s (%.1f %%): %s", x.name, 100*x.share, text)
}

// advised returns the error with a remedy.
func (f *Failing) advised(layout string) error {
	remedy := "correct them in the study file, or leave them out by --skip-failing"
	if f.all {
		remedy = "correct them in the study file"
	}
	return filewise.Errorf(filewise.CodeUsage, remedy, "the study's SQL fails on %s: %w", layout, f)
}

// reducible is a workload that can leave out types of transactions.
type reducible interface {
	Without(types []string) (filewise.Workload, error)
	Share(name string) float64
}

// errLeftOut reports that types are left out from now on, so the build needs another program.
var errLeftOut = errors.New("some of the study's transactions are left out")

// rehearsed executes each type of custom transaction once and rolls it back, before anything is measured. Later trials
// repeat the warnings only.
func (l *life) rehearsed(ctx context.Context) error {
	r := l.runner
	if l.program.Custom == nil {
		return nil
	}
	r.rehearsal.Lock()
	defer r.rehearsal.Unlock()
	if !r.rehearsal.done {
		var failing []failure
		err := l.stage(ctx, filewise.StageRehearse, func(ctx context.Context) (err error) {
			failing, err = l.rehearse(ctx)
			return err
		})
		if err != nil {
			return err
		}
		if err := r.leaveOut(failing, len(l.program.Phases[0].Types)); err != nil {
			return err
		}
		r.rehearsal.done = true
	}
	if len(r.rehearsal.left) > 0 && len(l.program.Phases[0].Types) != len(r.Workload.Program().Phases[0].Types) {
		return errLeftOut
	}
	for _, x := range r.rehearsal.left {
		l.trial.Warnings = append(l.trial.Warnings, filewise.Warning{Code: "left-out",
			Message: "Left out, since it cannot be executed: " + x.line() + ".", Remedy: "Correct it in the study file."})
	}
	return nil
}

// rehearse executes each type once and returns the types that fail. It returns an error if the connection or the space
// failed instead.
func (l *life) rehearse(ctx context.Context) (failing []failure, err error) {
	phase := l.program.Phases[0]
	typed, ok := phase.Args.(filewise.TypedArgs)
	if !ok {
		return nil, nil
	}
	s, err := l.db.Connect(filewise.Rehearsing(ctx), 0, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	tries, ok := s.(filewise.Rehearser)
	if !ok {
		return nil, nil
	}
	for kind, at := range firstOf(typed, len(phase.Types)) {
		if at < 0 {
			continue
		}
		why := tries.Rehearse(ctx, at)
		switch class := filewise.ClassOf(why); {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case why == nil:
		case class == filewise.ClassConnection || class == filewise.ClassSpace:
			return nil, why
		default:
			x := failure{name: phase.Types[kind], err: why}
			if w, ok := l.runner.Workload.(reducible); ok {
				x.share = w.Share(x.name)
			}
			failing = append(failing, x)
		}
	}
	return failing, nil
}

// mostLooked bounds the operations searched for one of each type.
const mostLooked = 1 << 20

// firstOf returns the number of the first worker's first operation of each type. It is −1 if none is found among
// mostLooked operations.
func firstOf(args filewise.TypedArgs, types int) []int64 {
	first := make([]int64, types)
	for i := range first {
		first[i] = -1
	}
	for i, found := int64(0), 0; i < mostLooked && found < types; i++ {
		if kind := args.TypeOf(0, i); kind < types && first[kind] < 0 {
			first[kind] = i
			found++
		}
	}
	return first
}

// leaveOut returns an error if types fail. If the plan allows it, and not all types fail, it instead replaces the
// workload by one without them.
func (r *Runner) leaveOut(failing []failure, types int) error {
	if len(failing) == 0 {
		return nil
	}
	w, ok := r.Workload.(reducible)
	if !ok || !r.Plan.SkipFailing || len(failing) == types {
		return &Failing{types: failing, all: len(failing) == types}
	}
	rest, err := w.Without(filewise.Each(failing, func(x failure) string { return x.name }))
	if err != nil {
		return err
	}
	r.Workload, r.rehearsal.left = rest, failing
	return nil
}
