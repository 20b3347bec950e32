package plan

import (
	"fmt"
	"slices"
	"strings"

	"filewise"
	"filewise/experiment"
)

// DriverOptions say which hosts put the load on a server in place of this one.
type DriverOptions struct {
	Drivers  Opt[string]
	Temporal Opt[string]
}

// Table has their rows.
func (o *DriverOptions) Table() []Option {
	return append([]Option{
		Row(&o.Drivers, "drivers", "", "`hosts` that share the connections to the server of --target, and start each load at one instant: "+
			"host1,host2, whose workers are reached through Temporal"),
	}, o.TemporalTable()...)
}

// TemporalTable has the row of where Temporal is alone.
func (o *DriverOptions) TemporalTable() []Option {
	return []Option{Row(&o.Temporal, "temporal", "", "`HOST:PORT` of Temporal, for --drivers (default: TEMPORAL_ADDRESS, a profile of "+
		"temporal.toml, or localhost:7233)").unrepeated()}
}

// setDrivers comes after all that says what a trial does.
func (m *maker) setDrivers() error {
	given := m.o.Drivers.Value
	if given == "" {
		return nil
	}
	hosts := strings.Split(given, ",")
	program, err := m.program()
	if err != nil {
		return err
	}
	for i, host := range hosts {
		if host == "" || strings.ContainsAny(host, " \"'`\\\n") || slices.Contains(hosts[:i], host) {
			return BadValue("drivers", given, "give the name of each host once, as its worker has it: host1,host2")
		}
	}
	refuse := func(remedy, format string, args ...any) error {
		return filewise.Errorf(filewise.CodeUsage, remedy, "--drivers %s is not possible: %s%w", given, fmt.Sprintf(format, args...),
			unfit{name: "drivers"})
	}
	const leave = "leave --drivers out"
	switch {
	case m.Target.Mode != filewise.External || m.plan.Target.Database != "":
		return refuse("give the URL of an existing server that all drivers reach (--target), or "+leave,
			"drivers share a server by its URL, and %s here is Filewise's own on this host", m.Target.Engine)
	case !m.About.Shares:
		return refuse(leave+": this host drives it alone", "sessions of several hosts cannot yet work on one build of %s", m.Target.Engine)
	case program.WorksBeside() || program.BacksUp() || program.Churns() || m.plan.Layouts[0].AddedLater != "" ||
		m.plan.Measure == experiment.MeasureLifecycle:
		return refuse(leave, "only the load of connections can be shared, and trials of this plan do more")
	}
	for _, x := range program.Phases {
		switch {
		case x.Rate > 0:
			return refuse("leave --rate or --drivers out", "any free connection takes the next operation of a rate, and they are on several hosts")
		case len(hosts) > x.Connections:
			return refuse("name fewer, or give more --connections", "%s for %s (%s)", filewise.Counted(len(hosts), "driver"),
				filewise.Counted(x.Connections, "connection"), x.Family)
		}
	}
	m.plan.Drivers = hosts
	return nil
}
