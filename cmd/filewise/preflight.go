package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/experiment"
	"filewise/machine"
)

// script renders what a trial on every layout would create and execute. A
// layout that the engine cannot do is refused here, before anything is built.
func script(e filewise.Engine, p experiment.Plan, program filewise.Program) ([]filewise.Script, error) {
	scripts := make([]filewise.Script, len(p.Layouts))
	for i, l := range p.Layouts {
		s, err := e.Script(inScratch(p.Target), l, program)
		if err != nil {
			return nil, refused(e, l, err)
		}
		scripts[i] = s
	}
	return scripts, nil
}

// inScratch is the target as a run sees it: its volumes are scratch directories,
// of which only the random end of the name is not known yet.
func inScratch(t filewise.Target) filewise.Target {
	if t.Mode == filewise.External {
		return t
	}
	volumes := t.Volumes
	t.Volumes = nil
	for _, v := range volumes {
		v.Dir = filepath.Join(v.Dir, "filewise-xxxxxxxxxxxxx")
		t.Volumes = append(t.Volumes, v)
	}
	return t
}

// refused says which layout an engine cannot do, and why.
func refused(e filewise.Engine, l filewise.Layout, err error) error {
	if !errors.Is(err, filewise.ErrUnsupported) {
		return err
	}
	remedy := filewise.RemedyOf(err)
	if remedy == "" {
		remedy = "choose another layout or engine; see filewise engines"
	}
	return filewise.Errorf(filewise.CodePreflight, remedy, "%s on %s: %w", l.Name, e.Name(), err)
}

// spaceNeed is the room that a plan needs on one volume, and what there is.
type spaceNeed struct {
	Volume filewise.Volume `json:"volume"`
	Need   int64           `json:"need_bytes"`
	Free   *int64          `json:"free_bytes,omitempty"` // absent: see the findings of the server
}

// needsOf are the needs of the largest layout, because only one is built at a
// time; of all, where they take turns; or of all builds and their copies, where
// loaded builds lie side by side.
func needsOf(p experiment.Plan, scripts []filewise.Script) []spaceNeed {
	var out []spaceNeed
	for _, v := range p.Target.Volumes {
		n := spaceNeed{Volume: v}
		for i, s := range scripts {
			need := max(s.Space[v.Name], fixedWork(p, p.Layouts[i], v))
			switch {
			case p.Instances > 0:
				n.Need += 2 * int64(p.Instances) * need
			case p.Cells > 0:
				n.Need += need
			default:
				n.Need = max(n.Need, need)
			}
		}
		out = append(out, n)
	}
	return out
}

// spaceNeeds are the needs with what is free, which only a server itself knows of
// its volumes.
func spaceNeeds(p experiment.Plan, scripts []filewise.Script) ([]spaceNeed, error) {
	needs := needsOf(p, scripts)
	if p.Target.Mode == filewise.External {
		return needs, nil
	}
	for i, n := range needs {
		if err := usable(n.Volume); err != nil {
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

// fixedWork is what a layout's files on a volume grow to at least by fixed work,
// which is spread evenly over all files. What a time window leaves is not known.
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

// preflight refuses what would fail later: volumes that are not there, too
// little space. Whether they can be written to shows when the scratch
// directories are made, which leaves nothing however it ends.
func preflight(p experiment.Plan, scripts []filewise.Script) error {
	needs, err := spaceNeeds(p, scripts)
	if err != nil {
		return err
	}
	for _, n := range needs {
		if n.Free != nil && n.Need+reserve > *n.Free {
			return filewise.Errorf(filewise.CodePreflight,
				"free space there, name another --volume, or make --size (or --work, --window) smaller",
				"volume %s (%s) has %s free, but at least %s are needed, and %s are left free", n.Volume.Name, n.Volume.Dir,
				humanize.IBytes(uint64(*n.Free)), humanize.IBytes(uint64(n.Need)), humanize.IBytes(reserve))
		}
	}
	return nil
}

// usable looks whether the volume is a directory.
func usable(v filewise.Volume) error {
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
	return nil
}

// reserve is the space in bytes that a run leaves free on a volume: it ends
// before it takes the last of a file system that others use too.
const reserve = 16 << 20

// guard refuses to go on when a volume runs out of space. What a time window
// writes is not known before.
func guard(volumes []filewise.Volume) func() error {
	return func() error {
		for _, v := range volumes {
			free, err := machine.Free(v.Dir)
			if err == nil && free < reserve {
				return filewise.Errorf(filewise.CodePreflight,
					"free space there, or name another --volume; then \"filewise resume\" goes on with this trial. A new run with a smaller --window or --work needs less",
					"volume %s (%s) has only %s left: the trial was ended", v.Name, v.Dir, humanize.IBytes(uint64(free)))
			}
		}
		return nil
	}
}
