package main

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/engine/all"
	"filewise/experiment"
	"filewise/workload"
)

func (f *planFlags) setTarget(cmd *cobra.Command, p *experiment.Plan, _ workload.Scenario) (err error) {
	e, err := all.Lookup(f.engine)
	if err != nil {
		return err
	}
	f.chosen, f.about = e, describe(e)
	p.Target.Engine = e.Name()
	p.Target.Mode = f.about.Mode
	if usual := f.about.Budget; usual > 0 && !cmd.Flags().Changed("budget") {
		p.Budget = usual
	}
	if f.serverBin != "" && p.Target.Mode == filewise.Embedded {
		return badValue("server-bin", f.serverBin, e.Name()+" runs inside Filewise: leave it out")
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
		if p.Target.Settings == nil {
			p.Target.Settings = make(map[string]string)
		}
		p.Target.Settings[key] = value
	}
	return nil
}

func (f *planFlags) setVolumes(_ *cobra.Command, p *experiment.Plan, _ workload.Scenario) error {
	volumes := f.volumes
	if len(volumes) == 0 {
		volumes = []string{"here=."}
	}
	for _, v := range volumes {
		name, dir, ok := strings.Cut(v, "=")
		if !ok || name == "" || dir == "" {
			return badValue("volume", strconv.Quote(v), "give it as NAME=DIR, such as fast=/mnt/nvme")
		}
		abs, err := filepath.Abs(dir)
		if err != nil {
			return filewise.Errorf(filewise.CodePreflight, "", "--volume %s: %w", v, err)
		}
		for _, other := range p.Target.Volumes {
			if other.Name == name {
				return badValue("volume", strconv.Quote(v), "the name is taken by "+other.Dir)
			}
		}
		p.Target.Volumes = append(p.Target.Volumes, filewise.Volume{Name: name, Dir: abs})
	}
	return nil
}
