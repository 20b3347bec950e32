package postgres

import (
	"context"

	"filewise"
)

// readActivity counts others' sessions. An account without pg_monitor does not see
// what those of other roles do: unknown counts them.
const readActivity = `
SELECT count(*), count(*) FILTER (WHERE state = 'active' OR state = 'fastpath function call'), count(*) FILTER (WHERE state IS NULL OR state = 'disabled')
  FROM pg_stat_activity
 WHERE datid IS NOT NULL AND usesysid IS NOT NULL AND coalesce(backend_type, 'client backend') = 'client backend'
   AND pid <> pg_backend_pid() AND NOT starts_with(application_name, $1)`

// readLag is how far the slowest standby lags behind in replaying; NULL where there
// is none, or the account may not see it.
const readLag = "SELECT extract(epoch FROM max(replay_lag))::float8 FROM pg_stat_replication"

// Activity counts others' sessions, and those that execute something. The latter
// are absent where the account may not see all.
func (s *foreignServer) Activity(ctx context.Context) ([]filewise.Gauge, error) {
	var sessions, active, unknown int64
	if err := s.link.scan(ctx, readActivity, []any{appName()}, &sessions, &active, &unknown); err != nil {
		return nil, err
	}
	all := []filewise.Gauge{{Name: "sessions", Unit: "sessions", Value: float64(sessions)}}
	if unknown == 0 {
		all = append(all, filewise.Gauge{Name: "active", Unit: "sessions", Value: float64(active)})
	}
	var lag *float64
	if err := s.link.scan(ctx, readLag, nil, &lag); err != nil {
		return nil, err
	}
	if lag != nil {
		all = append(all, filewise.Gauge{Name: "replication lag", Unit: "s", Value: *lag})
	}
	return all, nil
}
