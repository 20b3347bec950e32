package main

import (
	"context"

	"filewise"
	"filewise/experiment"
	"filewise/scratch"
)

// openOwn takes the host's measuring lock, makes scratch directories and opens a
// server on them: embedded, or private.
func (r *rig) openOwn(ctx context.Context, p experiment.Plan, label string) error {
	if err := r.lockHost(ctx, label); err != nil {
		return err
	}
	r.target = p.Target
	if err := r.makeScratch(label); err != nil {
		return err
	}
	var err error
	if r.storage, err = r.storageLimits(ctx, p); err != nil {
		return err
	}
	if r.server, err = r.engine.Open(ctx, r.target); err != nil {
		return err
	}
	r.undo = append(r.undo, r.server.Close)
	return nil
}

// makeScratch puts a scratch directory in the place of every volume.
func (r *rig) makeScratch(label string) error {
	reg, err := scratch.Open()
	if err != nil {
		return err
	}
	volumes := r.target.Volumes
	r.target.Volumes = nil
	for _, v := range volumes {
		dir, err := reg.Create(v.Dir, label)
		if err != nil {
			return filewise.Errorf(filewise.CodeOf(err), filewise.RemedyOf(err), "volume %s: %w", v.Name, err)
		}
		r.undo = append(r.undo, dir.Remove)
		earlier := r.target.OnStart
		r.target.OnStart = func(pid int) error {
			if earlier != nil {
				if err := earlier(pid); err != nil {
					return err
				}
			}
			return dir.AddProcess(pid)
		}
		r.target.Volumes = append(r.target.Volumes, filewise.Volume{Name: v.Name, Dir: dir.Path})
	}
	return nil
}
