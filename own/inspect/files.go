package inspect

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"filewise"
)

// question adds the finding on whether the number of files is worth testing at all.
func (j *judge) question() {
	s := j.signals
	f := Finding{About: "the question itself", Evidence: join(append(slices.Clone(s.pro), s.con...)), weight: 1e18}
	total := int64(0)
	for _, g := range j.data() {
		total += bytesOf(g)
	}
	buffer := int64(j.Figures[filewise.FigureBuffer])
	first := j.first()
	switch {
	case len(j.data()) == 0:
		return
	case s.quiet:
		f.Worth, f.Evidence = Know, fmt.Sprintf("the counters have counted for %s only", seconds(j.Since.Seconds()))
		if so := append(slices.Clone(s.pro), s.con...); len(so) > 0 {
			f.Evidence += ": " + join(so)
		}
		f.Because = "they hold for that time; inspect again after a usual day"
	case len(s.pro) > 0:
		f.Worth, f.Because, f.Command = Experiment, "sessions wait for what the number and the location of files can change", j.test(first)
		if !s.allocPro && len(s.con) > 0 {
			f.Worth = Perhaps
		}
	case s.known:
		f.Worth, f.Because, f.Command = Not, "sessions wait for something other than files; more files cost planning, open files and "+
			"care, and would not be noticed", j.test(first)
	case j.target.Embedded:
		f.Worth, f.Evidence = Perhaps, "SQLite has one writer at a time in each file, and counts no waits"
		f.Because = "if several connections write at once, each further file is a further write lock; if only one does, nothing is gained"
		f.Command = j.test(first)
	default:
		f.Worth, f.Evidence, f.Because = Know, j.unknowns(), "only an experiment, or an answer to the open questions, can show it"
		f.Command = j.test(first)
	}
	j.add(f)
	if j.Cores == 1 {
		j.add(Finding{About: "cores", Worth: Not, Evidence: "the server has 1 core",
			Because: "one session works at a time, so there is no contention for allocation; only storage could gain", weight: 1e17})
	}
	if total > 0 && total < smallData && (buffer == 0 || total < buffer) && !j.hidden() {
		because := "any machine keeps so little data in memory: only checkpoints write the files"
		if buffer > 0 {
			because = fmt.Sprintf("all of it fits into the cache of %s: files are written by checkpoints and hardly read", size(buffer))
		}
		j.add(Finding{About: "amount of data", Worth: Not, Evidence: size(total) + " in all", Because: because, Command: j.test(first),
			weight: 1e16})
	}
}

// unknowns returns the words that neither waits nor latency are known, and what is known.
func (j *judge) unknowns() string {
	words := "the server reported neither waits nor latency"
	if j.signals.blind && len(j.Waits) > 0 {
		words = "the server reported waits only in part, and no latency"
	}
	return join(append([]string{words}, j.signals.con...))
}

// mostGroups limits the groups that are shown one by one. The others are counted.
const mostGroups = 5

// groups compares each group's number of files with the cores.
func (j *judge) groups() {
	spread := slices.DeleteFunc(j.data(), func(g filewise.FileGroup) bool { return g.Fill == "" })
	shown := 0
	for shown < min(len(spread), mostGroups) && (shown == 0 || bytesOf(spread[shown]) >= smallData/4) {
		j.cores(spread[shown])
		j.balance(spread[shown])
		shown++
	}
	if more := len(spread) - shown; more > 0 {
		sum := int64(0)
		for _, g := range spread[shown:] {
			sum += bytesOf(g)
		}
		j.add(Finding{About: "smaller groups of files", Worth: Not, Evidence: fmt.Sprintf("%d more, %s in all", more, size(sum)),
			Because: "first find out what helps the largest"})
	}
}

// cores compares a group's number of files with the cores, since the usual advice concerns fewer files than cores.
func (j *judge) cores(g filewise.FileGroup) {
	n, bytes := len(g.Files), bytesOf(g)
	f := Finding{About: g.Name, weight: float64(bytes), Command: j.test(g)}
	cores := "the number of cores is not known"
	if j.Cores > 0 {
		cores = filewise.Counted(j.Cores, "core")
	}
	f.Evidence = fmt.Sprintf("%s, %s, %s", parts(g), size(bytes), cores)
	if g.Fill != filewise.FillOwn && n > 1 {
		f.Evidence += ", filled " + string(g.Fill)
		if like := likeFiles(g); like < n {
			f.Evidence += fmt.Sprintf(", so unevenly that they work like %d", like)
		}
	}
	s := j.signals
	switch {
	case bytes < smallData/4:
		f.Worth, f.Because = Not, "it is small"
	case j.Cores > 0 && likeFiles(g) >= j.Cores && n > 1:
		f.Worth, f.Because = Not, "there are already as many files as cores: the command measures if fewer are as fast"
	case s.allocPro:
		f.Worth, f.Because = Experiment, "sessions wait for allocation, and there are fewer files than cores"
	case len(s.pro) > 0:
		f.Worth, f.Because = Perhaps, "files are read or waited for: more of them help if they are on more devices, or if each has a "+
			"separate queue"
	case s.known:
		f.Worth, f.Because = Not, "nothing shows that sessions wait for allocation or storage: fewer files than cores is no fault by itself"
	default:
		f.Worth, f.Because = Perhaps, "nothing shows that it matters, and nothing shows that it does not"
	}
	if g.Fill == filewise.FillOrder {
		f.Because += ". InnoDB fills these files one after the other, with one latch for all: the number alone changes little"
	}
	j.add(f)
	j.holes(g)
}

// holes adds a finding on the free pages within an embedded database's files.
func (j *judge) holes(g filewise.FileGroup) {
	if !j.target.Embedded {
		return
	}
	var free int64
	for _, f := range g.Files {
		if f.Free != nil {
			free += *f.Free
		}
	}
	f := Finding{About: g.Name + ": free pages", Worth: Know, Evidence: fmt.Sprintf("%s of %s are free pages", size(free),
		size(bytesOf(g))), Because: "new rows use them before the file grows"}
	if free > bytesOf(g)/4 {
		f.Worth, f.Because, f.Remedy = Mend, "the data are spread over a file that is larger than they are", "VACUUM when it is idle"
		f.Command = j.test(g)
	}
	j.add(f)
}

// likeFiles returns the number of equal files that would carry the same load, if the largest file were one of them.
func likeFiles(g filewise.FileGroup) int {
	least, most := extremes(g)
	if g.Fill == filewise.FillOrder || float64(most) <= uneven*float64(max(least, 1)) {
		return len(g.Files)
	}
	return int(math.Round(float64(bytesOf(g)) / float64(most)))
}

// uneven is the factor from which differences between files of one group matter.
const uneven = 1.5

// balance checks whether a group's files are equally full and equally used.
func (j *judge) balance(g filewise.FileGroup) {
	if len(g.Files) < 2 || g.Fill == filewise.FillOrder {
		return
	}
	least, most := extremes(g)
	var free []int64
	for _, f := range g.Files {
		if f.Free != nil {
			free = append(free, *f.Free)
		}
	}
	f := Finding{About: g.Name + ": balance", weight: float64(bytesOf(g)), Evidence: fmt.Sprintf("files of %s to %s", size(least), size(most))}
	if n := slices.IndexFunc(g.Files, func(f filewise.FileInspect) bool { return f.Bytes == most }); likeFiles(g) < len(g.Files) {
		f.Evidence += fmt.Sprintf(", %s holds %s of all", base(g.Files[n].Path), percent(float64(most)/float64(bytesOf(g))))
	}
	skewed := float64(most) > uneven*float64(max(least, 1))
	if len(free) == len(g.Files) && g.Fill != filewise.FillPartitions {
		lo, hi := slices.Min(free), slices.Max(free)
		f.Evidence += fmt.Sprintf(", free %s to %s", size(lo), size(hi))
		skewed = skewed || float64(hi) > uneven*float64(max(lo, 1<<20))
	}
	switch {
	case !skewed && g.Fill == filewise.FillFree && len(free) < len(g.Files):
		f.Worth, f.Because = Know, "they have one size; the free space within them, by which they are filled, was not reported"
	case !skewed:
		f.Worth, f.Because = Know, "they are used evenly, so that the load is spread over all of them"
	case g.Fill == filewise.FillFree:
		f.Worth, f.Because = Mend, "SQL Server fills in proportion to free space: the file with the most free space takes most of the writes, "+
			"as if there were fewer files"
		f.Remedy = "give the files of the filegroup the same size and growth"
		f.Command = j.inserts(g, "--set", "autogrow-all-files=on")
	case g.Fill == filewise.FillTurns:
		f.Worth, f.Because = Mend, "once the smaller files are full, only the larger ones take further extents"
		f.Remedy = "resize the datafiles to the same size"
		f.Command = j.test(g)
	default:
		f.Worth, f.Because, f.Command = Perhaps, "the largest takes most of the load: a key that is spread by hash would divide it "+
			"evenly", j.test(g)
		if j.signals.known && len(j.signals.pro) == 0 {
			f.Worth, f.Because = Not, "the largest takes most of the load, and nothing shows that sessions wait for it"
		}
	}
	j.add(f)
}

// spread checks over how many volumes and devices the data are spread.
func (j *judge) spread() {
	all := filewise.FileGroup{}
	for _, g := range j.data() {
		all.Files = append(all.Files, g.Files...)
	}
	volumes := volumesOf(all)
	if len(volumes) == 0 || len(all.Files) == 0 {
		return
	}
	f := Finding{About: "placement", Evidence: where(volumes), weight: 1e12}
	places, apart := j.places(), false
	if places != nil {
		var names []string
		for _, p := range j.Places {
			name := filewise.Printable(p.Name)
			if p.Device != "" {
				name += " (" + p.Device + ")"
			}
			apart = apart || p.Device == "" || volumes["device "+p.Device] == 0
			names = append(names, name)
		}
		f.Evidence += "; locations for files are " + strings.Join(names, ", ")
	}
	first := j.first()
	switch {
	case len(volumes) > 1:
		f.Worth, f.Because = Know, "the data are in several locations already"
		if places != nil {
			f.Command = j.inserts(first, places...)
		}
	case places != nil && !apart:
		f.Worth, f.Because = Not, "all data are on one device, and so are the other locations for files: only their names would differ"
		f.Command = j.inserts(first, places...)
	case places != nil:
		f.Worth, f.Because = Perhaps, "all data are in one location, and there are others"
		if len(j.signals.pro) > 0 {
			f.Worth = Experiment
		}
		f.Command = j.inserts(first, places...)
	case len(j.signals.pro) > 0:
		f.Worth, f.Because = Perhaps, "all data are in one location: files on a second device can be read and written in parallel"
		f.Command = j.test(first)
		f.Remedy = "name the second location too, as the server sees it: add --volume NAME=DIR for each"
	case !j.signals.known:
		f.Worth, f.Because = Know, "all data are in one location; whether its storage is too slow was not reported"
		f.Command = j.test(first)
	default:
		f.Worth, f.Because = Not, "all data are in one location, and nothing shows that its storage is too slow"
		f.Command = j.test(first)
	}
	j.add(f)
}

// growth checks for settings by which files grow too often or too much.
func (j *judge) growth() {
	for _, g := range j.of(func(g filewise.FileGroup) bool { return !g.Own && (!g.System || g.Use == filewise.UseTemp) }) {
		var small, percent int
		var step int64
		for _, f := range g.Files {
			if f.Growth == nil {
				continue
			}
			switch {
			case f.Growth.Percent > 0:
				percent++
			case f.Growth.Bytes > 0 && f.Growth.Bytes <= 4<<20 && f.Bytes >= 64<<20:
				small++
				step = f.Growth.Bytes
			}
		}
		if small+percent == 0 {
			continue
		}
		f := Finding{About: g.Name + ": growth", Worth: Mend, weight: float64(bytesOf(g))}
		if percent > 0 {
			f.Evidence = fmt.Sprintf("%d of %s grow by a percentage", percent, filewise.FilesName(len(g.Files)))
			f.Because = "each growth is larger than the last, files of one group drift apart, and a large one holds up every session that waits " +
				"for it"
		} else {
			f.Evidence = fmt.Sprintf("%d of %s grow by %s", small, filewise.FilesName(len(g.Files)), size(step))
			f.Because = "growing is done while sessions wait: such steps come often, and are measured instead of the number of files"
		}
		f.Remedy = "set a fixed growth of 64 MiB to 1 GiB, the same for all files of a group, or make them large enough at once"
		if g.Use == filewise.UseData {
			f.Command = j.inserts(g, "--allocation", "growing")
			if step > 0 && !slices.Contains(growsByItself, j.target.Kind) {
				f.Command = append(f.Command, "--growth", size1(step))
			}
		}
		j.add(f)
	}
}

// growsByItself lists the kinds of layout without an option for the growth of files.
var growsByItself = []filewise.Kind{filewise.KindPartitions, filewise.KindSingle, filewise.KindPerTable}

// size1 returns a size without a space, as flags take it.
func size1(n int64) string { return strings.ReplaceAll(size(n), " ", "") }

// rest counts the groups that hold none of the user's data, and databases with sizes alone.
func (j *judge) rest() {
	for _, x := range []struct {
		about, because string
		is             func(filewise.FileGroup) bool
	}{
		{"Filewise's own databases", "they belong to runs of Filewise, and are counted in no other finding",
			func(g filewise.FileGroup) bool { return g.Own }},
		{"the server's own databases", "they are counted in no other finding",
			func(g filewise.FileGroup) bool { return g.System && !g.Own && g.Use == filewise.UseData }},
		{"old copies of tables", "a script of filewise apply moved them aside, and the script back needs them: its last step, which is a " +
			"comment, drops them when all is well", func(g filewise.FileGroup) bool { return g.Aside && !g.Own }},
		{"other databases", "only their sizes are seen from here: name one in the URL to look at its tables", func(g filewise.FileGroup) bool {
			return g.Fill == "" && !g.System && !g.Own && g.Use == filewise.UseData
		}},
	} {
		var names []string
		sum := int64(0)
		for _, g := range j.of(x.is) {
			sum += bytesOf(g)
			names = append(names, g.Name)
		}
		if sum == 0 {
			continue
		}
		slices.Sort(names)
		f := Finding{About: x.about, Worth: Know, Because: x.because}
		f.Evidence = fmt.Sprintf("%s in %s", size(sum), strings.Join(names[:min(len(names), 8)], ", "))
		if more := len(names) - 8; more > 0 {
			f.Evidence += fmt.Sprintf(" and %d more", more)
		}
		if x.about == "Filewise's own databases" {
			f.Remedy = filewise.CommandLine(append([]string{"filewise", "clean"}, j.target.Flags...)...)
		}
		j.add(f)
	}
}
