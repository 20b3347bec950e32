package plan

import (
	"errors"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"filewise"
	"filewise/internal/filesystem"
)

// setVolumes sets the places of files: the options' volumes, the target's own, or the default one.
func (m *maker) setVolumes() error {
	given, t := m.o.Volumes.Value, &m.plan.Target
	external := t.Elsewhere()
	switch {
	case len(t.Volumes) > 0 && len(given) > 0:
		return badUse("volume", strconv.Quote(given[0].String()), "--target names the directory: leave one of them out")
	case len(t.Volumes) > 0:
		given, t.Volumes = []Pair{{Name: t.Volumes[0].Name, Value: t.Volumes[0].Dir}}, nil
	case len(given) == 0 && external: // the server itself places the files
		t.Volumes = []filewise.Volume{{Name: "default"}}
	case len(given) == 0:
		given = []Pair{{Name: "here", Value: "."}}
	}
	for _, v := range given {
		if err := addVolume(t, v); err != nil {
			return err
		}
	}
	return oneEach(*t)
}

func addVolume(t *filewise.Target, v Pair) error {
	external, dir := t.Elsewhere(), v.Value
	if v.Bare || v.Name == "" || dir == "" && !external {
		return BadValue("volume", strconv.Quote(v.String()), "give it as NAME=DIR, such as fast="+dirExample)
	}
	if strings.ContainsAny(v.Name, "'\"`") { // cmd.exe takes ' literally
		return BadValue("volume", strconv.Quote(v.String()), "leave the quotes out, or use double ones around the whole, which every shell takes")
	}
	if strings.Contains(dir, `"`) && windowsPath.MatchString(dir) { // an escaped quote, and what follows
		return BadValue("volume", strconv.Quote(v.String()), `leave out the \ before the closing ", which escapes it`)
	}
	if !external { // a directory of this machine
		abs, err := filepath.Abs(dir)
		if err != nil {
			return filewise.Errorf(filewise.CodePreflight, "", "--volume %s: %w", v, err)
		}
		dir = abs
		if err := Answers(filewise.Volume{Name: v.Name, Dir: dir}); err != nil {
			return err
		}
	}
	for _, other := range t.Volumes {
		if other.Name == v.Name {
			return BadValue("volume", strconv.Quote(v.String()), "the name is taken by "+other.Dir)
		}
	}
	t.Volumes = append(t.Volumes, filewise.Volume{Name: v.Name, Dir: dir})
	return nil
}

// Answers refuses a volume whose file system does not answer, before anything blocks on it.
func Answers(v filewise.Volume) error {
	if filesystem.Answers(v.Dir) {
		return nil
	}
	return filewise.Errorf(filewise.CodePreflight, "bring its server or daemon back, or unmount it; or name another with --volume NAME=DIR",
		"volume %s: %s does not answer", v.Name, v.Dir)
}

// oneEach refuses two volumes that are the same place: only their names would differ.
func oneEach(t filewise.Target) error {
	names := make(map[string]string)
	for _, v := range t.Volumes {
		place := placeOf(v.Dir, t.Elsewhere())
		if other, taken := names[place]; taken {
			return BadValue("volume", strconv.Quote(v.Name+"="+v.Dir),
				"it is the same location as volume "+other+": name another, or leave one of them out")
		}
		names[place] = v.Name
	}
	return nil
}

// windowsPath matches paths that begin with a drive or a share. In such paths, case does not matter.
var windowsPath = regexp.MustCompile(`^(?:[A-Za-z]:[\\/]|\\\\)`)

// placeOf returns a canonical spelling of a volume's directory. On this machine it follows links; on a server it uses
// the rules of the server's system.
func placeOf(dir string, external bool) string {
	switch {
	case !external:
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return real
		}
		return filepath.Clean(dir)
	case windowsPath.MatchString(dir):
		return strings.ToLower(path.Clean(strings.ReplaceAll(dir, `\`, "/")))
	case strings.HasPrefix(dir, "/"):
		return path.Clean(dir)
	}
	return dir // the server's default place, or a name of the server's
}

// settleAllocation decides how files are allocated by default: preallocated if the engine can do that with the kind,
// otherwise growing. Nothing else decides this. It only renders scripts.
func (m *maker) settleAllocation(arms []arm) error {
	program, err := m.program()
	if err != nil {
		return err
	}
	try := func(l filewise.Layout) (filewise.Statements, error) {
		return m.Engine.Statements(InScratch(m.plan.Target), l, program)
	}
	decided := map[filewise.Kind]filewise.Allocation{}
	for i := range arms {
		a := &arms[i]
		if !a.allocationGiven {
			if _, ok := decided[a.Kind]; !ok {
				decided[a.Kind] = allocationOf(a.Layout, try)
			}
			a.Data.Allocation = decided[a.Kind]
		}
		if a.Data.Allocation != filewise.Growing {
			if a.growthGiven {
				return badUse("growth", m.o.Growth.Value, "preallocated files do not grow: add --allocation growing, or leave it out")
			}
			a.Data.Growth = 0
			continue
		}
		if a.Data.Growth == 0 && !a.growthGiven {
			if a.Data.Growth, err = m.growthOf("growth", m.o.Growth.Value); err != nil {
				return err
			}
		}
		switch itself := growsByItself(a.Layout, try); {
		case itself && m.o.Growth.Given():
			return badUse("growth", m.o.Growth.Value, "leave it out: "+m.Engine.Name()+" itself decides by how much such files grow")
		case itself && !a.growthGiven:
			a.Data.Growth = 0
		}
	}
	return nil
}

// allocationOf returns the engine's allocation for a layout. If the engine can do neither for the same reason, that
// reason is not about allocation, and it returns preallocated.
func allocationOf(l filewise.Layout, try func(filewise.Layout) (filewise.Statements, error)) filewise.Allocation {
	l.Data.Allocation, l.Data.Growth = filewise.Preallocated, 0
	_, err := try(l)
	if err == nil || !errors.Is(err, filewise.ErrUnsupported) {
		return filewise.Preallocated
	}
	l.Data.Allocation = filewise.Growing
	if _, other := try(l); other != nil && other.Error() == err.Error() {
		return filewise.Preallocated
	}
	return filewise.Growing
}

// growsByItself reports whether the engine itself decides by how much files grow.
func growsByItself(l filewise.Layout, try func(filewise.Layout) (filewise.Statements, error)) bool {
	s, err := try(l)
	if errors.Is(err, filewise.ErrUnsupported) { // the step may be the reason
		l.Data.Growth = 0
		_, err = try(l)
		return err == nil
	}
	return slices.ContainsFunc(s.Warnings, func(w filewise.Warning) bool { return w.Code == "growth-not-used" })
}
