package fleet

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"filewise"
)

// With returns the hosts that have all of the labels.
func (c Campaigns) With(ctx context.Context, labels []string) ([]Present, error) {
	all, err := c.Hosts(ctx)
	if err != nil {
		return nil, err
	}
	return having(all, labels)
}

func having(all []Present, labels []string) (out []Present, err error) {
	known := slices.DeleteFunc(slices.Clone(all), func(p Present) bool { return p.Unread != "" })
	out = slices.DeleteFunc(slices.Clone(known), func(p Present) bool { return !p.Has(labels) })
	unread := ""
	if n := len(all) - len(known); n > 0 {
		unread = fmt.Sprintf("; nothing can be read of %s: give %s as the workers have it", filewise.Counted(n, "other"), KeyVariable)
	}
	switch {
	case len(all) == 0:
		return nil, filewise.Errorf(filewise.CodeNotFound, "start \"filewise worker\" on each host that shall measure",
			"no host has a worker yet")
	case len(known) == 0:
		return nil, filewise.Errorf(filewise.CodeNotFound, "give "+KeyVariable+" as the workers have it", "nothing can be read of what "+
			"%s offer: %s", filewise.Counted(len(all), "host"), all[0].Unread)
	case len(out) == 0:
		return nil, filewise.Errorf(filewise.CodeNotFound, "give labels that a host has, or start its worker with them: filewise "+
			"worker --label "+strings.Join(labels, " --label "), "none of %s has %s; there are %s%s",
			filewise.Counted(len(known), "host"), strings.Join(labels, " and "), labelsOf(known), unread)
	}
	return out, nil
}

// labelsOf lists the labels by which hosts can be chosen.
func labelsOf(all []Present) string {
	var hosts, labels []string
	for _, p := range all {
		hosts = append(hosts, "host="+p.Host)
		labels = append(labels, p.Labels...)
	}
	slices.Sort(labels)
	return most(append(slices.Compact(labels), hosts...))
}

// most joins names. If there are many, it joins the first ones only.
func most(names []string) string {
	if enough := 20; len(names) > enough {
		return strings.Join(names[:enough], ", ") + fmt.Sprintf(", and %d more (filewise campaign list)", len(names)-enough)
	}
	return strings.Join(names, ", ")
}

// Forget removes hosts from the known ones, unless one of them has a worker. A worker makes its host known again.
func (c Campaigns) Forget(ctx context.Context, names []string) error {
	all, err := c.Hosts(ctx)
	if err != nil {
		return err
	}
	var known []string
	for _, name := range names {
		switch i := slices.IndexFunc(all, func(p Present) bool { return strings.EqualFold(p.Host, name) }); {
		case i < 0:
			return filewise.Errorf(filewise.CodeNotFound, "\"filewise campaign list\" lists them", "there is no host %q", name)
		case all[i].Working:
			return filewise.Errorf(filewise.CodeBusy, "end it first; one that has died is taken for alive for two minutes", "host %s has a worker "+
				"there", name)
		default:
			known = append(known, all[i].Host)
		}
	}
	for _, name := range known {
		if err := c.TerminateWorkflow(ctx, hostPrefix+name, "", "forgotten"); err != nil {
			return unreachable(err)
		}
	}
	return nil
}

// Forgotten lists hosts that are gone for good.
type Forgotten struct {
	Forgotten []string `json:"forgotten"`
}

// Words describes the host in a line.
func (p Present) Words() string {
	if p.Unread != "" {
		return fmt.Sprintf("host %s: what it offers cannot be read: %s", p.Host, p.Unread)
	}
	away := ""
	if !p.Working {
		away = ": no worker is there"
	}
	return fmt.Sprintf("host %s %v, %s%s", p.Host, p.Labels, filewise.Counted(p.Cores, "core"), away)
}

// Older counts jobs that were started with another study.
func Older(states []State, study Study) (n int) {
	for _, s := range states {
		if !bytes.Equal(s.Study, study.Text) || !maps.Equal(s.Scripts, study.Scripts) {
			n++
		}
	}
	return n
}

// Started describes what starting a campaign has done.
type Started struct {
	Campaign string    `json:"campaign"`
	Started  int       `json:"started"` // jobs that were started
	Hosts    []Present `json:"hosts"`
}

// Signalled describes a campaign whose jobs got a signal.
type Signalled struct {
	Campaign string `json:"campaign"`
	Jobs     int    `json:"told"` // jobs that had not ended, or begin again
}

// Words describes who got the signal.
func (t Signalled) Words() string {
	if t.Jobs == 0 {
		return fmt.Sprintf("All jobs of campaign %s have ended: another --name measures again; \"resume\" restarts jobs that failed "+
			"or were lost if their host has a worker.", t.Campaign)
	}
	return fmt.Sprintf("Signalled %s.", filewise.Counted(t.Jobs, "job"))
}

// Listed holds all campaigns and hosts.
type Listed struct {
	Campaigns []Sum     `json:"campaigns"`
	Hosts     []Present `json:"hosts"`
}

// List returns all campaigns and hosts, also campaigns that cannot be read without their key.
func (c Campaigns) List(ctx context.Context) (Listed, error) {
	hosts, err := c.Hosts(ctx)
	if err != nil {
		return Listed{}, err
	}
	jobs, err := c.Jobs(ctx, "")
	if err != nil {
		return Listed{}, err
	}
	states, err := c.Readable(ctx, jobs)
	return Listed{Campaigns: Sums(states), Hosts: hosts}, err
}

// Sum counts a campaign's jobs by condition.
type Sum struct {
	Campaign string         `json:"campaign"`
	Jobs     map[string]int `json:"orders"`
}

// Words describes the sum in a line: "night: 2 done, 1 paused".
func (s Sum) Words() string {
	var of []string
	for _, condition := range slices.Sorted(maps.Keys(s.Jobs)) {
		of = append(of, fmt.Sprint(s.Jobs[condition], " ", condition))
	}
	return s.Campaign + ": " + strings.Join(of, ", ")
}

// Sums returns the sums of jobs by campaign.
func Sums(states []State) []Sum {
	out := []Sum{}
	for _, s := range states {
		i := slices.IndexFunc(out, func(sum Sum) bool { return sum.Campaign == s.Campaign })
		if i < 0 {
			i, out = len(out), append(out, Sum{s.Campaign, map[string]int{}})
		}
		out[i].Jobs[s.Condition]++
	}
	return out
}

// Unmeasured returns an error for jobs that have ended without being measured: failed, or lost.
func Unmeasured(states []State) error {
	n := 0
	for _, s := range states {
		if s.Condition == Failed || s.Condition == Lost {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return filewise.Errorf(filewise.CodeTrials, "mend what is listed for each, and begin them again: filewise campaign resume "+
		states[0].Campaign,
		"jobs that failed, or lost their host: %d of %d", n, len(states))
}
