package apply

import (
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"filewise"
)

// columns is the width of a comment line, in characters.
const columns = 110

// Text returns one script as a file's text: the script there or, if back is set, the script back.
func (s *Scripts) Text(version string, back bool, path, other string) string {
	t := &text{}
	steps, way, turn := s.Steps, fmt.Sprintf("to layout %q of run %d", s.Layout.Name, s.Run), "The way back: "
	if back {
		steps, way, turn = s.Back, fmt.Sprintf("back from layout %q of run %d", s.Layout.Name, s.Run), "The way there: "
	}
	t.comment("", "Filewise %s: database %s %s. Filewise has not executed this, and will not.", version, s.Database, way)
	if len(s.Untested) > 0 {
		t.comment("  ", "THE RUN DOES NOT APPLY TO THIS DATABASE (this script is by --untested): %s.", strings.Join(s.Untested, "; "))
	}
	if s.Verdict != "" && !back {
		t.comment("  ", "Verdict of the run: %s", s.Verdict)
	}
	t.comment("  ", "Server: %s", s.Server)
	t.comment("  ", "Tables, %s with their indexes: %s", size(s.Bytes), strings.Join(s.Tables, ", "))
	t.comment("  ", "Rehearse it on a copy of the database first: the command then names the copy. To execute it:")
	t.line("--     " + filewise.Printable(s.command(path)))
	t.comment("  ", "%s%s", turn, filepath.Base(other))
	t.comment("  ", "In all: %s", s.time(steps...))
	if !back {
		for _, volume := range slices.Sorted(maps.Keys(s.Space)) {
			t.comment("  ", "Space needed on volume %s: %s, in addition to the old files until they are dropped", volume, size(s.Space[volume]))
		}
	}
	for _, e := range s.Effects {
		t.comment("  ", "Changes: %s", e)
	}
	for _, e := range s.Stays {
		t.comment("  ", "Does not move by itself: %s", e)
	}
	t.line("")
	t.line(s.Opening)
	for n, step := range steps {
		t.line("")
		t.comment("  ", "Step %d of %d: %s", n+1, len(steps), step.Title)
		t.comment("  ", "Locks %s. Takes %s", step.Locks, s.time(step))
		t.comment("  ", "Stopped half-way: %s", step.Stop)
		for _, sql := range step.SQL {
			if !strings.HasSuffix(sql, `\gexec`) && !strings.HasSuffix(sql, "\n/") { // these end a statement themselves
				sql += ";"
			}
			if step.Later {
				sql = "-- " + strings.NewReplacer("\n", "\n-- ", "\r", "\r-- ").Replace(sql)
			}
			t.line(sql)
		}
	}
	return t.String()
}

// command returns the shell command that executes the script in a file.
func (s *Scripts) command(path string) string {
	all := slices.Clone(s.Client)
	switch {
	case s.Input && runtime.GOOS == "windows": // PowerShell has no <
		return filewise.CommandLine(append(all, "--execute=source "+filepath.ToSlash(path))...)
	case s.Input:
		return filewise.CommandLine(all...) + " < " + filewise.CommandLine(path)
	}
	all[len(all)-1] += path
	return filewise.CommandLine(append(all, s.Behind...)...)
}

// time describes the least time that the steps take at the storage's rates.
func (s *Scripts) time(steps ...filewise.MigrationStep) string {
	var read, written int64
	for _, step := range steps {
		read, written = read+step.Read, written+step.Written
	}
	switch {
	case read+written == 0:
		return "moments"
	case s.Read <= 0 || s.Written <= 0:
		return fmt.Sprintf("a time that is not known: %s are read and %s written, and the run has no rate of the storage (filewise doctor "+
			"--storage measures it before a run)", size(read), size(written))
	}
	const most = 10 * 366 * 24 * time.Hour
	d := time.Duration(min(float64(read)/s.Read+float64(written)/s.Written, most.Seconds()) * float64(time.Second))
	return fmt.Sprintf("%v at least: %s are read and %s written, at %s/s and %s/s as the run's storage does",
		max(d.Round(time.Second), time.Second), size(read), size(written), size(int64(s.Read)), size(int64(s.Written)))
}

type text struct{ strings.Builder }

func (t *text) line(s string) { t.WriteString(s + "\n") }

// comment writes comment lines. A name in them cannot end the comment.
func (t *text) comment(indent, format string, args ...any) {
	line := ""
	for _, word := range strings.Fields(fmt.Sprintf(format, args...)) {
		word = filewise.Printable(word)
		if line != "" && len(line)+len(word) > columns {
			t.line("-- " + line)
			line, indent = "", "    "
		}
		if line == "" {
			line = indent + word
		} else {
			line += " " + word
		}
	}
	t.line("-- " + line)
}
