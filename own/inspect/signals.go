package inspect

import (
	"fmt"
	"slices"
	"strings"

	"filewise"
)

// From these values on, storage or the allocation of space is worth a look. They are where vendors' own advice starts
// (Microsoft: “Slow I/O”, above 10 to 15 ms), or nothing smaller would show in an experiment of minutes.
const (
	quickRead                    = 0.0005              // s: as from flash, or from the system's cache
	slowRead, slowWrite, slowLog = 0.010, 0.010, 0.005 // s for each request
	fewRequests                  = 100                 // with fewer requests, a mean has no meaning
	storageShare, allocShare     = 0.10, 0.03          // of all time waited
	busyShare                    = 0.01                // waited, of the time that passed
	missShare, cachedShare       = 0.01, 0.001         // of page requests
	smallData                    = 256 << 20           // B: any cache holds it
	young                        = 3600                // s: a shorter time of counting proves little
	spilled, spillRate           = 1 << 30, 16 << 10   // B, and B/s: 1.4 GB a day
)

// signals holds what speaks for an experiment, and what speaks against it.
type signals struct {
	waited, storage, alloc float64  // waited in all, for storage, for allocation
	read                   float64  // waited for reads, within storage
	pro, con               []string // in words
	allocPro, storagePro   bool
	readPro, writePro      bool   // whether reads, or writes, are waited for
	known                  bool   // waits or latency were returned: what is not among them did not happen
	blind                  bool   // only a part of the waits was returned: others may have happened
	idle                   string // in words: how little is waited for
	quiet                  bool   // too little has happened to judge
	quick                  bool   // reads come from the system's cache, or as quickly
}

func storageClass(c filewise.WaitClass) bool {
	switch c {
	case filewise.WaitDataRead, filewise.WaitDataWrite, filewise.WaitLog, filewise.WaitTemp, filewise.WaitCheckpoint:
		return true
	}
	return false
}

func (j *judge) look() (s signals) {
	s.blind = j.gap("waits")
	for _, w := range j.Waits {
		if w.Unit == "waits" {
			continue
		}
		s.waited += w.Value
		switch {
		case w.Class == filewise.WaitAllocation:
			s.alloc += w.Value
		case storageClass(w.Class):
			s.storage += w.Value
			if w.Class == filewise.WaitDataRead {
				s.read += w.Value
			}
		}
	}
	j.lookWaits(&s)
	j.lookLatency(&s)
	j.lookCache(&s)
	if n := j.Figures[filewise.FigureAllocation]; n > 0 {
		s.known, s.allocPro = true, true
		s.pro = append(s.pro, filewise.Counted(int(n), "session")+" waits at this moment for pages that hand out space in files")
	}
	if n := j.Figures[filewise.FigureFreeWaits]; n > 0 {
		s.writePro = true
		s.pro = append(s.pro, count(n)+" waits for a free page: pages are not written fast enough")
	}
	if since := j.Since.Seconds(); since > 0 && since < young {
		s.quiet = true
	}
	return s
}

func (j *judge) lookWaits(s *signals) {
	if s.waited <= 0 {
		return
	}
	// A handful of samples, or a few seconds, of an idle server prove nothing.
	if j.Sampled && s.waited < 5 || !j.Sampled && s.waited < 10 {
		return
	}
	s.known = !s.blind
	// If only I/O is timed, all waits are for I/O, even on an idle server. Then their share of the time that passed
	// counts.
	if since := j.Since.Seconds(); !j.Sampled && since > 0 && (s.storage+s.alloc)/since < busyShare {
		s.idle = fmt.Sprintf("all sessions together waited %s for files in %s", seconds(s.storage+s.alloc), seconds(since))
		s.against(s.idle)
		return
	}
	if share := s.alloc / s.waited; share >= allocShare {
		s.allocPro = true
		s.pro = append(s.pro, percent(share)+" of the time waited is for the allocation of space in files")
	}
	if share := s.storage / s.waited; share >= storageShare {
		s.storagePro = true
		s.readPro, s.writePro = s.read > s.storage/2, s.read <= s.storage/2
		s.pro = append(s.pro, percent(share)+" of the time waited is for storage")
	} else {
		s.against("only " + percent(share) + " of the time waited is for storage")
	}
}

// against adds a reason against an experiment that rests on waits, if all of them were seen.
func (s *signals) against(why string) {
	if !s.blind {
		s.con = append(s.con, why)
	}
}

// gap reports whether one of these questions was not answered.
func (j *judge) gap(of ...string) bool {
	return slices.ContainsFunc(j.Gaps, func(g filewise.Gap) bool {
		return slices.ContainsFunc(of, func(word string) bool { return strings.Contains(g.Question, word) })
	})
}

// hidden reports whether there may be data whose size was not read.
func (j *judge) hidden() bool {
	return j.gap("files of", "sizes of tables", "size of", "datafiles", "database ") ||
		slices.ContainsFunc(j.Gaps, func(g filewise.Gap) bool { return g.Question == "files" })
}

func (j *judge) lookCache(s *signals) {
	requests, ok := j.Figures[filewise.FigureRequests]
	misses, known := j.Figures[filewise.FigureMisses]
	if !ok || !known || requests < 10000 {
		return
	}
	switch share := misses / requests; {
	case share >= missShare && s.quick:
		s.con = append(s.con, percent(share)+" of page requests read a file, and get an answer at once")
	case share >= missShare:
		s.readPro = true
		s.pro = append(s.pro, percent(share)+" of "+count(requests)+" page requests read a file")
	case share < cachedShare:
		s.con = append(s.con, "the cache answered "+exact(1-share)+" of "+count(requests)+" page requests")
	}
}

func (j *judge) lookLatency(s *signals) {
	t := map[string]float64{}
	for _, g := range j.Groups {
		if g.Own || g.Use == filewise.UseLog {
			continue
		}
		for _, f := range g.Files {
			// If some requests are counted but not timed, they would make the mean too small.
			for number, time := range map[string]string{filewise.FileReads: filewise.FileReadTime, filewise.FileWrites: filewise.FileWriteTime} {
				if f.IO[time] > 0 {
					t[number] += f.IO[number]
					t[time] += f.IO[time]
				}
			}
		}
	}
	reads, writes := mean(t, filewise.FileReads, filewise.FileReadTime), mean(t, filewise.FileWrites, filewise.FileWriteTime)
	if reads < 0 && writes < 0 {
		return
	}
	s.known = true
	s.quick = reads >= 0 && reads < quickRead
	var fast []string
	for _, x := range []struct {
		what    string
		is, bar float64
	}{{"reads", reads, slowRead}, {"writes", writes, slowWrite}} {
		switch {
		case x.is >= x.bar:
			s.readPro, s.writePro = s.readPro || x.what == "reads", s.writePro || x.what == "writes"
			s.pro = append(s.pro, fmt.Sprintf("%s of data files take %s on average", x.what, millis(x.is)))
		case x.is >= 0:
			fast = append(fast, fmt.Sprintf("%s %s", x.what, millis(x.is)))
		}
	}
	if len(fast) > 0 {
		s.con = append(s.con, "data files answer quickly ("+strings.Join(fast, ", ")+" on average)")
	}
}

// mean returns the mean time of a request, in seconds. −1 means it is not known, or there were too few requests.
func mean(io map[string]float64, number, time string) float64 {
	n, t := io[number], io[time]
	if n < fewRequests || t <= 0 {
		return -1
	}
	return t / n
}
