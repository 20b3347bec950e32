package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"filewise"
	"filewise/drive"
)

// leastRate is the part of an open loop's rate below which it was not reached.
const leastRate = 0.95

// fewest are the operations below which a window did not reach the rate. Arrivals
// are as many as chance has it: three standard deviations of Poisson's are left.
func fewest(rate float64, m filewise.Measure) float64 {
	expected := rate * (m.Window[1] - m.Window[0]).Seconds()
	return leastRate*expected - 3*math.Sqrt(expected)
}

// byLatency are the figures of a phase's latency as measures: each a time, whose
// inverse is judged, so that more is better. Latency counts from the intended
// start; an operation that nobody came to counts with what it had waited.
func byLatency(phase filewise.Phase, of filewise.Measure) ([]filewise.Measure, error) {
	if len(phase.ByLatency) == 0 {
		return nil, nil
	}
	h, err := drive.DecodeHist(of.Hist)
	if err != nil {
		return nil, err
	}
	if h.TotalCount() == 0 {
		return nil, filewise.Errorf(filewise.CodeTrials, "give a higher rate, or more data so that it takes longer", "%s: no operation was due",
			of.Family)
	}
	var out []filewise.Measure
	for _, figure := range phase.ByLatency {
		us := h.Mean()
		if figure == filewise.P99Latency {
			us = float64(h.ValueAtQuantile(99))
		}
		took := max(time.Duration(us*float64(time.Microsecond)), time.Microsecond)
		out = append(out, filewise.Measure{
			Family: filewise.LatencyFamily(of.Family, figure), Unit: filewise.UnitTimes, Connections: of.Connections, Paced: true,
			Window: [2]time.Duration{0, took}, Work: 1, Hist: of.Hist, Errors: of.Errors,
		})
	}
	return out, nil
}

// recorded adds a measure to the trial, and what of its latency is judged: of a session
// when all turns are one measure.
func (l *life) recorded(phase filewise.Phase, m filewise.Measure) error {
	if l.turn != nil {
		l.trial.Measures = append(l.trial.Measures, m)
		return nil
	}
	more, err := byLatency(phase, m)
	l.trial.Measures = append(append(l.trial.Measures, m), more...)
	if got := m.Throughput(); err == nil && phase.Rate > 0 && m.Work < fewest(phase.Rate, m) {
		l.trial.Warnings = append(l.trial.Warnings, filewise.Warning{
			Code: "rate-not-reached",
			Message: fmt.Sprintf("%s: %s did %.3g of the %.3g %s a second that arrived, so that its latency grows for as long as a trial takes.",
				m.Family, l.layout.Name, got, phase.Rate, m.Unit),
			Remedy: "Set a lower --rate (beside a backup: fewer connections), or compare throughput without one.",
		})
	}
	return err
}

// longestBeside bounds what runs beside an act; slices of besideSlice keep that small.
const longestBeside, besideSlice = 24 * time.Hour, time.Second

// beside does an act while the load of another phase runs; without one it does the
// act alone. What the load gave is recorded by the function that it returns.
func (l *life) beside(ctx context.Context, phase filewise.Phase, act func() error) (record func() error, err error) {
	record = func() error { return nil }
	i := l.program.PhaseOf(phase.Beside)
	if i < 0 {
		return record, act()
	}
	sessions, err := Connect(ctx, l.db.Connector, i, l.program.Phases[i].Connections)
	defer func() { err = errors.Join(err, CloseAll(sessions)) }()
	if err != nil {
		return record, err
	}
	over, gone := make(chan struct{}), make(chan struct{})
	load, err := l.load(l.program.Phases[i], sessions)
	if err != nil {
		return record, err
	}
	load.SliceLength, load.Window, load.Until = besideSlice, longestBeside, over
	var result drive.Result
	var loadErr error
	go func() {
		defer close(gone)
		result, loadErr = drive.Run(ctx, load)
	}()
	err = act()
	close(over)
	<-gone
	m := result.Measure
	m.Family, m.Unit = filewise.BesideFamily(phase.Beside, phase.Family), l.program.Phases[i].Unit
	m.Connections, m.Paced = len(sessions), true
	record = func() error { return l.recorded(l.program.Phases[i], m) }
	if loadErr != nil {
		loadErr = fmt.Errorf("%s: %w", m.Family, loadErr)
	}
	return record, errors.Join(err, loadErr)
}
