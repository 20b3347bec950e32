package archive

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"filewise"
	"filewise/internal/say"
)

// HostRun is a run that speaks for the host that it was measured on.
type HostRun struct {
	Run
	Ref  string // as it was named: number in the store, or file of the bundle
	Host string // where it was measured; empty: this host, which has no name
}

// hostTag names the host in a run's tags, before what a bundle says; campaignTag says for what it was
// measured, and a host is the same in all campaigns.
const hostTag, campaignTag = "host=", "campaign="

// name is that of the host.
func (r HostRun) name() string {
	for _, tag := range r.Plan.Tags {
		if name, ok := strings.CutPrefix(tag, hostTag); ok {
			return name
		}
	}
	switch {
	case r.Host != "":
		return r.Host
	case r.Origin != nil && r.Origin.Host != "":
		return r.Origin.Host
	}
	return "this host"
}

// labels are the tags that tell hosts apart, in whatever order they were given.
func (r HostRun) labels() []string {
	out := slices.DeleteFunc(slices.Clone(r.Plan.Tags), func(tag string) bool {
		return strings.HasPrefix(tag, hostTag) || strings.HasPrefix(tag, campaignTag)
	})
	slices.Sort(out)
	return out
}

// HostRuns are those that arguments name, and those of the store that filters choose.
func HostRuns(ctx context.Context, path string, args, filters []string, read func(ref string) (HostRun, error)) ([]HostRun, error) {
	var out []HostRun
	for _, arg := range args {
		r, err := read(arg)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	if len(filters) == 0 {
		return out, nil
	}
	stored, err := List(ctx, path)
	if err != nil {
		return nil, err
	}
	chosen, err := Chosen(stored, filters, ListOrders[0])
	if err != nil {
		return nil, err
	}
	for _, info := range chosen {
		r, err := read(strconv.FormatInt(info.ID, 10))
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// PoolHosts is what runs of one experiment on at least two hosts say together. Of several
// runs with one host and the same tags the newest counts. Runs that differ in what has to
// be equal are refused with code usage, unless meant names it.
func PoolHosts(runs []HostRun, confidence float64, meant []string) (Across, error) {
	var hosts []AcrossHost
	var left, differ []string
	newest := newestOf(runs, &left)
	for i, r := range newest {
		if i > 0 {
			ds, err := alike(newest[0], r, meant)
			if err != nil {
				return Across{}, err
			}
			for _, d := range ds {
				if !slices.Contains(differ, d) {
					differ = append(differ, d)
				}
			}
		}
		d, err := r.Data()
		if err != nil {
			return Across{}, err
		}
		hosts = append(hosts, AcrossHost{Name: nameAmong(r, newest), Tags: r.labels(), Run: r.Ref, Data: d})
	}
	if len(hosts) < 2 {
		return Across{}, filewise.Errorf(filewise.CodeUsage, "name runs or bundles of two hosts or more; "+
			"run --tag host=NAME says where a run was measured", "%s", say.Joined(": ", fmt.Sprintf("%s of %s cannot be pooled",
			filewise.Counted(len(runs), "run"), filewise.Counted(len(hosts), "host")), strings.TrimSuffix(strings.Join(left, " "), ".")))
	}
	a, err := NewAcross(hosts, confidence)
	a.Left, a.Meant = append(a.Left, left...), append(a.Meant, differ...)
	return a, err
}

// newestOf are the newest runs of each host with the same tags, in the order given.
func newestOf(runs []HostRun, left *[]string) []HostRun {
	var out []HostRun
	for _, r := range runs {
		same := slices.IndexFunc(out, func(o HostRun) bool {
			return strings.EqualFold(o.name(), r.name()) && slices.Equal(o.labels(), r.labels())
		})
		if same < 0 {
			out = append(out, r)
			continue
		}
		older, again := r, out[same].Started.Equal(r.Started)
		if out[same].Started.Before(r.Started) || again && len(out[same].Trials) < len(r.Trials) {
			older, out[same] = out[same], r
		}
		switch newest := out[same]; {
		case older.Ref == newest.Ref:
			*left = append(*left, fmt.Sprintf("Run %s is named twice and counts once.", older.Ref))
		case again:
			*left = append(*left, fmt.Sprintf("Runs %s and %s are the same and count once.", newest.Ref, older.Ref))
		default:
			*left = append(*left, fmt.Sprintf("Run %s does not count: run %s of %s is newer.", older.Ref, newest.Ref, older.name()))
		}
	}
	return out
}

// nameAmong is the host's name, with its labels where another run has that name too.
func nameAmong(r HostRun, all []HostRun) string {
	same := 0
	for _, o := range all {
		if strings.EqualFold(o.name(), r.name()) {
			same++
		}
	}
	if same > 1 && len(r.labels()) > 0 {
		return r.name() + ", " + strings.Join(r.labels(), ", ")
	}
	return r.name()
}

// alike refuses a run that is not of the first one's experiment, and returns in what
// they differ as meant.
func alike(first, r HostRun, meant []string) (differ []string, err error) {
	if first.Plan.Baseline != r.Plan.Baseline {
		return nil, filewise.Errorf(filewise.CodeUsage, "leave one of them out", "runs %s and %s have other baselines: %s, and %s",
			first.Ref, r.Ref, first.Plan.Baseline, r.Plan.Baseline)
	}
	var why []string
	for _, d := range differences(first.Run.Run, r.Run.Run, nil) {
		if d.Kind == Refused {
			why = append(why, fmt.Sprintf("%s: %s, and %s", d.What, d.Before, d.After))
		}
	}
	if len(why) == 0 {
		return nil, nil
	}
	for _, d := range differences(first.Run.Run, r.Run.Run, meant) {
		if d.Kind == Refused {
			return nil, filewise.Errorf(filewise.CodeUsage, "if that is how the hosts should differ, say so with --meant ("+
				strings.Join(MeantNames, ", ")+"); else leave one of them out", "runs %s and %s are of different things; %s", first.Ref, r.Ref,
				strings.Join(why, "; "))
		}
	}
	return why, nil
}
