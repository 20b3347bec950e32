package archive

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"filewise"
	"filewise/internal/progress"
	"filewise/internal/say"
	"filewise/results/store"
)

// HostRun holds a judged run, without its trials, as the result of the host that it was measured on.
type HostRun struct {
	store.Run
	Ref  string // what the user named: number in the store, or file of the bundle
	Host string // the measuring host. Empty means this host, which has no name

	trials int
	judged AcrossHost // the run's verdict; its host name is not filled in
}

// NewHostRun judges a run. The host name is empty if the run was measured on this host, which has no name.
func NewHostRun(r Run, ref, host string) (HostRun, error) {
	d, err := r.Data()
	if err != nil {
		return HostRun{}, err
	}
	out := HostRun{Run: r.judgedBy(), Ref: ref, Host: host, trials: len(r.Trials)}
	out.judged = NewAcrossHost("", out.labels(), ref, d)
	return out, nil
}

// hostTag begins the tag with a host's name, which takes precedence over the host in the bundle. campaignTag begins the
// tag with the campaign for which a run was measured. A host is the same in all campaigns.
const hostTag, campaignTag = "host=", "campaign="

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

// labels returns the tags, other than host and campaign, in alphabetical order.
func (r HostRun) labels() []string {
	out := slices.DeleteFunc(slices.Clone(r.Plan.Tags), func(tag string) bool {
		return strings.HasPrefix(tag, hostTag) || strings.HasPrefix(tag, campaignTag)
	})
	slices.Sort(out)
	return out
}

// HostRuns reads the runs that args name, then the runs of the store that filters choose.
func HostRuns(ctx context.Context, path string, args, filters []string, read func(ref string) (HostRun, error)) ([]HostRun, error) {
	refs := slices.Clone(args)
	if len(filters) > 0 {
		stored, err := List(ctx, path)
		if err != nil {
			return nil, err
		}
		chosen, err := Chosen(stored, filters, ListOrders[0])
		if err != nil {
			return nil, err
		}
		for _, info := range chosen {
			refs = append(refs, strconv.FormatInt(info.ID, 10))
		}
	}
	out := make([]HostRun, len(refs))
	step := progress.Begin(ctx, "judging runs", int64(len(refs)), "runs")
	defer step.End()
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, ref := range refs {
		group.Go(func() (err error) {
			if err = ctx.Err(); err == nil {
				out[i], err = read(ref)
				step.Add(1)
			}
			return err
		})
	}
	return out, group.Wait()
}

// PoolHosts returns the common result of runs of one experiment on at least two hosts. If several runs have the same
// host and tags, the newest counts. Runs that differ in what must be equal are refused with code usage, unless meant
// names the difference.
func PoolHosts(runs []HostRun, confidence float64, meant []string) (Across, error) {
	var hosts []AcrossHost
	var left, differ []string
	newest := newestOf(runs, &left)
	for i, r := range newest {
		if i > 0 {
			ds, err := sameExperiment(newest[0], r, meant)
			if err != nil {
				return Across{}, err
			}
			for _, d := range ds {
				if !slices.Contains(differ, d) {
					differ = append(differ, d)
				}
			}
		}
		host := r.judged
		host.Name = nameAmong(r, newest)
		hosts = append(hosts, host)
	}
	if len(hosts) < 2 {
		return Across{}, filewise.Errorf(filewise.CodeUsage, "name runs or bundles of two hosts or more; "+
			"run --tag host=NAME records the host of a run", "%s", say.Joined(": ", fmt.Sprintf("%s of %s cannot be pooled",
			filewise.Counted(len(runs), "run"), filewise.Counted(len(hosts), "host")), strings.TrimSuffix(strings.Join(left, " "), ".")))
	}
	a, err := NewAcross(hosts, confidence)
	a.Left, a.Meant = append(a.Left, left...), append(a.Meant, differ...)
	return a, err
}

// newestOf returns the newest run of each host with the same tags, in the order given.
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
		if out[same].Started.Before(r.Started) || again && out[same].trials < r.trials {
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

// nameAmong returns the host's name, with its labels if another run has that name too.
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

// sameExperiment returns the differences between two runs that meant allows. It refuses a run that is not of the first run's
// experiment.
func sameExperiment(first, r HostRun, meant []string) (differ []string, err error) {
	if first.Plan.Baseline != r.Plan.Baseline {
		return nil, filewise.Errorf(filewise.CodeUsage, "leave one of them out", "runs %s and %s have other baselines: %s, and %s",
			first.Ref, r.Ref, first.Plan.Baseline, r.Plan.Baseline)
	}
	why, remedy := refusal(planned(first.Plan, r.Plan, nil))
	if left, _ := refusal(planned(first.Plan, r.Plan, meant)); len(left) == 0 {
		return why, nil
	}
	if first.Plan.JudgedBy() != r.Plan.JudgedBy() {
		return nil, filewise.Errorf(filewise.CodeUsage, fmt.Sprintf("judge all by the same, such as --rules %d", max(first.Plan.JudgedBy(),
			r.Plan.JudgedBy())), "runs %s and %s cannot be compared: they differ in %s", first.Ref, r.Ref, strings.Join(why, ", "))
	}
	return nil, filewise.Errorf(filewise.CodeUsage, remedy+"; else leave one of them out",
		"runs %s and %s cannot be compared: they differ in %s", first.Ref, r.Ref, strings.Join(why, ", "))
}
