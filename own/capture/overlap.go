package capture

import (
	"slices"

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
}

// mostEdges limits the memory of an overlap. The rest of the log is assumed to be alike.
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
	if len(o.ends) == 0 {
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
