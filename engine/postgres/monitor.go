package postgres

import (
	"context"

	"filewise"
	"filewise/engine/postgres/internal/client"
)

// Activity counts others' sessions, and those that execute something. The latter
// are absent where the account may not see all.
func (s *externalServer) Activity(ctx context.Context) ([]filewise.Gauge, error) {
	var sessions, active, unknown int64
	if err := s.link.Scan(ctx, queries.Text("activity"), []any{client.AppName()}, &sessions, &active, &unknown); err != nil {
		return nil, err
	}
	all := []filewise.Gauge{{Name: "sessions", Unit: "sessions", Value: float64(sessions)}}
	if unknown == 0 {
		all = append(all, filewise.Gauge{Name: "active", Unit: "sessions", Value: float64(active)})
	}
	var lag *float64
	if err := s.link.Scan(ctx, queries.Text("lag"), nil, &lag); err != nil {
		return nil, err
	}
	if lag != nil {
		all = append(all, filewise.Gauge{Name: "replication lag", Unit: "s", Value: *lag})
	}
	return all, nil
}
