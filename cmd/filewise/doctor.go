package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/experiment"
)

func (a *app) doctorCommand() *cobra.Command {
	var f planFlags
	var selfCheck, yes, anonymous, resolve, limits bool
	var told notifyFlags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look whether this machine and a server can do an experiment",
		Long: `Doctor looks at this machine (volumes, free space, cores, what is installed) and
at the engine or server that is named: version, rights with the exact GRANT of
what is missing, space, connections, and settings that would distort a result.
It says what to do about everything it finds, and exits with 3 if something would
make an experiment fail. It only reads.

--resolve says which differences can be seen here, and in which time: it measures
the usual experiment's baseline twice, block after block, for a minute or so.

--self-check tries every statement of the adapter once, in a scratch database on
the server of --target that Filewise creates, marks and drops again; it asks
before, unless --yes has answered. The report holds no password, and neither host
nor user except in the statements that it tells you to execute; with --anonymous
not even there, so that it can be pasted into an issue.

--storage measures by fio what the storage of the volumes can give, in scratch
files, and remembers it: reports then give every load as a share of that.

--notify sends a test message to that URL.`,
		Example: `  filewise doctor
  filewise doctor --engine mariadb --volume fast=/mnt/nvme
  filewise doctor --target postgres://ada@db/ --self-check
  filewise doctor --resolve
  filewise doctor --storage --volume fast=/mnt/nvme
  filewise doctor --notify env:MAIL`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := told.read(); err != nil {
				return err
			}
			d, err := a.diagnose(cmd, &f, selfCheck, yes)
			if err != nil {
				return err
			}
			if limits {
				found, err := storageFindings(cmd.Context(), &f)
				if err != nil {
					return err
				}
				d.Machine = append(d.Machine, found...)
			}
			d.Notifications = a.tryNotify(cmd.Context(), &told)
			d.count()
			if anonymous {
				d.hideRemedies()
			}
			if resolve && d.Failed == 0 {
				if err := a.resolve(cmd, &f, d); err != nil {
					return err
				}
			}
			if a.json {
				err = a.printJSON(d)
			} else {
				err = a.printDiagnosis(d)
			}
			if err == nil && d.Failed > 0 {
				err = filewise.Errorf(filewise.CodePreflight, "do what the report says, and look again", "%s failed", checks(d.Failed))
			}
			return err
		},
	}
	f.target.register(cmd.Flags(), "")
	cmd.Flags().StringArrayVar(&f.volumes, "volume", nil, "`NAME=DIR` to look at, as the server of --target sees it (repeatable; default here=., or the server's own place)")
	told.registerURLs(cmd.Flags())
	cmd.Flags().BoolVar(&selfCheck, "self-check", false, "try every statement once in a scratch database on the server of --target")
	cmd.Flags().BoolVar(&anonymous, "anonymous", false, "leave host and user out of remedies too, for a report to be pasted")
	cmd.Flags().BoolVar(&limits, "storage", false, "measure what the storage of the volumes can give, by fio, and remember it")
	cmd.Flags().BoolVar(&resolve, "resolve", false, "measure the noise, and say which differences can be seen here in which time")
	cmd.Flags().BoolVar(&yes, "yes", false, "create that scratch database without asking")
	completeChoices(cmd)
	return cmd
}

// diagnosis is the report of doctor.
type diagnosis struct {
	Version   string                         `json:"version"` // of Filewise
	Machine   []filewise.Finding             `json:"machine"`
	Engine    string                         `json:"engine,omitempty"`
	Mode      filewise.Mode                  `json:"mode,omitempty"`
	Server    []filewise.Fact                `json:"server,omitempty"`
	Findings  []filewise.Finding             `json:"findings,omitempty"`
	Offers    map[filewise.Capability]string `json:"offers,omitempty"`
	SelfCheck []filewise.Finding             `json:"self_check,omitempty"`
	// Notifications were sent for a test.
	Notifications []filewise.Finding `json:"notifications,omitempty"`
	Resolves      *powerReport       `json:"resolves,omitempty"`
	Failed        int                `json:"failed"`
	Warnings      int                `json:"warnings"`

	external bool
	clean    func(string) string // takes host and user out
}

func checks(n int) string {
	if n == 1 {
		return "1 check"
	}
	return fmt.Sprintf("%d checks", n)
}

// diagnose looks at the machine, and at what is named. What cannot be opened is
// a finding, not an error.
func (a *app) diagnose(cmd *cobra.Command, f *planFlags, selfCheck, yes bool) (*diagnosis, error) {
	ctx := cmd.Context()
	d := &diagnosis{Version: versionString()}
	named := f.target.url != "" || cmd.Flags().Changed("engine")
	plan, err := f.usual(named)
	if err != nil {
		return nil, err
	}
	if named && plan.Target.Mode == filewise.External {
		d.Machine = machineFindings(ctx, nil)
	} else {
		d.Machine = machineFindings(ctx, plan.Target.Volumes)
	}
	if selfCheck && plan.Target.Mode != filewise.External {
		return nil, filewise.Errorf(filewise.CodeUsage, "give a server by --target, or leave --self-check out", "--self-check is for existing servers: a private one is tried whenever it is opened")
	}
	if named {
		if err := a.diagnoseServer(ctx, d, f, plan, selfCheck, yes); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// count counts what did not pass.
func (d *diagnosis) count() {
	for _, list := range [][]filewise.Finding{d.Machine, d.Findings, d.SelfCheck, d.Notifications} {
		for _, x := range list {
			switch x.Status {
			case filewise.StatusFailed:
				d.Failed++
			case filewise.StatusWarning:
				d.Warnings++
			}
		}
	}
}

// usual is the plan that run would make of no other flags: what doctor examines
// a server for.
func (f *planFlags) usual(named bool) (experiment.Plan, error) {
	// A command of its own: doctor has but a few of the flags of run.
	run := &cobra.Command{Use: "run"}
	g := planFlags{}
	g.register(run.Flags())
	set := func(name, value string) error {
		if value == "" {
			return nil
		}
		return run.Flags().Set(name, value)
	}
	errs := []error{set("target", f.target.url)}
	if named {
		errs = append(errs, set("engine", f.target.engine))
	}
	for _, v := range f.volumes {
		errs = append(errs, set("volume", v))
	}
	if err := errors.Join(errs...); err != nil {
		return experiment.Plan{}, err
	}
	p, err := g.plan(run, defaultScenario)
	f.chosen = g.chosen
	return p, err
}

// diagnoseServer opens the server and examines it for the plan.
func (a *app) diagnoseServer(ctx context.Context, d *diagnosis, f *planFlags, p experiment.Plan, selfCheck, yes bool) (err error) {
	d.Engine, d.Mode, d.external = p.Target.Engine, p.Target.Mode, p.Target.Mode == filewise.External
	addLabels(d, f.about)
	r, err := prepare(p)
	if err != nil {
		return err
	}
	if d.external {
		err = r.connect(ctx, p.Target, f.access(a, p.Target))
	} else {
		r.target = p.Target
		if err = r.makeScratch("a look at " + d.Engine); err == nil {
			if r.server, err = r.engine.Open(ctx, r.target); err == nil {
				r.undo = append(r.undo, r.server.Close)
			}
		}
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if err != nil {
		if code := filewise.CodeOf(err); code == filewise.CodeUsage || ctx.Err() != nil {
			return err
		}
		d.Findings = append(d.Findings, filewise.Finding{Check: "open", Status: filewise.StatusFailed, Detail: err.Error(), Remedy: filewise.RemedyOf(err)})
		err = nil
		d.anonymous(p.Target, a)
		return nil
	}
	if d.Server, err = r.server.Facts(ctx); err != nil {
		return err
	}
	d.Offers = offersOf(r.server)
	d.Findings = append(d.Findings, r.examine(ctx, p)...)
	if d.external {
		d.Findings = r.leftOver(ctx, d.Findings)
	} else {
		d.Findings = append(d.Findings, ownFindings(d, r, p)...)
	}
	if selfCheck {
		err = a.selfCheck(ctx, d, r, yes)
	}
	d.anonymous(p.Target, a)
	return err
}

func addLabels(d *diagnosis, about filewise.Description) {
	for _, l := range []struct{ check, text string }{{"never run against the product", about.Unproven}, {"licence", about.Licence}} {
		if l.text != "" {
			d.Findings = append(d.Findings, filewise.Finding{Check: l.check, Status: filewise.StatusNote, Detail: l.text})
		}
	}
}

// selfCheck tries every statement of the adapter on a scratch database, alone on
// the server as a measuring run is.
func (a *app) selfCheck(ctx context.Context, d *diagnosis, r *rig, yes bool) (err error) {
	checker, ok := r.server.(filewise.SelfChecker)
	if !ok {
		return filewise.Errorf(filewise.CodePreflight, "leave --self-check out", "%s has no self-check: %w", d.Engine, filewise.ErrUnsupported)
	}
	if !yes {
		if err := a.confirm(ctx, "Create a scratch database on the server, try every statement in it, and drop it again?"); err != nil {
			return err
		}
	}
	if locker, ok := r.server.(filewise.Locker); ok {
		lock, err := locker.Lock(ctx, "self-check, "+whoAmI())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, lock.Release()) }()
	}
	checker.SelfCheck(ctx, func(f filewise.Finding) { d.SelfCheck = append(d.SelfCheck, f) })
	d.SelfCheck = r.hide(d.SelfCheck)
	return ctx.Err()
}

// publicNames tell nobody anything.
var publicNames = []string{"", "localhost", "127.0.0.1", "::1", "filewise", "root", "postgres", "sa", "system"}

// anonymous takes secrets out of what the report shows, and host and user out of
// all but the remedies, which are to be executed as they are.
func (d *diagnosis) anonymous(t filewise.Target, a *app) {
	if t.Address == nil {
		return
	}
	d.clean = func(s string) string {
		for _, x := range []struct{ name, as string }{{t.Address.Host, "HOST"}, {t.Address.User, "USER"}} {
			if !slices.Contains(publicNames, x.name) && !strings.HasPrefix(x.name, "/") && x.name != t.Engine {
				s = regexp.MustCompile(`\b`+regexp.QuoteMeta(x.name)+`\b`).ReplaceAllString(s, x.as)
			}
		}
		return s
	}
	clean := func(s string) string { return d.clean(filewise.Hide(s, a.secrets...)) }
	d.Server = slices.DeleteFunc(d.Server, func(f filewise.Fact) bool { return f.Name == "hostname" })
	for _, list := range [][]filewise.Finding{d.Findings, d.SelfCheck} {
		for i := range list {
			list[i].Detail, list[i].Remedy = clean(list[i].Detail), filewise.Hide(list[i].Remedy, a.secrets...)
		}
	}
	for i := range d.Server {
		d.Server[i].Value = clean(d.Server[i].Value)
	}
	for c, why := range d.Offers {
		d.Offers[c] = clean(why)
	}
}

// hideRemedies takes host and user out of the remedies.
func (d *diagnosis) hideRemedies() {
	if d.clean == nil { // no server, so that they name none
		return
	}
	for _, list := range [][]filewise.Finding{d.Findings, d.SelfCheck} {
		for i := range list {
			list[i].Remedy = d.clean(list[i].Remedy)
		}
	}
}

func (a *app) printDiagnosis(d *diagnosis) error {
	w := &lineWriter{w: a.stdout}
	w.printf("filewise doctor, version %s\n\nThis machine\n", d.Version)
	printFindings(w, d.Machine)
	if d.Engine != "" {
		w.printf("\n%s, %s\n", d.Engine, d.Mode)
		for _, fact := range d.Server {
			w.printf("  %s: %s\n", fact.Name, indent(fact.Value, 4))
		}
		w.printf("\nChecks\n")
		printFindings(w, d.Findings)
		for _, c := range filewise.Capabilities {
			if why, ok := d.Offers[c]; ok && why != "yes" {
				w.printf("  %-8s %s: %s\n", "cannot", c, indent(why, 11))
			}
		}
	}
	switch {
	case len(d.SelfCheck) > 0:
		w.printf("\nSelf-check: every statement once, in a scratch database\n")
		printFindings(w, d.SelfCheck)
	case d.external:
		w.printf("\nNothing was written. --self-check tries every statement once, in a scratch database that it drops again.\n")
	}
	if len(d.Notifications) > 0 {
		w.printf("\nNotifications\n")
		printFindings(w, d.Notifications)
	}
	if d.Resolves != nil {
		w.printf("\nWhat can be seen here\n")
		if err := a.printPower(*d.Resolves); err != nil {
			return err
		}
	} else {
		w.printf("\nWhich differences can be seen here, and in which time: filewise doctor --resolve measures it.\n")
	}
	w.printf("\n%s failed, %d warned.\n", checks(d.Failed), d.Warnings)
	return w.err
}

// resolve measures the noise of the usual experiment and adds what it allows to see.
func (a *app) resolve(cmd *cobra.Command, f *planFlags, d *diagnosis) error {
	named := f.target.url != "" || cmd.Flags().Changed("engine")
	p, err := f.usual(named)
	if err != nil {
		return err
	}
	n, err := a.measureNoise(cmd.Context(), p, f.access(a, p.Target))
	if err != nil {
		return err
	}
	out, err := powerOf(n, len(p.Layouts), p.Confidence)
	d.Resolves = &out
	return err
}
