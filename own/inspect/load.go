package inspect

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"filewise"
)

// timed holds the mean times of a file's requests, in seconds. −1 means not known.
type timed struct {
	name        string
	read, write float64
}

func (t timed) worst() float64 { return max(t.read, t.write) }

func (t timed) String() string {
	var all []string
	if t.read >= 0 {
		all = append(all, millis(t.read)+" a read")
	}
	if t.write >= 0 {
		all = append(all, millis(t.write)+" a write")
	}
	return t.name + " " + strings.Join(all, ", ")
}

func timesOf(g filewise.FileGroup) (all []timed) {
	for _, f := range g.Files {
		t := timed{base(f.Path), mean(f.IO, filewise.FileReads, filewise.FileReadTime), mean(f.IO, filewise.FileWrites, filewise.FileWriteTime)}
		if t.worst() >= 0 {
			all = append(all, t)
		}
	}
	slices.SortStableFunc(all, func(a, b timed) int { return cmp.Compare(b.worst(), a.worst()) })
	return all
}

// base returns the last part of a path, also of a Windows path.
func base(name string) string { return path.Base(strings.ReplaceAll(name, `\`, "/")) }

// latency checks how long each file's requests wait for the storage. Groups whose files answer quickly share one line.
func (j *judge) latency() {
	var quick []timed
	for _, g := range j.of(func(g filewise.FileGroup) bool { return !g.Own && !g.System || g.Use != filewise.UseData }) {
		all := timesOf(g)
		if len(all) > 0 && !j.slow(g, all) {
			quick = append(quick, all...)
		}
	}
	if len(quick) > 0 {
		worst := slices.MaxFunc(quick, func(a, b timed) int { return cmp.Compare(a.worst(), b.worst()) })
		f := Finding{About: "latency", Worth: Not, Evidence: worst.String(), Because: "the storage answers quickly",
			weight: worst.worst() * 1e6, Command: j.test(j.first())}
		if len(quick) > 1 {
			f.Evidence = fmt.Sprintf("of %s the slowest: %s", filewise.FilesName(len(quick)), f.Evidence)
		}
		j.add(f)
	}
	j.extensions()
}

// slow adds a finding if a file of the group is slow, and reports whether it did.
func (j *judge) slow(g filewise.FileGroup, all []timed) bool {
	worst, best := all[0], all[len(all)-1]
	f := Finding{About: g.Name + ": latency", Evidence: worst.String(), weight: worst.worst() * 1e6, Command: j.test(g)}
	if len(all) > 1 {
		f.Evidence = "slowest " + worst.String() + "; quickest " + best.String()
	}
	switch {
	case g.Use == filewise.UseLog && worst.write >= slowLog:
		f.Worth, f.Because = Mend, "every commit waits for the log: more data files do not change that, faster storage for the log does"
		f.Remedy = "put the log on separate storage"
	case worst.write >= slowWrite:
		f.Worth, f.Because = Experiment, "writes are slow"
	case worst.read >= slowRead:
		f.Worth, f.Because, f.Command = Experiment, "reads are slow", j.reads(g)
	default:
		return false
	}
	if g.Use == filewise.UseTemp {
		f.Command = j.tempCommand(len(g.Files))
	}
	j.add(f)
	return true
}

func (j *judge) extensions() {
	if n, bad := j.Figures[filewise.FigureExtends], j.Figures[filewise.FigureWriteTime]; n > 0 && bad > 0 {
		j.add(Finding{About: "extensions of files", Worth: Know, Evidence: fmt.Sprintf("%s; writing and extending took %s", count(n),
			seconds(bad))})
	}
}

// waits adds a finding that names the greatest waits since the server's start.
func (j *judge) waits() {
	s := j.signals
	all := filewise.Those(j.Waits, func(w filewise.Counter) bool { return w.Unit != "waits" && w.Value > 0 })
	if len(all) == 0 {
		return
	}
	slices.SortFunc(all, func(a, b filewise.Counter) int { return cmp.Compare(b.Value, a.Value) })
	var text []string
	for _, w := range all[:min(len(all), 5)] {
		text = append(text, fmt.Sprintf("%s %s (%s)", w.Name, percent(w.Value/s.waited), w.Class))
	}
	f := Finding{About: "waits since the start", Evidence: strings.Join(text, ", "), weight: 1e15, Command: j.test(j.first())}
	f.Evidence += fmt.Sprintf("; %s in all", seconds(s.waited))
	if j.Sampled {
		f.About = "waits now"
		f.Evidence = fmt.Sprintf("%s; %s waits of sessions were seen in a second of sampling", strings.Join(text, ", "), count(s.waited))
	}
	switch {
	case s.allocPro:
		f.Worth, f.Because = Experiment, "sessions wait for the allocation of space, which more files relieve"
	case s.storagePro:
		f.Worth, f.Because = Perhaps, percent(s.storage/s.waited)+" is for storage"
	case s.blind:
		f.Worth, f.Because = Know, "these are only part of the waits: the others were not reported"
	default:
		f.Worth, f.Because = Not, "hardly any session waits for storage or allocation"
		if s.idle != "" {
			f.Because = s.idle + ", which is too little to be noticed"
		}
	}
	j.add(f)
}

// temp checks the temporary files and the work that fills them.
func (j *judge) temp() {
	for _, g := range j.of(func(g filewise.FileGroup) bool { return g.Use == filewise.UseTemp }) {
		f := Finding{About: g.Name, weight: 1e10, Evidence: fmt.Sprintf("%s, %s", filewise.FilesName(len(g.Files)), size(bytesOf(g))),
			Command: j.tempCommand(len(g.Files))}
		if j.Cores > 0 {
			f.Evidence += ", " + filewise.Counted(j.Cores, "core")
		}
		least, most := extremes(g)
		switch {
		case g.Fill == filewise.FillFree && float64(most) > uneven*float64(max(least, 1)):
			f.Worth, f.Because = Mend, fmt.Sprintf("their sizes are %s to %s, and the one with the most free space takes most of the load",
				size(least), size(most))
			f.Remedy = "give all of them the same size and growth; Filewise never changes them itself"
		case g.Fill == filewise.FillFree && j.Cores > 1 && len(g.Files) < min(j.Cores, 8):
			f.Worth, f.Because = Perhaps, fmt.Sprintf("Microsoft advises one for each core, up to 8: there are fewer than %d", min(j.Cores, 8))
			if j.signals.allocPro {
				f.Worth = Experiment
			}
			f.Remedy = "have the owner add files of the same size (filewise plan temp --sql prints how), measure again, and let " +
				"filewise compare judge"
		default:
			f.Worth, f.Because = Know, "whether their number matters depends on how much is written to them"
		}
		j.add(f)
	}
	bytes, ok := j.Figures[filewise.FigureTempBytes]
	if files := j.Figures[filewise.FigureTempFiles]; ok {
		f := Finding{About: "sorts and hashes in temporary files",
			Evidence: fmt.Sprintf("%s, %s written", filewise.Counted(int(files), "file"), size(int64(bytes))), Command: j.tempCommand(1)}
		since := j.Since.Seconds()
		if since > 0 {
			f.Evidence += " in " + seconds(since)
		}
		f.Worth, f.Because = Not, "so little work spills to them that it cannot be noticed"
		if bytes > spilled && bytes > since*spillRate {
			f.Worth, f.Because, f.weight = Perhaps, "work that does not fit into memory is written and read again: several locations for "+
				"temporary files share that load", bytes
			f.Remedy = "check first whether more memory for a session (work_mem) makes them unnecessary"
		}
		j.add(f)
	}
	disk, ok := j.Figures[filewise.FigureTempDisk]
	if tables := j.Figures[filewise.FigureTempTables]; ok && tables > 0 {
		f := Finding{About: "temporary tables on disk", Evidence: fmt.Sprintf("%s of %s (%s)", count(disk), count(tables),
			percent(disk/tables)), Command: j.tempCommand(1)}
		if slices.Equal(j.target.TempModes, []filewise.Mode{filewise.Managed}) {
			f.Remedy = "the command measures on a managed server: the location of temporary files is a start-up option"
		}
		f.Worth, f.Because = Not, "so few temporary tables are written to disk that no difference could be noticed"
		if disk > 1000 && disk/tables > 0.25 {
			f.Worth, f.Because, f.weight = Perhaps, "many temporary tables are written to files", disk
			f.Remedy = "check first whether a larger tmp_table_size keeps them in memory"
		}
		j.add(f)
	}
}

func extremes(g filewise.FileGroup) (least, most int64) {
	least, most = g.Files[0].Bytes, g.Files[0].Bytes
	for _, f := range g.Files {
		least, most = min(least, f.Bytes), max(most, f.Bytes)
	}
	return least, most
}

// tempCommand returns the command that compares temporary files, on the server itself or on a managed one. It is empty
// if the engine offers no choice.
func (j *judge) tempCommand(have int) []string {
	switch modes := j.target.TempModes; {
	case j.target.TempAsIs:
		return j.run("temp")
	case slices.Contains(modes, filewise.External):
		if places := j.places(); places != nil {
			n := len(places) / 2
			var counts []string
			for i := 1; i <= n; i++ {
				counts = append(counts, fmt.Sprint(i))
			}
			return j.run("temp", append([]string{"--files", strings.Join(counts, ",")}, places...)...)
		}
	case slices.Contains(modes, filewise.Managed):
		return []string{"filewise", "run", "temp", "--engine", j.target.Engine, "--files", j.counts(have)}
	}
	return nil
}

// log checks the files that commits wait for.
func (j *judge) log() {
	for _, g := range j.of(func(g filewise.FileGroup) bool { return g.Use == filewise.UseLog && !g.System && !g.Own }) {
		f := Finding{About: g.Name, Worth: Know, Evidence: fmt.Sprintf("%s, %s", parts(g), size(bytesOf(g))), weight: 1e9}
		if v := volumesOf(g); len(v) > 0 {
			f.Evidence += ": " + where(v)
		}
		switch {
		case g.Fragments > 1000:
			f.Worth, f.Evidence = Mend, f.Evidence+fmt.Sprintf(", %s virtual log files", count(float64(g.Fragments)))
			f.Because, f.Remedy = "growth in small steps made this many; they slow down recovery and every "+
				"read of the log", "shrink the log once and let it grow by 64 MiB to 1 GiB"
		case j.shares(g):
			f.Worth, f.Because = Perhaps, "the log is on the device of the data: each commit waits behind their reads and writes"
			switch {
			case len(j.signals.pro) > 0:
			case !j.signals.known:
				f.Worth, f.Because = Know, "the log is on the device of the data; whether commits wait for it was not reported"
			default:
				f.Worth, f.Because = Not, "the log is on the device of the data, and nothing shows that commits wait for it"
			}
			f.Command = j.test(j.first())
		}
		j.add(f)
	}
	if n := j.Figures[filewise.FigureLogWaits]; n > max(10, j.Since.Minutes()) {
		j.add(Finding{About: "space in the log", Worth: Mend, Evidence: count(n) + " waits for space in the log's buffer", weight: n,
			Because: "sessions wait for the log, and more data files do not change " +
				"that", Remedy: "make the log's buffer larger (innodb_log_buffer_size)"})
	}
	if n := j.Figures[filewise.FigureSwitches]; n > 24*6 {
		evidence := count(n) + " in the last day"
		for _, g := range j.of(func(g filewise.FileGroup) bool { return g.Use == filewise.UseLog }) {
			if least, _ := extremes(g); least > 0 {
				evidence += ", with log files of " + size(least)
			}
		}
		j.add(Finding{About: "log switches", Worth: Mend, Evidence: evidence, weight: n,
			Because: "each switch asks for a checkpoint: more often than every ten minutes the writes of checkpoints are measured instead of the " +
				"files", Remedy: "make the redo log files larger"})
	}
}

// shares reports whether a log shares a device, or a volume, with data.
func (j *judge) shares(log filewise.FileGroup) bool {
	at := volumesOf(log)
	for _, g := range j.data() {
		for v := range volumesOf(g) {
			if at[v] > 0 {
				return true
			}
		}
	}
	return false
}

// checkpoints adds a finding on how many checkpoints come by time, and how many because the log is full or on request.
func (j *judge) checkpoints() {
	requested, ok := j.Figures[filewise.FigureRequested]
	timed, known := j.Figures[filewise.FigureTimed]
	if !ok || !known || requested+timed == 0 {
		return
	}
	f := Finding{About: "checkpoints", Worth: Know, Evidence: fmt.Sprintf("%s because the log was full or on request, %s because it "+
		"was time", count(requested), count(timed)), weight: requested}
	if limit := j.Settings["max_wal_size"]; limit != "" {
		f.Evidence += ", max_wal_size " + limit
	}
	if requested > timed && requested >= 10 {
		f.Worth, f.Because = Mend, "checkpoints that come early write the same pages again and again, which would be measured instead of the "+
			"files"
		f.Remedy = "raise max_wal_size until most come by time"
		f.Command = j.test(j.first())
	}
	j.add(f)
}
