package capture

import (
	"slices"
	"time"

	"filewise"
)

// overlap counts how many of a log's sessions worked at once.
type overlap struct {
	begins, ends []int64          // of statements, in ns
	last         map[string]int64 // end of each session's last statement, in ns
	// If a log has no times: the present second, its sessions, and the most sessions that one second had.
	second int64
	within map[string]bool
	most   int
	// If a log's times have whole seconds only: the statements of the present second, which are spread over it.
	coarse []filewise.LoggedStatement
	fine   bool // some time was no whole second
}

// mostEdges limits the memory of an overlap. The rest of the log is assumed to be similar.
const mostEdges = 2 << 20

func (o *overlap) add(s filewise.LoggedStatement) {
	if s.Ended.IsZero() || s.Text == "" || len(o.ends) > mostEdges {
		return
	}
	if o.last == nil {
		o.last, o.within = map[string]int64{}, map[string]bool{}
	}
	if at := s.Ended.Unix(); at != o.second {
		o.second = at
		clear(o.within)
	}
	o.within[s.Session] = true
	o.most = max(o.most, len(o.within))
	if s.Seconds <= 0 {
		return
	}
	if o.fine = o.fine || s.Ended.Nanosecond() != 0; o.fine {
		o.spread()
		o.worked(s)
		return
	}
	if len(o.coarse) > 0 && !o.coarse[0].Ended.Equal(s.Ended) {
		o.spread()
	}
	o.coarse = append(o.coarse, filewise.LoggedStatement{Session: s.Session, Ended: s.Ended, Seconds: s.Seconds})
}

// spread takes the statements of the present second as if they had ended one after another, as the log has them.
func (o *overlap) spread() {
	for i, s := range o.coarse {
		s.Ended = s.Ended.Add(time.Duration((float64(i) + 0.5) / float64(len(o.coarse)) * float64(time.Second)))
		o.worked(s)
	}
	o.coarse = o.coarse[:0]
}

// worked adds the span of a statement.
func (o *overlap) worked(s filewise.LoggedStatement) {
	ended := s.Ended.UnixNano()
	begun := max(ended-int64(s.Seconds*1e9), o.last[s.Session]) // later if times were rounded, or one statement runs within another
	if ended > begun {
		o.begins, o.ends = append(o.begins, begun), append(o.ends, ended)
		o.last[s.Session] = ended
	}
}

// of returns the most sessions that worked at once, and how many did on average. If a log has no times of statements,
// it returns the most in a second, and 0.
func (o *overlap) of() (most int, mean float64) {
	if o.spread(); len(o.ends) == 0 {
		return o.most, 0
	}
	slices.Sort(o.begins)
	slices.Sort(o.ends)
	worked, ended := 0.0, 0
	for i, begun := range o.begins {
		for o.ends[ended] <= begun {
			ended++
		}
		most = max(most, i+1-ended)
		worked += float64(o.ends[i] - begun)
	}
	return most, worked / max(float64(o.ends[len(o.ends)-1]-o.begins[0]), 1)
}
