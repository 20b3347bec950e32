package capture

import (
	"slices"

	"filewise"
)

// overlap counts a log's sessions that worked at once.
type overlap struct {
	begins, ends []int64          // of statements, in ns
	last         map[string]int64 // end of a session's last statement
	// Of a log without times: the sessions of the present second, and the most that one had.
	second int64
	within map[string]bool
	most   int
}

// mostEdges bounds the memory of an overlap: the rest of the log is taken to be the same.
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
	begun := max(ended-int64(s.Seconds*1e9), o.last[s.Session]) // by rounding, or a statement within another
	if ended > begun {
		o.begins, o.ends = append(o.begins, begun), append(o.ends, ended)
		o.last[s.Session] = ended
	}
}

// of returns the most sessions that worked at once, and how many did on average. If a log does not have the
// statements' times, the most in a second, and 0.
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
