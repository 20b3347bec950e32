package apply

import (
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/host/machine"
	"filewise/lab/storage"
	"filewise/results/archive"
)

// compare reports why the run's result does not hold for the database: its trials were of another release, on other
// storage, or of less data.
func (s *Scripts) compare(r archive.Run, p product, seen filewise.Inspection) {
	say := func(format string, args ...any) { s.Untested = append(s.Untested, fmt.Sprintf(format, args...)) }
	was := filewise.ValueOf(r.Server, "version", "")
	if was == "" {
		was = filewise.ValueOf(r.Server, "server_version", "")
	}
	if tested, here := p.releaseOf(was), p.releaseOf(s.Server); tested != here {
		say("it was on release %s, the server is %s", orUnknown(tested), orUnknown(here))
	}
	if why := otherStorage(r, s.target, seen); why != "" {
		say("%s", why)
	}
	if tested := testedBytes(r.Trials, p.roles); float64(s.Bytes) > looser*float64(tested) {
		say("its trials had %s, the tables have %s", size(tested), size(s.Bytes))
	}
}

func orUnknown(s string) string {
	if s == "" {
		return "(not known)"
	}
	return s
}

func size(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }

// otherStorage returns why the database's storage is not known to be the run's storage. An empty text means it is the
// same.
func otherStorage(r archive.Run, t filewise.Target, seen filewise.Inspection) string {
	was := r.Plan.Target
	if was.Address != nil {
		if was.Address.Host == t.Address.Host && was.Address.Port == t.Address.Port {
			return ""
		}
		return "it was on the server " + was.Address.String()
	}
	if r.Origin != nil || !seen.Local {
		return "it was on the storage of another machine than the server's"
	}
	for _, v := range was.Volumes {
		tested, err := machine.DeviceOf(v.Dir)
		if err == nil && slices.ContainsFunc(seen.Places, func(p filewise.Place) bool {
			d, err := machine.DeviceOf(p.Path)
			return err == nil && p.Path != "" && d.Same(tested)
		}) {
			continue
		}
		return fmt.Sprintf("the storage of its volume %s (%s) is not known to be one of the server's", v.Name, v.Dir)
	}
	return ""
}

// looser is the factor by which a table in use can be larger than one into which the same rows were just loaded: B-trees
// of random keys are filled to 69 %, loaded ones to 90 %, and autovacuum lets a fifth of the rows be dead.
const looser = 1.5

// testedBytes returns the most data that a trial had in its tables, in bytes.
func testedBytes(trials []filewise.Trial, roles []filewise.Role) (most int64) {
	for _, t := range trials {
		for _, files := range [][]filewise.File{t.Files, t.Final} {
			sum := int64(0)
			for _, f := range files {
				if slices.Contains(roles, f.Role) {
					sum += f.Bytes
				}
			}
			most = max(most, sum)
		}
	}
	return most
}

// rates returns the rates of the run's slowest volume, in bytes per second. 0 means a volume's rates are not known.
func rates(r archive.Run) (read, written float64) {
	for _, v := range r.Plan.Target.Volumes {
		in, out := storage.Rates(filewise.ValueOf(r.Machine, "storage limit of volume "+v.Name, ""))
		if in <= 0 || out <= 0 {
			return 0, 0
		}
		if read == 0 || in < read {
			read = in
		}
		if written == 0 || out < written {
			written = out
		}
	}
	return read, written
}
