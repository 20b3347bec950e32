package capture

import (
	"cmp"
	"slices"
	"time"

	"filewise"
)

// overlap tells how many sessions of a log worked at once.
type overlap struct {
	edges []edge
	last  map[string]time.Time // end of a session's last statement
	// Of a log without times: the sessions of the present second, and the most that one had.
	second time.Time
	within map[string]bool
	most   int
}

// edge is where a session begins to work (1), or ends (−1).
type edge struct {
	at time.Time
	by int8
}

// mostEdges bounds the memory of an overlap: what follows in the log is taken to be alike.
const mostEdges = 4 << 20

func (o *overlap) add(s filewise.LoggedStatement) {
	if s.Ended.IsZero() || s.Text == "" || len(o.edges) > mostEdges {
		return
	}
	if o.last == nil {
		o.last = map[string]time.Time{}
	}
	if at := s.Ended.Truncate(time.Second); !at.Equal(o.second) || o.within == nil {
		o.second, o.within = at, map[string]bool{}
	}
	o.within[s.Session] = true
	o.most = max(o.most, len(o.within))
	begun := s.Ended.Add(-time.Duration(s.Seconds * float64(time.Second)))
	if before := o.last[s.Session]; begun.Before(before) { // by rounding, or a statement within another
		begun = before
	}
	if s.Ended.After(begun) {
		o.edges = append(o.edges, edge{begun, 1}, edge{s.Ended, -1})
		o.last[s.Session] = s.Ended
	}
}

// of are the most sessions that worked at once, and how many did on average. Of a log that does not tell how long statements took
// they are the most of a second, and 0.
func (o *overlap) of() (most int, mean float64) {
	if len(o.edges) == 0 {
		return o.most, 0
	}
	slices.SortFunc(o.edges, func(a, b edge) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.by, b.by)) })
	now, sum, before := 0, 0.0, o.edges[0].at
	for _, e := range o.edges {
		sum += float64(now) * e.at.Sub(before).Seconds()
		now += int(e.by)
		most, before = max(most, now), e.at
	}
	return most, sum / max(before.Sub(o.edges[0].at).Seconds(), 1e-9)
}
