package plan

import (
	"errors"
	"path/filepath"

	"filewise"
	"filewise/lab/experiment"
)

// Scripts returns the scripts of what a trial would create and execute, for every layout. A layout that the engine
// cannot do is refused here, before anything is built.
func Scripts(e filewise.Engine, p experiment.Plan, program filewise.Program) ([]filewise.Statements, error) {
	scripts := make([]filewise.Statements, len(p.Layouts))
	for i, l := range p.Layouts {
		s, err := e.Statements(InScratch(p.Target), l, program)
		if err != nil {
			return nil, Refused(e, l, err)
		}
		scripts[i] = s
	}
	return scripts, nil
}

// InScratch returns the target as a run sees it. Its volumes are scratch directories, whose names lack only the random
// end.
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

// Refused returns the error that names the layout an engine cannot do, and the reason.
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
