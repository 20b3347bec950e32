package plan_test

import (
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/engine/all"
	"filewise/run/plan"
)

// Drivers are for the connections to an existing server, and are refused elsewhere with what to do.
func TestDrivers(t *testing.T) {
	engines := plan.Engines(all.Engines())
	server := "postgres://ada@db.lan/postgres"
	for _, c := range []struct {
		scenario, target, engine, drivers string
		rate                              float64
		connections                       int
		says                              string // empty: it is possible
	}{
		{"inserts", server, "", "a,b", 0, 4, ""},
		{"inserts", "", "sqlite", "a,b", 0, 4, "give the URL of an existing server"},
		{"inserts", "", "postgres", "a,b", 0, 4, "give the URL of an existing server"},
		{"inserts", "mysql://ada@db.lan/", "", "A,b", 0, 4, ""},
		{"inserts", "sqlserver://ada@db.lan/", "", "a,b", 0, 4, "this host drives it alone"},
		{"inserts", server, "", "a,b,c", 0, 2, "give more --connections"},
		{"inserts", server, "", "a,A", 0, 4, "name of each host once"},
		{"inserts", server, "", "a,", 0, 4, "name of each host once"},
		{"orders", server, "", "a,b", 50, 4, "leave --rate or --drivers out"},
		{"scan", server, "", "a,b", 0, 1, "give more --connections"},
	} {
		o := engines.New()
		o.Scenario = c.scenario
		if c.target != "" {
			o.Target = plan.Of(c.target)
		} else {
			o.Engine = plan.Of(c.engine)
		}
		o.Drivers = plan.Of(c.drivers)
		if c.rate > 0 {
			o.Rate = plan.Of(c.rate)
		}
		if c.connections > 0 {
			o.Connections = plan.Of(c.connections)
		}
		made, err := engines.Make(o)
		switch {
		case c.says == "" && (err != nil || !slices.Equal(made.Drivers, []string{"a", "b"}) || !slices.Contains(made.Command, c.drivers)):
			t.Errorf("%+v: %v, %v", c, made.Command, err)
		case c.says != "" && (filewise.CodeOf(err) != filewise.CodeUsage || !strings.Contains(filewise.RemedyOf(err), c.says)):
			t.Errorf("%+v: %v; %s", c, err, filewise.RemedyOf(err))
		}
	}
}
