package external

import (
	"context"

	"filewise"
	"filewise/engine/innodb/dialect"
)

// systemThreads are commands of the server's own threads, in its list of
// processes.
var systemThreads = map[string]bool{"Daemon": true, "Binlog Dump": true, "Binlog Dump GTID": true, "Slave_IO": true, "Slave_SQL": true,
	"Slave_worker": true}

// Activity are the sessions of others, and those of them that execute. Without
// the right PROCESS the server shows the account's own sessions only: then both
// are absent.
func (s *server) Activity(ctx context.Context) ([]filewise.Gauge, error) {
	if !s.rights.global["PROCESS"] {
		return nil, filewise.Errorf(filewise.CodePreflight, s.grant([]string{"PROCESS"}, "*.*"),
			"without the right PROCESS the server does not show what others do: %w", filewise.ErrUnsupported)
	}
	var sessions, active float64
	err := dialect.Each(ctx, s.db, func(scan dialect.Scan) error {
		var id int64
		var user, command, database string
		err := scan(&id, &user, &command, &database)
		if err != nil || s.numbers.has(id) || s.made(database) || user == s.mine || systemThreads[command] ||
			user == "system user" || user == "event_scheduler" {
			return err
		}
		sessions++
		if command != "Sleep" {
			active++
		}
		return nil
	}, "SELECT ID, USER, COMMAND, IFNULL(DB, '') FROM information_schema.PROCESSLIST")
	if err != nil {
		return nil, s.explain(err)
	}
	return []filewise.Gauge{{Name: "active", Unit: "sessions", Value: active}, {Name: "sessions", Unit: "sessions", Value: sessions}}, nil
}
