package run

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"filewise"
	"filewise/host/machine"
	"filewise/internal/say"
)

// The time between two questions to a volume, and how long it may be silent.
const (
	askVolume   = time.Second
	warnVolume  = 10 * time.Second
	leaveVolume = 5 * time.Second // once the run is interrupted
)

// watchVolumes warns of a volume, or the store's, that does not answer, until stop is called. Nothing else would: each
// thread that uses it waits in the system. An interrupt does not end such a trial either, so the run is abandoned then. It
// sees network and FUSE file systems; a local disk that hangs answers statfs.
func (o Options) watchVolumes(ctx context.Context, volumes []filewise.Volume) (stop func()) {
	if o.Warn == nil || o.Abandon == nil {
		return func() {}
	}
	ended := make(chan struct{})
	if path := whole(o.Store); path != "" {
		volumes = append(slices.Clone(volumes), filewise.Volume{Name: "of the store", Dir: filepath.Dir(path)})
	}
	for _, v := range volumes {
		go o.watchVolume(ctx, ended, v, func() { _, _ = machine.Free(v.Dir) })
	}
	return func() { close(ended) }
}

func (o Options) watchVolume(ctx context.Context, ended <-chan struct{}, v filewise.Volume, ask func()) {
	tick := time.NewTicker(askVolume)
	defer tick.Stop()
	answered := make(chan struct{}, 1)
	for {
		go func() { ask(); answered <- struct{}{} }()
		// Ticks count, not a clock, since this process may be suspended.
		silent, interrupted, told := time.Duration(0), time.Duration(0), false
		for waiting := true; waiting; {
			select {
			case <-ended:
				return
			case <-answered:
				waiting = false
			case <-tick.C:
				if silent += askVolume; ctx.Err() != nil {
					interrupted += askVolume
				}
			}
			switch {
			case waiting && interrupted >= leaveVolume:
				o.Abandon("interrupted without waiting for volume "+v.Name+" ("+v.Dir+"), which does not answer; finished trials are stored",
					"bring the volume back; then filewise clean removes what is left there, and filewise resume continues. If this process "+
						"stays until then, the system holds it")
				return
			case waiting && !told && silent >= warnVolume:
				told = true
				o.Warn(fmt.Sprintf("volume %s (%s) has not answered for %s: the run waits for it. Bring its server or daemon back, or end the "+
					"run (Ctrl-C).", v.Name, v.Dir, say.Human(silent)))
			case !waiting && told:
				o.Warn(fmt.Sprintf("volume %s (%s) answers again, after %s.", v.Name, v.Dir, say.Human(silent)))
			}
		}
		select {
		case <-ended:
			return
		case <-tick.C:
		}
	}
}
