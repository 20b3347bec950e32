package capture

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"filewise"
)

// YAML returns the study file.
func (s *Study) YAML() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	for _, text := range s.Account() {
		line("# %s", text)
	}
	line("# Read it, and edit it: it is a study file (docs/study-files.md).\n")
	line("name: %s", quoted("captured from "+s.Database))
	line("engine: %s", s.Engine)
	if len(s.Settings) > 0 {
		line("# Settings of the database on which its statements depend.\nset:")
	}
	for _, name := range slices.Sorted(maps.Keys(s.Settings)) {
		line("  %s: %s", name, quoted(s.Settings[name]))
	}
	s.layouts(line)
	if len(s.Setup) == 0 {
		line("# Builds are filled from a dump of the database: name its file here, or the URL, of which Filewise takes one")
		line("# (docs/own-copy.md). Or give custom a set-up.")
		line("#from: %s", brief(s.URL))
	}
	line("# As many as worked at once at most; %.1f did on average, %d were connected.", s.Active, s.Connected)
	line("connections: %d\n", max(s.MostActive, 1))
	line("custom:")
	s.tables(line)
	if len(s.Setup) > 0 {
		line("\n  # Tables with as many rows as the original's, made up by its statistics: without foreign keys, triggers and views.")
		line("  setup:")
		for _, text := range s.Setup {
			line("    - %s", quoted(text))
		}
	}
	line("\n  parameters:")
	for _, p := range s.Parameters {
		note := "of " + p.Of
		if p.Note != "" {
			note += ": " + p.Note
		}
		line("    # %s\n    %s: %s", brief(note), p.Name, p.Draw)
	}
	if len(s.Parameters) == 0 {
		line("    {}")
	}
	line("\n  transactions:")
	for _, t := range s.Transactions {
		line("    # %s", s.shares(t.Share, t.TimeShare))
		line("    %s:\n      weight: %d\n      sql:", t.Name, t.Weight)
		for _, text := range t.SQL {
			if filewise.Printable(text) != text {
				line("        - %s", quoted(text))
				continue
			}
			line("        - |-\n          %s", text)
		}
	}
	return b.String()
}

// spread returns the tables that partitions can divide, and the others that can lie whole on a volume.
func (s *Study) spread() (divided, alone []Table) {
	return filewise.Those(s.Tables, func(t Table) bool { return t.Whole == "" }),
		filewise.Those(s.Tables, func(t Table) bool { return t.Whole != "" && t.Alone != "" })
}

// wholly returns the kind and the files of layouts that hold tables whole.
func wholly(divided, alone []Table) (kind filewise.Kind, files int) {
	if kind, files = alone[0].Alone, 1; kind == filewise.KindPerTable {
		files = len(divided) + len(alone)
	}
	return kind, files
}

// layouts writes what is compared: files of the tables that can be divided. If none can, whole tables on one volume or
// two.
func (s *Study) layouts(line func(string, ...any)) {
	divided, alone := s.spread()
	if len(divided) > 0 || len(alone) == 0 {
		line("files: [1, 4, 8]")
		return
	}
	kind, files := wholly(divided, alone)
	line("# No table can be divided (below: why). Each can lie whole on a volume: run it with --volume a=DIR --volume b=DIR.\nlayout:")
	for _, volumes := range []string{"a", "a+b"} {
		line("  - {kind: %s, files: %d, volumes: %s}", kind, files, volumes)
	}
}

func (s *Study) tables(line func(string, ...any)) {
	line("  # The large ones, which the layout spreads, each with the column by which partitions divide it.")
	about := func(t Table) string {
		return fmt.Sprintf("%s, %.0f rows", humanize.IBytes(uint64(max(t.Bytes, 0))), t.Rows)
	}
	divided, alone := s.spread()
	for _, t := range s.Tables {
		if t.Whole != "" {
			line("  # not %s (%s): %s", brief(t.Name), about(t), brief(t.Whole))
		}
	}
	if len(divided)+len(alone) > 0 {
		line("  tables:")
	}
	for _, t := range divided {
		line("    %s: %s # %s", named(t.Name), named(t.Key), about(t))
	}
	comment := "#"
	if len(divided) == 0 {
		comment = ""
	} else if len(alone) > 0 {
		line("    # What cannot be divided can lie whole, each table on a volume: --volume a=DIR --volume b=DIR")
		kind, files := wholly(divided, alone)
		line("    # --layout kind=%[1]s,files=%[2]d,volumes=a --layout kind=%[1]s,files=%[2]d,volumes=a+b", kind, files)
	}
	for _, t := range alone {
		line("    %s%s: %s # %s", comment, named(t.Name), named(t.Key), about(t))
	}
}

// named returns a name in YAML, quoted if need be.
func named(name string) string {
	if plainName.MatchString(name) && !slices.Contains(yamlWords, strings.ToLower(name)) {
		return name
	}
	return quoted(name)
}

var (
	plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	yamlWords = []string{"null", "true", "false", "yes", "no", "on", "off", "y", "n"} // words that YAML reads as something else
)

// Account describes what the study was captured from, what it covers, and what it leaves out.
func (s *Study) Account() []string {
	from := "all that the server has counted"
	switch {
	case s.Log != nil:
		from = "the log " + s.LogName
	case s.Seconds > 0:
		from = "what it counted in " + time.Duration(s.Seconds*float64(time.Second)).Round(time.Second/10).String()
	}
	all := []string{filewise.Printable(fmt.Sprintf("Captured from database %s of %s: %s.", s.Database, s.Server, from))}
	of := fmt.Sprintf("the %.0f calls", s.Calls)
	if s.Time > 0 {
		of = "the time of " + of
	}
	rate := ""
	if s.Seconds > 0 {
		rate = fmt.Sprintf(" (%.1f a second)", s.Calls/s.Seconds)
	}
	all = append(all, fmt.Sprintf("It covers %s of %s%s, by %d types of transactions.", percent(s.Covered), of, rate, len(s.Transactions)))
	if s.Interrupted {
		all = append(all, "It was interrupted: it has what was read until then.")
	}
	if s.Earlier > 0 {
		all = append(all, fmt.Sprintf("The log does not show the database of %s: its lines name none, or their sessions are older than "+
			"its file. They are taken as this one's.", filewise.Counted(s.Earlier, "statement")))
	}
	list := func(what string, columns []Column) {
		if len(columns) > 0 {
			all = append(all, what)
		}
		for _, c := range columns {
			line := "  " + brief(c.Name)
			if c.Why != "" {
				line += ": " + c.Why
			}
			all = append(all, line)
		}
	}
	list("Values of these columns are in it (capture again with --withhold TABLE.COLUMN to keep them out):", s.Disclosed)
	list("Of these none is, and random ones find no row (take real ones with --tell TABLE.COLUMN, or with --values for all):", s.Withheld)
	list("Fill in these values. They are compared with no column, so the server does not report them:", s.Fill)
	list("The server did not report these (capture again when it is less busy); values for them are made up:", s.Unread)
	left := func(what string, covered bool) {
		for _, l := range s.Left {
			if l.Covered != covered {
				continue
			}
			if what != "" {
				all, what = append(all, what), ""
			}
			all = append(all, fmt.Sprintf("  %s: %s: %s", s.shares(l.Share, l.TimeShare), brief(l.Why), brief(l.What)))
		}
	}
	left("Done by the study itself, and covered like the rest:", true)
	left("Left out:", false)
	return all
}

// shares describes a share of the calls, and the share of the time if it is known.
func (s *Study) shares(calls, time float64) string {
	if s.Time == 0 {
		return percent(calls) + " of the calls"
	}
	return percent(calls) + " of the calls, " + percent(time) + " of the time"
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// brief returns a text on one line, shortened.
func brief(text string) string {
	text = filewise.Printable(strings.Join(strings.Fields(text), " "))
	if len(text) > 160 {
		text = strings.ToValidUTF8(text[:160], "") + "…"
	}
	return text
}
