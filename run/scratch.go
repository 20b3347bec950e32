package run

import (
	"filewise"
	"filewise/host/machine"
	"filewise/host/scratch"
)

// makeScratch replaces every volume by a scratch directory on it. Servers that are started register with the directory,
// so that none outlives a killed run.
func (env *Environment) makeScratch(label string) error {
	reg, err := scratch.Open()
	if err != nil {
		return err
	}
	t := &env.Target
	volumes := t.Volumes
	t.Volumes = nil
	for _, v := range volumes {
		dir, err := reg.Create(v.Dir, label)
		if err != nil {
			return filewise.Errorf(filewise.CodeOf(err), filewise.RemedyOf(err), "volume %s: %w", v.Name, err)
		}
		env.undo = append(env.undo, dir.Remove)
		t.OnStart = both(t.OnStart, dir.AddProcess)
		t.Volumes = append(t.Volumes, filewise.Volume{Name: v.Name, Dir: dir.Path})
	}
	if t.Cores > 0 {
		limits, err := machine.LimitCores(t.Cores)
		if err != nil {
			return err
		}
		t.OnStart = both(t.OnStart, limits.Add)
	}
	env.opened, env.started = len(env.undo), t.OnStart
	return env.limitMemory()
}

// limitMemory limits each measured server to the plan's memory when it starts, if the plan has a limit.
func (env *Environment) limitMemory() error {
	if env.Target.Memory == 0 {
		return nil
	}
	limits, err := machine.LimitMemory(env.Target.Memory)
	if err != nil {
		return err
	}
	env.undo = append(env.undo, limits.Close)
	env.Target.OnLoad = env.Target.OnStart
	env.Target.OnStart = both(env.Target.OnStart, limits.Add)
	return nil
}

// both returns a function that calls first, which may be nil, and then second unless first failed.
func both(first, second func(pid int) error) func(pid int) error {
	if first == nil {
		return second
	}
	return func(pid int) error {
		if err := first(pid); err != nil {
			return err
		}
		return second(pid)
	}
}
