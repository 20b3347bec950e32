package oracle

import (
	"context"
	"fmt"

	"filewise"
)

// Activity returns the number of others' sessions: users' sessions, without the server's own and this process's.
func (s *server) Activity(ctx context.Context) ([]filewise.Gauge, error) {
	return activity(ctx, s.control, s.config)
}

func activity(ctx context.Context, c client, self *config) ([]filewise.Gauge, error) {
	r, err := row(ctx, c, 3, "activity", fmt.Sprintf("%d %s %s", self.PID, self.HostName, self.ProgramName))
	if err != nil {
		return nil, err
	}
	var all []filewise.Gauge
	for i, name := range []string{"active", "sessions", "blocked"} {
		n, ok := number(r[i])
		if !ok && i != 1 {
			n, ok = 0, r[i] == nil // the sum over no sessions is NULL
		}
		if ok {
			all = append(all, filewise.Gauge{Name: name, Unit: "sessions", Value: float64(n)})
		}
	}
	return all, nil
}
