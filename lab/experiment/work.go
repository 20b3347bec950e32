package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"filewise"
	"filewise/lab/drive"
	"filewise/lab/probe"
)

// work runs a phase's operations through warm-up and window, or a fixed number of operations. It reads the probes at
// the edges.
func (l *life) work(ctx context.Context, i int) (err error) {
	phase := l.program.Phases[i]
	sessions, err := l.connect(ctx, i)
	defer func() {
		if l.done = func() error { return l.disconnect(i, sessions) }; err != nil || !l.drains(phase) {
			err = errors.Join(err, l.closeDone())
		}
	}()
	if err != nil {
		return err
	}
	if l.runner.Drivers == nil {
		if err := Discard(ctx, phase, sessions); err != nil {
			return err
		}
	}
	load, err := l.load(phase, sessions)
	if err != nil {
		return err
	}
	l.shape(&load, phase)
	m, err := l.measured(ctx, i, load)
	if err != nil {
		return err
	}
	if m.Work == 0 && phase.Ops == 0 {
		remedy := "use a longer --window or fewer connections (--connections, --users)"
		if phase.Rate > 0 {
			remedy = "use a higher --rate, fewer rows a transaction (--commit-every) or a longer --window"
		}
		return filewise.Errorf(filewise.CodeTrials, remedy,
			"none of %d connections committed anything within the window", len(sessions))
	}
	m.Operation, m.Unit, m.Bytes = phase.Operation, phase.Unit, m.Work*float64(phase.OpBytes)
	m.Connections, m.Paced = len(sessions), phase.Rate > 0 || phase.Pause != nil
	l.trial.Warnings = append(l.trial.Warnings, probe.Warnings(m.Deltas)...)
	return l.recorded(phase, m)
}

// measured runs a load between two readings of the probes.
func (l *life) measured(ctx context.Context, i int, load drive.Load) (filewise.Measure, error) {
	phase, probes := l.program.Phases[i], l.probes()
	live := probe.NewLive(probes, load.Window)
	defer live.Close()
	var edges [2]probe.Snapshot
	load.Live = new(drive.Live)
	load.Edge = func(ctx context.Context, e drive.Edge) { edges[e] = live.Edge(ctx) }
	load.AllCounts = l.rests(phase)
	l.measuring(Event{Live: load.Live, Probes: live, Operation: phase.Operation, Unit: phase.Unit})
	stop := probes.Watch(ctx, load.Window)
	result, err := l.drive(ctx, i, load, true)
	stop()
	l.did(i, result, l.whenMeasured(phase))
	if err != nil {
		return filewise.Measure{}, err
	}
	if load.AllCounts {
		result.Measure.Rest, l.edge = busy(result), &edge{probes, edges[drive.WindowEnd]}
	}
	l.stood(phase.Operation, result.Still)
	result.Measure.Deltas = append(result.Measure.Deltas, windowDeltas(probes, edges, load, result)...)
	return result.Measure, nil
}

func (l *life) whenMeasured(p filewise.Phase) string {
	if len(l.program.Phases) == 1 {
		return "while it was measured"
	}
	return "in " + p.Operation
}

// did records what a phase has committed, and its failures.
func (l *life) did(i int, r drive.Result, when string) {
	l.ledgers[i] = l.ledgers[i].Plus(r.Ledger)
	l.retried(r.Measure.Errors, when)
}

// windowDeltas returns the deltas of a window. For fixed work it returns the deltas between the two readings, which
// enclose the work.
func windowDeltas(probes *probe.Set, edges [2]probe.Snapshot, load drive.Load, r drive.Result) []filewise.Delta {
	a, b := edges[drive.WindowStart], edges[drive.WindowEnd]
	if load.Window == 0 {
		return probes.Delta(a, b)
	}
	w := probe.Window{From: r.Started.Add(r.Measure.Window[0]), To: r.Started.Add(r.Measure.Window[1])}
	for _, end := range r.Ends {
		w.Ends = append(w.Ends, r.Started.Add(end))
	}
	return probes.Within(a, b, w)
}

// unmeasured runs some of a phase's work without measuring it.
func (l *life) unmeasured(ctx context.Context, i int, when string, shape func(*drive.Load, filewise.Phase)) (err error) {
	phase := l.program.Phases[i]
	sessions, err := l.connect(ctx, i)
	defer func() { err = errors.Join(err, l.disconnect(i, sessions)) }()
	if err != nil {
		return err
	}
	load, err := l.load(phase, sessions)
	if err != nil {
		return err
	}
	shape(&load, phase)
	result, err := l.drive(ctx, i, load, false)
	l.did(i, result, when)
	return err
}

// load returns the load of a phase's sessions. Its end is not set.
func (l *life) load(phase filewise.Phase, sessions []filewise.Session) (drive.Load, error) {
	load, err := l.runner.Plan.Load(l.program, phase, l.db.Chunk)
	load.Sessions, load.Clock, load.Stopped = sessions, l.runner.Clock, l.runner.Stopped
	load.NoLatencies = l.runner.NoLatencies && len(phase.ByLatency) == 0
	return load, err
}

// Load returns the load of a phase's sessions, in calls of chunk operations (see filewise.Database). Its end is not
// set. It returns an error if the phase has several types but does not report the type of an operation.
func (p Plan) Load(program filewise.Program, phase filewise.Phase, chunk int64) (drive.Load, error) {
	load := drive.Load{
		SliceLength: p.SliceLength, Chunk: chunk, Multiple: int64(phase.CommitEvery), Rate: phase.Rate, Pause: phase.Pause,
		Retry: program.Retry, Seed: p.Seed,
	}
	if phase.Client {
		load.Chunk = 1
	}
	if len(phase.Types) == 0 {
		return load, nil
	}
	typed, ok := phase.Args.(filewise.TypedArgs)
	if !ok {
		return load, fmt.Errorf("%s has %d types of operations, and does not report which is which", phase.Operation, len(phase.Types))
	}
	load.Types, load.TypeOf = phase.Types, typed.TypeOf
	return load, nil
}

// shape sets how much work the load measures: the turn's, the phase's or the plan's.
func (l *life) shape(load *drive.Load, phase filewise.Phase) {
	p, pilot := l.runner.Plan, l.trial.Cell.Pilot
	switch {
	case l.turn != nil && p.Work > 0:
		load.Ops = l.turn.partOf(opsOf(p.Work/phase.OpBytes, len(load.Sessions)), load.Multiple)
	case l.turn != nil && l.turn.length > 0:
		load.WarmUp, load.Window = l.turn.lead, l.turn.length
	case phase.Ops > 0:
		load.Ops = opsOf(phase.Ops, len(load.Sessions))
	case phase.Window > 0:
		load.Window = phase.Window
	case p.Window == 0 && pilot:
		load.Ops = opsOf(p.pilotWork()/phase.OpBytes, len(load.Sessions))
	case p.Window == 0:
		load.Ops = opsOf(p.Work/phase.OpBytes, len(load.Sessions))
	case pilot:
		load.Window = p.PilotWindow
	default:
		load.WarmUp, load.Window = l.schedule.WarmUp, p.Window
	}
}

// opsOf splits the operations evenly over the connections.
func opsOf(total int64, connections int) []int64 {
	ops := make([]int64, connections)
	for i := range ops {
		ops[i] = total / int64(connections)
		if int64(i) < total%int64(connections) {
			ops[i]++
		}
	}
	return ops
}

// Discard runs the operations that each connection must do before the measured ones.
func Discard(ctx context.Context, phase filewise.Phase, sessions []filewise.Session) error {
	if phase.Discard == 0 {
		return nil
	}
	for _, s := range sessions {
		if done, err := s.Do(ctx, 0, phase.Discard); err != nil {
			return fmt.Errorf("%d of %d operations before the measured ones: %w", done, phase.Discard, err)
		}
	}
	return nil
}

// OperationCalibration is the operation of the probe before a trial. It measures the machine's speed, which the verdict
// adjusts throughput for.
const OperationCalibration = "calibration"

// calibrate measures the machine's speed just before the trial's window, with the same short piece of work each time.
func (l *life) calibrate(ctx context.Context) error {
	if l.runner.Calibrate == nil {
		return fmt.Errorf("there is no calibration here: %w", filewise.ErrUnsupported)
	}
	start := l.runner.Clock.Now()
	speed, err := l.runner.Calibrate(ctx)
	if err != nil {
		return err
	}
	if !(speed > 0) || math.IsInf(speed, 0) {
		return fmt.Errorf("the calibration gave %v a second", speed)
	}
	window := max(l.runner.Clock.Now().Sub(start), time.Microsecond)
	l.calibration = &filewise.Measure{Operation: OperationCalibration, Unit: "writes",
		Window: [2]time.Duration{0, window}, Work: speed * window.Seconds()}
	return nil
}

// noteCalibration adds the calibration to the trial, after the measures it belongs to.
func (l *life) noteCalibration() {
	if l.calibration != nil {
		l.trial.Measures = append(l.trial.Measures, *l.calibration)
	}
}
