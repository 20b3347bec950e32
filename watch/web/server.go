package web

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"filewise"
	"filewise/results/report"
	"filewise/results/store"
)

//go:embed assets
var assets embed.FS

// DefaultAddress is the page's address if none is given.
const DefaultAddress = "127.0.0.1:8421"

// Archive gives access to stored runs.
type Archive interface {
	// Path returns the path of the store.
	Path() string
	// Runs lists the newest MostListed runs, oldest first. Only runs with a number below before count, unless before is 0.
	// A store that does not exist has none.
	Runs(ctx context.Context, before int64) ([]store.RunInfo, error)
	// Run returns a run as it is judged. If there is none, the error has code not-found.
	Run(ctx context.Context, id int64) (report.Data, error)
	// Compare returns the comparison of two runs as a document for JSON.
	Compare(ctx context.Context, before, after string) (any, error)
}

// Config sets what a Server shows, and its address.
type Config struct {
	Address string // host:port. Empty means DefaultAddress; port 0 means any port
	Token   filewise.Secret
	Private string // directory that only this user can read, for the file by which Open logs the browser in
	Sockets string // directory of other processes' sockets. Empty means none
	Archive Archive
	Fleet   func(context.Context) (Fleet, error) // returns the campaigns' state. Nil means campaigns are not shown
	Version string                               // of Filewise
}

// Server serves the live page and /metrics.
type Server struct {
	config   Config
	guard    guard
	listener net.Listener
	http     *http.Server
	ended    chan struct{} // closed when Serve has returned
	leaving  chan struct{} // closed when pages must get the last state
	once     sync.Once
	pages    atomic.Int64 // open pages of clients without the token
	owned    atomic.Int64 // open pages of clients with the token, which others cannot keep out
	fleet    fleetWatch
	costly   chan struct{} // held while a report or comparison is made for a client without the token

	mu      sync.Mutex // held while the picture is taken
	local   *Monitor
	picture picture
	taken   time.Time
}

// quiet drops net/http's messages about browsers that went away, which would disturb a terminal that shows a run.
var quiet = log.New(io.Discard, "", 0)

// The limits on what browsers may cost.
const (
	pictureFor   = 400 * time.Millisecond // how long a picture serves all requests
	mostPages    = 64
	mostBody     = 4 << 10
	requestIn    = 5 * time.Second  // for a whole request with its body
	answerIn     = time.Minute      // except events, which last as long as the page is open
	writeWithin  = 10 * time.Second // a page that does not read for this long is dropped
	headerWithin = 5 * time.Second
	lastWithin   = 2 * time.Second // for the last state when the server ends
)

// Listen binds the address, and serves there until Close.
func Listen(c Config) (*Server, error) {
	if c.Address == "" {
		c.Address = DefaultAddress
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", c.Address)
	if err != nil {
		return nil, filewise.Errorf(filewise.CodeUsage, "name another address, such as 127.0.0.1:0 for any free port; a \"filewise serve\" "+
			"that runs there shows all runs already",
			"the live page cannot be at %s: %w", c.Address, err)
	}
	s := &Server{config: c, guard: newGuard(c.Token, listener.Addr()), listener: listener, ended: make(chan struct{}),
		leaving: make(chan struct{}), fleet: fleetWatch{ask: c.Fleet}}
	s.http = &http.Server{Handler: s.handler(), ReadHeaderTimeout: headerWithin, ReadTimeout: requestIn, WriteTimeout: answerIn,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10, ErrorLog: quiet, ConnContext: withConnection}
	go func() {
		defer close(s.ended)
		_ = s.http.Serve(&limitedListener{Listener: listener}) // returns after Close
	}()
	return s, nil
}

// Show makes the page show a run of this process.
func (s *Server) Show(m *Monitor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.local, s.taken = m, time.Time{}
}

// Loopback reports whether only this host can reach the page.
func (s *Server) Loopback() bool { return s.guard.loopback }

// URL returns the page's URL without the token.
func (s *Server) URL() string {
	addr := s.listener.Addr().(*net.TCPAddr)
	host := addr.IP.String()
	if addr.IP.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, strconv.Itoa(addr.Port)) + "/"
}

// Close sends the last state to the open pages and ends the server. It waits at most two seconds for a slow page.
func (s *Server) Close() {
	s.once.Do(func() {
		s.mu.Lock()
		s.taken = time.Time{} // makes the last picture a new one
		s.mu.Unlock()
		close(s.leaving)
		s.fleet.close()
		ctx, cancel := context.WithTimeout(context.Background(), lastWithin)
		defer cancel()
		if s.http.Shutdown(ctx) != nil {
			_ = s.http.Close()
		}
		<-s.ended
	})
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	s.costly = make(chan struct{}, 1)
	files, err := fs.Sub(assets, "assets")
	if err != nil {
		panic(err) // it is embedded
	}
	mux.Handle("GET /{$}", page(files, "index.html"))
	mux.Handle("GET /assets/", http.StripPrefix("/assets/", http.FileServerFS(files)))
	mux.HandleFunc("POST /login", s.guard.login)
	mux.HandleFunc("GET /api/events", s.guard.read(s.events))
	mux.HandleFunc("GET /api/state", s.guard.read(s.state))
	mux.HandleFunc("GET /api/runs", s.guard.read(s.runs))
	mux.HandleFunc("GET /api/compare", s.guard.read(s.inTurn(s.compare)))
	mux.HandleFunc("POST /api/do/{action}", s.guard.act(s.do))
	mux.HandleFunc("POST /api/link", s.guard.act(s.guard.link))
	mux.HandleFunc("GET /runs/{id}", s.guard.read(s.inTurn(s.report)))
	mux.HandleFunc("GET /metrics", s.guard.read(s.metrics))
	limited := http.MaxBytesHandler(mux, mostBody)
	return s.guard.shell(limited)
}

// inTurn makes clients without the token wait for each other, since a report takes processor time from the measurement.
func (s *Server) inTurn(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !s.guard.known(r) {
			select {
			case s.costly <- struct{}{}:
				defer func() { <-s.costly }()
			case <-r.Context().Done():
				return
			}
		}
		next(w, r)
	}
}

// page returns a handler that serves one file.
func page(files fs.FS, name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, name) }
}

// do carries out an action on the run in progress.
func (s *Server) do(w http.ResponseWriter, r *http.Request) {
	action := r.PathValue("action")
	run := s.current(r.Context()).run
	switch {
	case run == nil:
		http.Error(w, "nothing is being measured", http.StatusConflict)
	case action != ActionPause && action != ActionResume && action != ActionStop:
		http.Error(w, "no such action: pause, resume or stop", http.StatusNotFound)
	default:
		if err := run.Do(r.Context(), action); err != nil {
			http.Error(w, "the run does not answer: "+err.Error(), http.StatusBadGateway)
			return
		}
		s.mu.Lock()
		s.taken = time.Time{} // makes the next picture show it
		s.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
	}
}

func (s *Server) state(w http.ResponseWriter, r *http.Request) {
	p := s.current(r.Context())
	writeJSON(w, map[string]any{"status": p.status, "problem": p.problem})
}

// MostListed is the number of runs that the page loads at a time.
const MostListed = 100

// runs lists the newest runs, or the runs before a given one.
func (s *Server) runs(w http.ResponseWriter, r *http.Request) {
	before, err := strconv.ParseInt(cmp.Or(r.FormValue("before"), "0"), 10, 64)
	if err != nil || before < 0 {
		http.Error(w, "before is the number of a run", http.StatusBadRequest)
		return
	}
	runs, err := s.config.Archive.Runs(r.Context(), before)
	answer(w, runs, err)
}

func (s *Server) compare(w http.ResponseWriter, r *http.Request) {
	c, err := s.config.Archive.Compare(r.Context(), r.FormValue("before"), r.FormValue("after"))
	answer(w, c, err)
}

// report serves the whole report of a stored run. The policy in the report's page allows its style by hash.
func (s *Server) report(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		http.Error(w, "a run has a number", http.StatusNotFound)
		return
	}
	d, err := s.config.Archive.Run(r.Context(), id)
	var b bytes.Buffer
	if err == nil {
		err = report.HTML(&b, d)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set("Content-Security-Policy", "frame-ancestors 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerIn)) // it may have waited long for its turn
	_, _ = w.Write(b.Bytes())
}

// answer writes a document, or the error.
func answer(w http.ResponseWriter, v any, err error) {
	if err != nil {
		refuse(w, err)
		return
	}
	writeJSON(w, v)
}

// refuse writes an error and its remedy.
func refuse(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	switch filewise.CodeOf(err) {
	case filewise.CodeNotFound:
		status = http.StatusNotFound
	case filewise.CodeUsage:
		status = http.StatusBadRequest
	}
	text := err.Error()
	if remedy := filewise.RemedyOf(err); remedy != "" {
		text += "\n→ " + remedy
	}
	http.Error(w, text, status)
}

func writeJSON(w http.ResponseWriter, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // an error only means that the client has gone
}
