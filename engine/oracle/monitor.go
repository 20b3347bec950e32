package oracle

import (
	"context"
	"fmt"

	"filewise"
)

// Activity are the sessions of others: of users, not the server's own, and not
// those of this process.
func (s *server) Activity(ctx context.Context) ([]filewise.Gauge, error) {
	return activity(ctx, s.control, s.config)
}

func activity(ctx context.Context, c client, own *config) ([]filewise.Gauge, error) {
	found, err := rows(ctx, c, 3, "activity", nil, fmt.Sprintf("%d %s %s", own.PID, own.HostName, own.ProgramName))
	if err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, errNoRows
	}
	var all []filewise.Gauge
	for i, name := range []string{"active", "sessions", "blocked"} {
		n, ok := number(found[0][i])
		if !ok && i != 1 {
			n, ok = 0, found[0][i] == nil // the sum over no session
		}
		if ok {
			all = append(all, filewise.Gauge{Name: name, Unit: "sessions", Value: float64(n)})
		}
	}
	return all, nil
}
