package cause

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"filewise/lab/probe"
)

// words returns the sentences on a difference.
func (in Input) words(c Cause, pairs []pair) []string {
	unit := Singular(pairs[0].from.Unit)
	var out []string
	before := 0.0 // sum of the shares before
	for _, x := range c.Changes[:min(len(c.Changes), mostSaid)] {
		out = append(out, in.changed(x, unit, before))
		before += max(x.Share, 0)
	}
	if c.Explained == 0 {
		if len(out) > 0 {
			out[0] = "Changed too, with unknown effect: " + uncapital(out[0])
		}
		out = append([]string{in.unexplained(pairs)}, out...)
	} else if c.Explained < explains {
		out = append(out, fmt.Sprintf("Nothing measured explains the rest of the %s.", in.gain()))
	}
	return append(out, in.limits(c.Near)...)
}

func (in Input) gain() string {
	if in.Effect < 0 {
		return "loss"
	}
	return "gain"
}

// mostSaid is the largest number of changes reported in words.
const mostSaid = 3

// changed returns a sentence on one change. Before is the share of the gain that earlier sentences explain.
func (in Input) changed(x Change, unit string, before float64) string {
	verb := "fell"
	if x.Fall < 0 {
		verb = "rose"
	}
	by := scaleFor(max(x.From, x.To), x.Unit)
	s := fmt.Sprintf("%s per %s %s from %s to %s", x.subject(), unit, verb, by.of(x.From), by.of(x.To))
	if x.Share > 0 {
		s += fmt.Sprintf(", %s of the %s", percentOf(x.Share), in.gain())
		if before > 0 && before+x.Share > overlapping {
			s += " (which overlaps with the above)"
		}
	}
	if x.Share < 0 {
		s += ", which offsets that"
	}
	low, high := x.Low, x.High
	if x.Fall < 0 {
		low, high = -x.High, -x.Low
	}
	if by.of(low) == by.of(high) { // equal in all blocks, to the digits shown
		return s + "."
	}
	return s + fmt.Sprintf(" (by %s to %s, 95 %% interval).", by.of(low), by.of(high))
}

// overlapping is the share from which parts overlap, or one part exceeds the whole. Anything less is noise.
const overlapping = 1.05

// percentOf phrases a share. A share exceeds the whole gain if something else offset a part of it.
func percentOf(share float64) string {
	switch {
	case share > overlapping:
		return "more than all"
	case share > 0.995:
		return "all"
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

func (c Change) subject() string {
	switch c.Kind {
	case KindWait:
		return capital(c.wait())
	case KindCPU:
		return "CPU time"
	case KindProcessorWait:
		return "The wait for a CPU"
	}
	return capital(c.Event)
}

// wait returns the name of a wait. Some servers name events by a path; its last part is the usual name.
func (c Change) wait() string {
	return fmt.Sprintf("%s wait (%s)", c.Class, c.Event[strings.LastIndex(c.Event, "/")+1:])
}

// unexplained returns a sentence that nothing explains the difference, and what was examined.
func (in Input) unexplained(pairs []pair) string {
	looked := "CPU time and the storage's I/O"
	if !hasWaits(pairs) {
		return fmt.Sprintf("The %s is unexplained: waits are not measured here, and no change of %s accounts for it.", in.gain(), looked)
	}
	if !in.Loop {
		return fmt.Sprintf("The %s is not shared out over waits: connections also rest here, or are held to a rate.", in.gain())
	}
	return fmt.Sprintf("The %s is unexplained: no wait and no change of %s accounts for it.", in.gain(), looked)
}

func hasWaits(pairs []pair) bool {
	return slices.ContainsFunc(pairs, func(p pair) bool {
		return slices.ContainsFunc(slices.Concat(p.from.Deltas, p.to.Deltas), wait)
	})
}

// limits returns a sentence on the limit that the layout is nearest to. A layout that the CPU alone limits still differs
// from one that something else limits. Between two that the CPU limits, the storage shows nothing.
func (in Input) limits(near []Use) []string {
	cpu, bound := boundByCPU(near)
	if base, both := boundByCPU(uses(in.measures(in.Baseline))); bound && both {
		return []string{fmt.Sprintf("The CPU was %.0f %% busy with %s and %.0f %% with %s: the two are CPU-bound, and their difference says "+
			"nothing about storage.", base.Percent, in.Baseline, cpu.Percent, in.Layout)}
	}
	if bound {
		return []string{fmt.Sprintf("With %s the CPU was %.0f %% busy: it is the limit there, but not with %s.", in.Layout, cpu.Percent,
			in.Baseline)}
	}
	disk, hasDisk := storage(near)
	_, hasCPU := processorsBusy(near)
	full := fmt.Sprintf("With %s, %s was at %.0f %% of its limit", in.Layout, disk.Name, disk.Percent)
	switch others := othersBusy(near); {
	case others != "" && hasDisk:
		return []string{full + ".", others}
	case others != "":
		return []string{others}
	case hasDisk && (disk.Percent >= NearLimit || !hasCPU):
		return []string{full + "."}
	case hasDisk && cpu.Percent > disk.Percent:
		return []string{fmt.Sprintf("%s and the CPU at %.0f %%: the CPU is nearer its limit.", full, cpu.Percent)}
	case hasDisk:
		return []string{fmt.Sprintf("%s and the CPU at %.0f %%: the storage is nearer its limit.", full, cpu.Percent)}
	case hasCPU:
		return []string{fmt.Sprintf("With %s the CPU was %.0f %% busy; the storage's limit was not measured.", in.Layout, cpu.Percent)}
	}
	return nil
}

// othersBusy returns a sentence if the CPU was busy mostly with work other than the trials. Otherwise it returns "".
func othersBusy(near []Use) string {
	cpu, bound := boundByCPU(near)
	mine, known := nearest(near, KindOwnCPU)
	if bound || !known || cpu.Percent <= probe.BusyLimit {
		return ""
	}
	return fmt.Sprintf("The CPU was %.0f %% busy, mostly with other processes: Filewise and the server used %.0f %%.", cpu.Percent,
		mine.Percent)
}

// sharedWords returns sentences on the bottleneck that all layouts share.
func (in Input) sharedWords(c Cause) []string {
	cpu, bound := in.boundEverywhere()
	if bound && !waitsMost(c) {
		return []string{fmt.Sprintf("In every layout the CPU was at least %.0f %% busy: the run is CPU-bound and says nothing about storage.",
			cpu.Percent)}
	}
	var out []string
	if disk, ok := storage(c.Near); ok && disk.Percent >= NearLimit {
		out = append(out, fmt.Sprintf("In every layout %s was at %.0f %% of its limit.", disk.Name, disk.Percent))
	}
	for i, x := range c.Changes {
		if i == 2 {
			break
		}
		if x.Share > 1 { // background sessions wait too, so waits can exceed the connections' time
			out = append(out, fmt.Sprintf("In every layout, all of the connection time or more went to %s.", x.wait()))
			continue
		}
		out = append(out, fmt.Sprintf("In every layout, at least %.0f %% of connection time went to %s.", 100*x.Share, x.wait()))
	}
	if len(out) == 0 {
		out = []string{in.noBottleneck(c.Near)}
	}
	if bound {
		out = append(out, fmt.Sprintf("The CPU was %.0f %% busy, with unknown work: if it was the server's, the run is CPU-bound "+
			"and says nothing about storage.", cpu.Percent))
	}
	if others := othersBusy(c.Near); others != "" {
		out = append(out, others)
	}
	return out
}

// waitsMost reports whether connections wait most of their time while it is not known whose work uses the CPU. Then the
// CPU is hardly busy with theirs.
func waitsMost(c Cause) bool {
	_, known := nearest(c.Near, KindOwnCPU)
	return !known && len(c.Changes) > 0 && c.Changes[0].Share >= explains
}

// noBottleneck returns a sentence for when no limit was reached: how near the nearest resource of each kind was.
func (in Input) noBottleneck(near []Use) string {
	var parts []string
	shown := make(map[string]bool)
	for _, u := range near {
		if shown[u.Kind] {
			continue
		}
		shown[u.Kind] = true
		switch u.Kind {
		case KindCPU:
			busy := fmt.Sprintf("the CPU was %.0f %% busy", u.Percent)
			if othersBusy(near) != "" {
				busy += " (mostly with other processes)"
			}
			parts = append(parts, busy)
		case KindStorage:
			parts = append(parts, fmt.Sprintf("%s was at %.0f %% of its limit", u.Name, u.Percent))
		case KindDevice:
			parts = append(parts, fmt.Sprintf("%s was in use %.0f %% of the time", u.Name, u.Percent))
		}
	}
	if len(parts) == 0 {
		return "What limits all layouts equally was not measured."
	}
	return "No limit that all layouts share was measured: " + strings.Join(parts, ", ") + "."
}

// Singular returns the singular of a unit: "row", "query", "transaction".
func Singular(unit string) string {
	if one, ok := strings.CutSuffix(unit, "ies"); ok {
		return one + "y"
	}
	return strings.TrimSuffix(unit, "s")
}

// uncapital returns a sentence with a lower-case first letter. "CPU" stays as it is.
func uncapital(s string) string {
	if len(s) > 1 && strings.ToUpper(s[:2]) == s[:2] {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// scale is the unit of the amounts in one sentence.
type scale struct {
	from, factor float64
	unit         string
}

// scaleFor returns the scale that suits the largest of the amounts.
func scaleFor(largest float64, unit string) scale {
	scales := []scale{{0, 1, ""}}
	switch unit {
	case "s":
		scales = []scale{{1, 1, " s"}, {1e-3, 1e3, " ms"}, {1e-6, 1e6, " µs"}, {0, 1e9, " ns"}}
	case "B":
		scales = []scale{{1e9, 1e-9, " GB"}, {1e6, 1e-6, " MB"}, {1e3, 1e-3, " kB"}, {0, 1, " B"}}
	}
	i := slices.IndexFunc(scales, func(s scale) bool { return math.Abs(largest) >= s.from })
	return scales[max(i, 0)] // −1 means NaN
}

func (s scale) of(x float64) string { return digits(x*s.factor) + s.unit }

// digits formats a number with three significant digits, without an exponent.
func digits(x float64) string {
	switch a := math.Abs(x); {
	case a == 0:
		return "0"
	case a >= 99.95:
		return strings.ReplaceAll(fmt.Sprintf("%.0f", x), "-", "−")
	case a >= 9.995:
		return strings.ReplaceAll(fmt.Sprintf("%.1f", x), "-", "−")
	case a >= 0.001:
		return strings.ReplaceAll(fmt.Sprintf("%.2f", x), "-", "−")
	}
	return strings.ReplaceAll(fmt.Sprintf("%.2g", x), "-", "−")
}
