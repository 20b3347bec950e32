package run

import (
	"errors"
	"io/fs"
	"math"
	"os"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/host/machine"
	"filewise/internal/filesystem"
	"filewise/lab/experiment"
)

// SpaceNeed is the room that a plan needs on one volume, and what there is.
type SpaceNeed struct {
	Volume filewise.Volume `json:"volume"`
	Need   int64           `json:"need_bytes"`
	Free   *int64          `json:"free_bytes,omitempty"` // absent: see the findings of the server
}

// needs returns the largest layout's needs, because only one is built at a time; all layouts', if they take turns; or
// the needs of all builds and their copies, if loaded builds lie side by side.
func (env *Environment) needs() []SpaceNeed {
	p := env.Plan
	var out []SpaceNeed
	for _, v := range p.Target.Volumes {
		n := SpaceNeed{Volume: v}
		for i, s := range env.Scripts {
			need := max(s.Space[v.Name], fixedWork(p, p.Layouts[i], v))
			switch {
			case p.Instances > 0:
				if p.Target.Mode == filewise.Managed { // a copy of each
					need *= 2
				}
				n.Need += int64(p.Instances) * need
			case p.TakesTurns():
				if p.Preload > 0 && p.Target.Mode == filewise.Managed { // and what it is a copy of
					need *= 2
				}
				n.Need += min(need, math.MaxInt64-n.Need)
			default:
				n.Need = max(n.Need, need)
			}
		}
		out = append(out, n)
	}
	return out
}

// Space returns the plan's need on each volume, with the free space, which for an external server's volumes only that
// server can return.
func (env *Environment) Space() ([]SpaceNeed, error) {
	needs := env.needs()
	if len(env.Plan.Target.VolumesHere()) == 0 {
		return needs, nil
	}
	for i, n := range needs {
		if err := Usable(n.Volume); err != nil {
			return nil, err
		}
		free, err := machine.Free(n.Volume.Dir)
		if err != nil {
			return nil, filewise.Errorf(filewise.CodePreflight, "", "free space of volume %s: %w", n.Volume.Name, err)
		}
		needs[i].Free = &free
	}
	return needs, nil
}

// fixedWork returns the least size to which a layout's files on a volume grow by fixed work, which is spread evenly
// over all files. The growth in a time window is not known.
func fixedWork(p experiment.Plan, l filewise.Layout, v filewise.Volume) int64 {
	var there int64
	volumes := l.DataVolumes(p.Target.Volumes)
	for i := range l.Data.Files {
		if l.Data.VolumeOf(i, volumes).Name == v.Name {
			there++
		}
	}
	return p.Work / int64(l.Data.Files) * there
}

// Preflight refuses what would fail later: volumes that are not there or cannot be written to, too little space.
func (env *Environment) Preflight() error {
	needs, err := env.Space()
	if err != nil {
		return err
	}
	for _, n := range needs {
		if n.Free != nil && n.Need+Reserve > *n.Free {
			return filewise.Errorf(filewise.CodePreflight,
				"free space there, name another --volume, or make --size (or --work, --window) smaller",
				"volume %s (%s): not enough space: %[4]s needed, %[3]s free (%[5]s reserved)", n.Volume.Name, n.Volume.Dir,
				humanize.IBytes(uint64(*n.Free)), humanize.IBytes(uint64(n.Need)), humanize.IBytes(Reserve))
		}
	}
	return nil
}

// Usable looks whether the volume is a directory in which something can be made.
func Usable(v filewise.Volume) error {
	remedy := "create the directory, or name another with --volume NAME=DIR"
	info, err := os.Stat(v.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return filewise.Errorf(filewise.CodePreflight, remedy, "volume %s: %s does not exist", v.Name, v.Dir)
	case err != nil:
		return filewise.Errorf(filewise.CodePreflight, remedy, "volume %s: %w", v.Name, err)
	case !info.IsDir():
		return filewise.Errorf(filewise.CodePreflight, remedy, "volume %s: %s is not a directory", v.Name, v.Dir)
	}
	if err := filesystem.Writable(v.Dir); err != nil {
		return filewise.Errorf(filewise.CodePreflight, "give the account that Filewise runs as rights there, or name another --volume",
			"volume %s: %w", v.Name, err)
	}
	return nil
}

// Reserve is the space in bytes that a run leaves free on a volume: it ends
// before it takes the last of a file system that others use too.
const Reserve = 16 << 20

// guard refuses to go on when a volume is gone or runs out of space. What a time window
// writes is not known before.
func guard(volumes []filewise.Volume) func() error {
	places := make([]filesystem.Place, len(volumes))
	for i, v := range volumes {
		places[i], _ = filesystem.PlaceOf(v.Dir) // unknown: not compared
	}
	return func() error {
		for i, v := range volumes {
			if err := there(v, places[i]); err != nil {
				return err
			}
			free, err := machine.Free(v.Dir)
			if err == nil && free < Reserve {
				return filewise.Errorf(filewise.CodePreflight,
					"free space there, or name another --volume; then \"filewise resume\" goes on with this trial. A new run with a smaller --window "+
						"or --work needs less",
					"volume %s (%s) has only %s left: the trial was ended", v.Name, v.Dir, humanize.IBytes(uint64(free)))
			}
		}
		return nil
	}
}

// there refuses a volume whose file system was unmounted, or can be written to no more.
func there(v filewise.Volume, before filesystem.Place) error {
	const remedy = "bring it back; then \"filewise resume\" goes on with this trial"
	switch now, err := filesystem.PlaceOf(v.Dir); {
	case err != nil:
		return filewise.Errorf(filewise.CodePreflight, remedy, "volume %s is gone: the trial was ended: %w", v.Name, err)
	case !now.Same(before):
		return filewise.Errorf(filewise.CodePreflight, remedy, "volume %s (%s) is gone, another file system is in its place: the trial was ended",
			v.Name, v.Dir)
	case filesystem.ReadOnly(v.Dir):
		return filewise.Errorf(filewise.CodePreflight, remedy, "volume %s (%s) is mounted read-only now: the trial was ended", v.Name, v.Dir)
	}
	return nil
}
