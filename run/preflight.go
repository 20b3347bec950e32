package run

import (
	"errors"
	"io/fs"
	"math"
	"os"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/host/machine"
	"filewise/internal/fault"
	"filewise/internal/filesystem"
	"filewise/lab/experiment"
)

// SpaceNeed is the space that a plan needs on one volume, and the free space there.
type SpaceNeed struct {
	Volume filewise.Volume `json:"volume"`
	Need   int64           `json:"need_bytes"`
	Free   *int64          `json:"free_bytes,omitempty"` // absent if only the server's findings have it
}

// needs returns the space that the plan needs on each volume. As a rule it is the largest layout's need, because only
// one layout is built at a time. If layouts take turns, it is the sum of all layouts. If loaded builds exist side by
// side, it is the sum of all builds and their copies.
func (env *Environment) needs() []SpaceNeed {
	p := env.Plan
	var out []SpaceNeed
	for _, v := range p.Target.Volumes {
		n := SpaceNeed{Volume: v}
		for i, s := range env.Scripts {
			need := max(s.Space[v.Name], fixedWork(p, p.Layouts[i], v))
			switch {
			case p.Builds > 0:
				if p.Target.Mode == filewise.Managed { // each build has a copy
					need *= 2
				}
				n.Need += int64(p.Builds) * need
			case p.TakesTurns():
				if p.Preload > 0 && p.Target.Mode == filewise.Managed { // the copy's original also needs space
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

// Space returns the plan's need on each volume, and the free space there. Only the server itself can return the free
// space of an external server's volumes.
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

// fixedWork returns the least size to which fixed work makes a layout's files on a volume grow, if it is spread evenly
// over all files. Growth in a time window is not known.
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

// Preflight refuses plans that would fail later: volumes that are missing or cannot be written to, or too little space.
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

// Usable checks whether the volume is a directory in which files can be created.
func Usable(v filewise.Volume) error {
	remedy := "create the directory, or name another with --volume NAME=DIR"
	info, err := os.Stat(v.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return filewise.Errorf(filewise.CodePreflight, remedy, "volume %s: %s does not exist", v.Name, v.Dir)
	case err != nil:
		return filewise.Errorf(filewise.CodePreflight, fault.Remedy(err, remedy), "volume %s: %w", v.Name, err)
	case !info.IsDir():
		return filewise.Errorf(filewise.CodePreflight, remedy, "volume %s: %s is not a directory", v.Name, v.Dir)
	}
	if err := filesystem.Writable(v.Dir); err != nil {
		return filewise.Errorf(filewise.CodePreflight,
			fault.Remedy(err, "give the account that Filewise runs as rights there, or name another --volume"), "volume %s: %w", v.Name, err)
	}
	return nil
}

// Reserve is the space in bytes that a run leaves free on a volume. Others use the file system too, so the run ends
// before it is full.
const Reserve = 16 << 20

// guard returns a function that refuses to go on if a volume is gone or nearly full. The amount that a time window
// writes is not known before.
func guard(volumes []filewise.Volume) func() error {
	places := make([]filesystem.Place, len(volumes))
	for i, v := range volumes {
		places[i], _ = filesystem.PlaceOf(v.Dir) // if not known, places are not compared
	}
	return func() error {
		for i, v := range volumes {
			if err := there(v, places[i]); err != nil {
				return err
			}
			free, err := machine.Free(v.Dir)
			if err == nil && free < Reserve {
				return filewise.Errorf(filewise.CodePreflight,
					"free space there, or name another --volume; then continue with this trial: filewise resume. A new run with a smaller --window "+
						"or --work needs less",
					"volume %s (%s) has only %s left: the trial was ended", v.Name, v.Dir, humanize.IBytes(uint64(free)))
			}
		}
		return nil
	}
}

// there refuses a volume whose file system was unmounted or has become read-only.
func there(v filewise.Volume, before filesystem.Place) error {
	const remedy = "bring it back; then continue with this trial: filewise resume"
	switch now, err := filesystem.PlaceOf(v.Dir); {
	case err != nil:
		return filewise.Errorf(filewise.CodePreflight, remedy, "volume %s is gone: the trial was ended: %w", v.Name, err)
	case !now.Same(before):
		return filewise.Errorf(filewise.CodePreflight, remedy,
			"volume %s (%s) is gone, another file system is mounted there: the trial was ended", v.Name, v.Dir)
	case filesystem.ReadOnly(v.Dir):
		return filewise.Errorf(filewise.CodePreflight, remedy, "volume %s (%s) is mounted read-only now: the trial was ended", v.Name, v.Dir)
	}
	return nil
}
