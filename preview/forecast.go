package preview

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"filewise/archive"
	"filewise/experiment"
	"filewise/verdict"
)

// mostEarlier bounds the runs of a store that are looked at for a forecast.
const mostEarlier = 10

// Forecast says what the plan's budget can tell by the newest run of its scenario and engine
// that was measured in sessions on this host, and is in the store; nil: there is none.
func Forecast(ctx context.Context, path string, p experiment.Plan) (*experiment.Forecast, error) {
	if !p.Sessions {
		return nil, nil
	}
	runs, err := archive.List(ctx, path)
	if err != nil {
		return nil, err
	}
	looked := 0
	for _, info := range slices.Backward(runs) {
		if info.Scenario != p.Scenario || info.Engine != p.Target.Engine || info.Origin != nil || info.Trials == 0 {
			continue
		}
		if looked++; looked > mostEarlier {
			break
		}
		r, err := archive.Load(ctx, path, strconv.FormatInt(info.ID, 10))
		if err != nil {
			return nil, err
		}
		if f := forecastBy(p, r); f != nil {
			return f, nil
		}
	}
	return nil, nil
}

// forecastBy takes noise and time of a trial from a run; nil: it tells nothing of the plan.
func forecastBy(p experiment.Plan, r archive.Run) *experiment.Forecast {
	if r.Plan.Target.Mode != p.Target.Mode {
		return nil
	}
	j, err := r.Plan.Judge(r.Trials)
	if err != nil || j.Forecast == nil {
		return nil
	}
	s, pilots := j.Schedule, time.Duration(0)
	for _, t := range r.Trials {
		if t.Cell.Pilot {
			pilots += t.Elapsed * time.Duration(len(p.Layouts)) / time.Duration(len(r.Plan.Layouts))
		}
	}
	s.MaxBlocks = p.MaxBlocks
	if p.Budget > 0 {
		n := int((p.Budget - pilots) / (time.Duration(len(p.Layouts)) * s.TrialTime))
		s.MaxBlocks = min(s.MaxBlocks, max(n, verdict.FirstLook))
	}
	f, ok := p.ForecastBy(j.Forecast.Noise, fmt.Sprintf("run %d", r.ID), s, pilots)
	if !ok {
		return nil
	}
	return &f
}
