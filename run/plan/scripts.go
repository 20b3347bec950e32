package plan

import (
	"errors"
	"path/filepath"

	"filewise"
	"filewise/lab/experiment"
)

// Scripts render what a trial on every layout would create and execute. A
// layout that the engine cannot do is refused here, before anything is built.
func Scripts(e filewise.Engine, p experiment.Plan, program filewise.Program) ([]filewise.Script, error) {
	scripts := make([]filewise.Script, len(p.Layouts))
	for i, l := range p.Layouts {
		s, err := e.Script(InScratch(p.Target), l, program)
		if err != nil {
			return nil, Refused(e, l, err)
		}
		scripts[i] = s
	}
	return scripts, nil
}

// InScratch returns the target as a run sees it: its volumes are scratch directories, of which only the random end of
// the name is not known yet.
func InScratch(t filewise.Target) filewise.Target {
	volumes := t.VolumesHere()
	if volumes == nil {
		return t
	}
	t.Volumes = nil
	for _, v := range volumes {
		v.Dir = filepath.Join(v.Dir, "filewise-xxxxxxxxxxxxx")
		t.Volumes = append(t.Volumes, v)
	}
	return t
}

// Refused reports which layout an engine cannot do, and why.
func Refused(e filewise.Engine, l filewise.Layout, err error) error {
	if !errors.Is(err, filewise.ErrUnsupported) {
		return err
	}
	remedy := filewise.RemedyOf(err)
	if remedy == "" {
		remedy = "choose another layout or engine; see filewise engines"
	}
	return filewise.Errorf(filewise.CodePreflight, remedy, "%s on %s: %w", l.Name, e.Name(), err)
}
