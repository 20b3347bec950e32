package plan

import (
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

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
			return nil, largerFor(e, p, program, Refused(e, l, err))
		}
		scripts[i] = s
	}
	return scripts, nil
}

// largerFor adds to an error the size that all layouts need, if they all work with a larger one. Each layout by itself
// would name only its own minimum.
func largerFor(e filewise.Engine, p experiment.Plan, program filewise.Program, err error) error {
	from := p.Layouts[0].Data.Bytes
	if p.AsPublished != nil || slices.ContainsFunc(p.Layouts, func(l filewise.Layout) bool { return l.Data.Bytes != from }) {
		return err
	}
	fits := func(size int64) bool {
		for _, l := range p.Layouts {
			l.Data.Bytes = size
			if l.Temp.Bytes > 0 {
				l.Temp.Bytes = size
			}
			if _, err := e.Statements(InScratch(p.Target), l, program); err != nil {
				return false
			}
		}
		return true
	}
	const unit, most = 64 << 10, 1 << 34 // further reasons than the size are not searched for ever
	low, high := int64(0), max(from/unit, 1)
	for ; !fits(high * unit); low, high = high, 2*high {
		if high*unit > most {
			return err
		}
	}
	for high-low > 1 {
		if mid := (low + high) / 2; fits(mid * unit) {
			high = mid
		} else {
			low = mid
		}
	}
	if high > 16 && high%16 != 0 && fits((high/16+1)*16*unit) { // in MiB
		high = (high/16 + 1) * 16
	}
	size := strings.ReplaceAll(humanize.IBytes(uint64(high*unit)), " ", "")
	if n, err := humanize.ParseBytes(size); err != nil || int64(n) < high*unit {
		size = strconv.FormatInt(high*unit, 10)
	}
	return filewise.Errorf(filewise.CodeOf(err), "use --size "+size+" or more, or fewer files", "%w", err)
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
