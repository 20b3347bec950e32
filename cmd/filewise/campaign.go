package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/fleet"
	"filewise/fleet/drivers"
	"filewise/internal/filesystem"
	"filewise/results/archive"
	"filewise/results/report/document"
	"filewise/results/store"
	"filewise/run/plan"
	"filewise/run/study"
)

// campaignFlags chooses what is measured, and on which hosts.
type campaignFlags struct {
	temporal, name string
	labels, only   []string
	any, detach    bool
	patience       time.Duration
}

func (a *app) campaignCommand() *cobra.Command {
	var f campaignFlags
	cmd := &cobra.Command{
		Use:   "campaign FILE",
		Short: "Measure a study's experiments on many hosts, through Temporal",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.dialled(cmd.Context(), f.temporal, func(c fleet.Campaigns) error { return a.campaign(cmd.Context(), c, args[0], &f) })
		},
	}
	temporalFlag(cmd.PersistentFlags(), &f.temporal)
	cmd.Flags().StringVar(&f.name, "name", "", "`name` of the campaign (default: the file's name)")
	cmd.Flags().StringArrayVar(&f.labels, "label", nil, "only hosts with this `KEY=VALUE`, such as host=NAME (repeatable: all must "+
		"hold)")
	registerOnly(cmd, &f.only)
	cmd.Flags().BoolVar(&f.any, "any", false, "measure each experiment on one host, not on all")
	cmd.Flags().BoolVar(&f.detach, "detach", false, "do not wait for the end")
	cmd.Flags().DurationVar(&f.patience, "patience", drivers.Patience, "wait this `time` for a silent host")
	cmd.AddCommand(a.campaignList(&f), a.campaignShow(&f), a.campaignFetch(&f),
		a.campaignTell(&f, "pause", "Pause a campaign: each host gives up its trial, and is free"),
		a.campaignTell(&f, "resume", "Continue a paused campaign, and failed or lost jobs"),
		a.campaignTell(&f, "stop", "End a campaign: whatever is finished is kept"), a.campaignForget(&f))
	return cmd
}

// campaign starts a campaign, or continues one that was started, and waits for its end.
func (a *app) campaign(ctx context.Context, c fleet.Campaigns, file string, f *campaignFlags) error {
	s, err := a.studyOf(file, f.only)
	if err != nil {
		return err
	}
	if f.name == "" {
		f.name = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	}
	if f.patience <= 0 {
		return plan.OutOfRange("patience", f.patience, "give a time such as 1h")
	}
	hosts, err := f.hosts(ctx, c)
	if err != nil {
		return err
	}
	jobs, n, err := c.Start(ctx, f.name, s, hosts, f.any, f.patience)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "filewise: campaign %s: %s started on %s\n", f.name, filewise.Counted(n, "job"),
		filewise.Counted(len(hosts), "host"))
	if err := a.sayOlder(ctx, c, jobs, n, s); err != nil {
		return err
	}
	for _, h := range hosts {
		if !h.Working && !f.any {
			fmt.Fprintf(a.stderr, "filewise: %s: its jobs wait for %v, and are lost then\n", document.Harmless(h.Words()), f.patience)
		}
	}
	if f.detach {
		return a.print(fleet.Started{Campaign: f.name, Started: n, Hosts: hosts}, func(w *lineWriter) {
			w.printf("\"filewise campaign show %s\" shows it, \"filewise campaign fetch %s\" takes the results.\n", f.name, f.name)
		})
	}
	var ended []fleet.State
	err = c.Wait(ctx, jobs, func(s fleet.State) {
		ended = append(ended, s)
		fmt.Fprintln(a.stderr, "filewise:", document.Harmless(s.Words()))
	})
	switch {
	case err != nil && ctx.Err() != nil:
		remedy := fmt.Sprintf("\"filewise campaign show %s\" shows it, and the same command waits again", f.name)
		return filewise.Errorf(codeInterrupted, remedy, "interrupted; campaign %s goes on", f.name)
	case err != nil:
		return err
	}
	err = a.fetch(ctx, c, jobs)
	if unmeasured := fleet.Unmeasured(ended); unmeasured != nil {
		return errors.Join(unmeasured, err)
	}
	return err
}

// hosts returns the chosen hosts.
func (f *campaignFlags) hosts(ctx context.Context, c fleet.Campaigns) ([]fleet.Present, error) {
	for _, label := range f.labels {
		if pair := plan.ParsePair(label); pair.Bare || pair.Name == "" {
			return nil, plan.BadValue("label", label, "give KEY=VALUE, such as storage=nvme")
		}
	}
	return c.With(ctx, f.labels)
}

// sayOlder reports how many of the jobs were started with another study. n of them are new.
func (a *app) sayOlder(ctx context.Context, c fleet.Campaigns, jobs []string, n int, s fleet.Study) error {
	if n == len(jobs) {
		return nil
	}
	states, err := c.States(ctx, jobs)
	if older := fleet.Older(states, s); err == nil && older > 0 {
		fmt.Fprintf(a.stderr, "filewise: %s began with another %s, which still holds there; --name NAME measures by this one\n",
			filewise.Counted(older, "job"), s.File)
	}
	return err
}

// studyOf reads the study file in the form that workers get. Variables in it are resolved on the workers.
func (a *app) studyOf(file string, only []string) (out fleet.Study, err error) {
	text, err := filesystem.ReadFile(file)
	if err != nil {
		return out, filewise.Errorf(filewise.CodeUsage, `give the path of a study file; "filewise init" writes one`, "study file: %w", err)
	}
	s, err := study.Parse(file, text, studyForm(), func(name string) (string, bool) { return "variable " + name, true })
	if err != nil {
		return out, err
	}
	out = fleet.Study{File: filepath.Base(file), Text: text, Scripts: s.Scripts, Secrets: append(s.Secrets, study.Plain(string(text))...),
		Engines: map[string]string{}, Volumes: map[string][]string{}}
	for _, script := range s.Scripts {
		out.Secrets = append(out.Secrets, study.Plain(script)...)
	}
	experiments, err := s.Only(only)
	for _, e := range experiments {
		o := newOptions()
		if err := s.Fill(o.Table(), e); err != nil {
			return out, err
		}
		if _, err := registry().Lookup(o.Engine.Value); err == nil && o.Target.Value == "" {
			out.Engines[e.Name] = o.Engine.Value
		}
		for _, v := range o.Volumes.Value {
			if !v.Bare {
				out.Volumes[e.Name] = append(out.Volumes[e.Name], v.Name)
			}
		}
		out.Experiments = append(out.Experiments, e.Name)
		if _, ok := e.Key("seed"); ok {
			out.Seeded = append(out.Seeded, e.Name)
		}
	}
	if err != nil || bytes.Contains(text, []byte("${")) { // only workers have the variables' values
		return out, err
	}
	// A plan that no host could make is refused before any host gets it.
	_, err = s.Plan(registry(), newOptions(), only, func(plan.Made) error { return nil })
	if filewise.CodeOf(err) != filewise.CodeUsage {
		err = nil
	}
	return out, err
}

func (a *app) campaignList(f *campaignFlags) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the campaigns and their hosts", Args: cobra.NoArgs, Example: "  filewise campaign list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.dialled(cmd.Context(), f.temporal, func(c fleet.Campaigns) error {
				all, err := c.List(cmd.Context())
				if err != nil {
					return err
				}
				return a.print(all, func(w *lineWriter) {
					for _, r := range all.Campaigns {
						w.printf("%s\n", r.Words())
					}
					for _, h := range all.Hosts {
						w.printf("%s\n", h.Words())
					}
					if len(all.Campaigns)+len(all.Hosts) == 0 {
						w.printf("There is no campaign yet, and no host: \"filewise worker\" on one makes it known.\n")
					}
				})
			})
		},
	}
}

func (a *app) campaignShow(f *campaignFlags) *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "Show how a campaign stands on every host", Args: cobra.ExactArgs(1),
		Example: "  filewise campaign show storage",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.ordered(cmd.Context(), f, args[0], func(c fleet.Campaigns, jobs []string) error {
				states, err := c.States(cmd.Context(), jobs)
				if err != nil {
					return err
				}
				for i := range states {
					states[i].Study, states[i].Scripts = nil, nil
				}
				return a.print(states, func(w *lineWriter) {
					for _, s := range states {
						w.printf("%s\n", s.Words())
					}
				})
			})
		},
	}
}

func (a *app) campaignTell(f *campaignFlags, word, short string) *cobra.Command {
	return &cobra.Command{
		Use: word + " NAME", Short: short, Args: cobra.ExactArgs(1), Example: "  filewise campaign " + word + " storage",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.ordered(cmd.Context(), f, args[0], func(c fleet.Campaigns, jobs []string) error {
				n, err := c.Tell(cmd.Context(), jobs, word)
				if err != nil {
					return err
				}
				signalled := fleet.Signalled{Campaign: args[0], Jobs: n}
				return a.print(signalled, func(w *lineWriter) { w.printf("%s\n", signalled.Words()) })
			})
		},
	}
}

func (a *app) campaignFetch(f *campaignFlags) *cobra.Command {
	return &cobra.Command{
		Use: "fetch NAME", Short: "Take the results of a campaign into this store", Args: cobra.ExactArgs(1),
		Long:    `Import every job's finished trials, and show the hosts' joint result.`,
		Example: "  filewise campaign fetch storage",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.ordered(cmd.Context(), f, args[0], func(c fleet.Campaigns, jobs []string) error { return a.fetch(cmd.Context(), c, jobs) })
		},
	}
}

func (a *app) campaignForget(f *campaignFlags) *cobra.Command {
	return &cobra.Command{
		Use: "forget HOST…", Short: "Forget hosts that are gone for good", Args: cobra.MinimumNArgs(1),
		Long: `Remove hosts without a worker from the list and from campaigns. Results stay; a new
worker adds the host again.`,
		Example: "  filewise campaign forget db7",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.dialled(cmd.Context(), f.temporal, func(c fleet.Campaigns) error {
				if err := c.Forget(cmd.Context(), args); err != nil {
					return err
				}
				return a.print(fleet.Forgotten{Forgotten: args}, func(w *lineWriter) {
					w.printf("Forgot %s.\n", filewise.Counted(len(args), "host"))
				})
			})
		},
	}
}

// ordered calls do with the jobs of a campaign.
func (a *app) ordered(ctx context.Context, f *campaignFlags, name string, do func(fleet.Campaigns, []string) error) error {
	return a.dialled(ctx, f.temporal, func(c fleet.Campaigns) error {
		jobs, err := c.Jobs(ctx, name)
		if err != nil {
			return err
		}
		return do(c, jobs)
	})
}

// fetch stores the jobs' results here, and shows each experiment's result over its hosts.
func (a *app) fetch(ctx context.Context, c fleet.Campaigns, jobs []string) (err error) {
	st, err := store.Open(ctx, a.storePath)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	fetched, missed := c.Fetch(ctx, jobs, st)
	defer func() { err = errors.Join(err, missed) }()
	if len(fetched) == 0 {
		return nil
	}
	runs := map[string][]string{}
	var experiments []string
	for i, r := range fetched {
		fetched[i].Study, fetched[i].Scripts = nil, nil
		if !slices.Contains(experiments, r.Experiment) {
			experiments = append(experiments, r.Experiment)
		}
		if r.Here > 0 {
			runs[r.Experiment] = append(runs[r.Experiment], strconv.FormatInt(r.Here, 10))
		}
	}
	if a.json {
		return a.printJSON(fetched)
	}
	w := &lineWriter{w: a.stdout}
	for _, r := range fetched {
		if r.Here > 0 {
			w.printf("run %d: ", r.Here)
		}
		w.printf("%s\n", r.Words())
	}
	for _, e := range experiments {
		if len(runs[e]) < 2 || w.err != nil {
			continue
		}
		w.printf("\n%s\n", e)
		if err := a.compareAcross(ctx, runs[e], &acrossFlags{format: "text"}, archive.UsualConfidence, nil, 0); err != nil {
			return err
		}
	}
	return w.err
}
