package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// eventEvery is the time between two updates of an open page.
const eventEvery = 500 * time.Millisecond

// events sends updates to a page until the page goes away.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	pages := &s.pages
	if s.guard.known(r) {
		pages = &s.owned
	}
	defer pages.Add(-1)
	if pages.Add(1) > mostPages {
		http.Error(w, "too many open pages", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	st := &stream{w: w, control: http.NewResponseController(w)}
	st.send("hello", map[string]any{"version": s.config.Version, "buttons": s.guard.known(r), "open": s.guard.loopback,
		"store": s.config.Archive.Path()})
	tick := time.NewTicker(eventEvery)
	defer tick.Stop()
	for st.err == nil {
		st.push(s.current(r.Context()))
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		case <-s.leaving:
			st.push(s.current(r.Context()))
			st.send("leaving", nil)
			return
		}
	}
}

// stream holds what one page has received. A write waits only for the page's browser, and only for a limited time.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	err     error

	list    []byte
	run     int64
	version uint64
	store   string
	problem string
	now     []byte
	fleet   *knownFleet
}

// push sends the parts of a picture that the page does not have yet.
func (st *stream) push(p picture) {
	if !bytes.Equal(st.list, p.list) {
		st.list = p.list
		st.sendRaw("runs", p.list)
	}
	if v := p.status; v.Progress != nil && (st.run != v.Run || st.version != v.Version || st.store != v.Store) {
		st.run, st.version, st.store = v.Run, v.Version, v.Store
		st.send("progress", v.Progress)
	}
	if st.problem != p.problem {
		st.problem = p.problem
		st.send("problem", p.problem)
	}
	if st.fleet != p.fleet {
		st.fleet = p.fleet
		st.sendRaw("fleet", p.fleet.body)
	}
	now, err := json.Marshal(p.status.Now)
	if err != nil {
		st.err = err
		return
	}
	if !bytes.Equal(now, st.now) { // always sent during a trial; otherwise it also shows that the connection still works
		st.now = now
		st.sendRaw("now", now)
	} else {
		st.write([]byte(": still here\n\n"))
	}
}

func (st *stream) send(event string, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		st.err = err
		return
	}
	st.sendRaw(event, body)
}

// sendRaw sends JSON without line breaks.
func (st *stream) sendRaw(event string, body []byte) {
	st.write(fmt.Appendf(nil, "event: %s\ndata: %s\n\n", event, body))
}

func (st *stream) write(b []byte) {
	if st.err != nil {
		return
	}
	if st.err = st.control.SetWriteDeadline(time.Now().Add(writeWithin)); st.err != nil {
		return
	}
	if _, st.err = st.w.Write(b); st.err == nil {
		st.err = st.control.Flush()
	}
}
