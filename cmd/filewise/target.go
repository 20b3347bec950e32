package main

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/experiment"
	"filewise/workload"
)

func (f *planFlags) setTarget(cmd *cobra.Command, p *experiment.Plan, sc workload.Scenario) (err error) {
	if f.chosen, err = f.target.choose(cmd); err != nil {
		return err
	}
	p.Target = f.chosen.target
	if usual := f.about.Budget; usual > 0 && !cmd.Flags().Changed("budget") {
		p.Budget = usual
	}
	if sc.Budget > 0 && !cmd.Flags().Changed("budget") {
		p.Budget = sc.Budget
	}
	switch {
	case f.serverBin != "" && p.Target.Mode == filewise.Embedded:
		return badUse("server-bin", f.serverBin, p.Target.Engine+" runs inside Filewise: leave it out")
	case f.serverBin != "" && p.Target.Mode == filewise.External:
		return badUse("server-bin", f.serverBin, "the server of --target runs already: leave it out")
	}
	p.Target.ServerBin = f.serverBin
	if p.Target.Durability, err = choice("durability", f.durability,
		filewise.DurabilityFull, filewise.DurabilityNormal, filewise.DurabilityOff); err != nil {
		return err
	}
	for _, s := range f.settings {
		key, value, ok := strings.Cut(s, "=")
		if !ok || key == "" {
			return badValue("set", strconv.Quote(s), "give it as key=value")
		}
		if secretSetting(key) {
			return badValue("set", key, "settings are stored with the run and shown in reports: a secret does not belong there, and a private server needs none; leave it out")
		}
		if p.Target.Settings == nil {
			p.Target.Settings = make(map[string]string)
		}
		p.Target.Settings[key] = value
	}
	return nil
}

// secretSetting tells of settings whose values are secrets, by how engines name them:
// report_password, wsrep_sst_auth, primary_conninfo.
func secretSetting(key string) bool {
	key = strings.ToLower(strings.ReplaceAll(key, "-", "_"))
	return slices.ContainsFunc([]string{"password", "passwd", "passphrase", "secret", "_auth", "conninfo"}, func(end string) bool { return strings.HasSuffix(key, end) })
}

func (f *planFlags) setVolumes(_ *cobra.Command, p *experiment.Plan, _ workload.Scenario) error {
	volumes := f.volumes
	external := p.Target.Mode == filewise.External
	switch {
	case len(p.Target.Volumes) > 0 && len(volumes) > 0:
		return badUse("volume", strconv.Quote(volumes[0]), "--target names the directory: leave one of them out")
	case len(p.Target.Volumes) > 0:
		volumes = []string{p.Target.Volumes[0].Name + "=" + p.Target.Volumes[0].Dir}
		p.Target.Volumes = nil
	case len(volumes) == 0 && external: // where the server itself puts files
		p.Target.Volumes = []filewise.Volume{{Name: "default"}}
	case len(volumes) == 0:
		volumes = []string{"here=."}
	}
	for _, v := range volumes {
		name, dir, ok := strings.Cut(v, "=")
		if !ok || name == "" || dir == "" && !external {
			return badValue("volume", strconv.Quote(v), "give it as NAME=DIR, such as fast=/mnt/nvme")
		}
		if !external { // a directory of this machine
			abs, err := filepath.Abs(dir)
			if err != nil {
				return filewise.Errorf(filewise.CodePreflight, "", "--volume %s: %w", v, err)
			}
			dir = abs
		}
		for _, other := range p.Target.Volumes {
			if other.Name == name {
				return badValue("volume", strconv.Quote(v), "the name is taken by "+other.Dir)
			}
		}
		p.Target.Volumes = append(p.Target.Volumes, filewise.Volume{Name: name, Dir: dir})
	}
	return oneEach(p.Target)
}

// kinds are those of the engine, the usual one on this target first. Of those that
// it has on a private server only, it says itself why they cannot be had here.
func (c chosen) kinds() []filewise.Kind {
	if c.target.Mode != filewise.External {
		return c.about.Kinds
	}
	all := slices.Clone(c.about.ExternalKinds)
	for _, k := range c.about.Kinds {
		if !slices.Contains(all, k) {
			all = append(all, k)
		}
	}
	return all
}
