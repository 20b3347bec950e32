package sqlserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
)

// The files tds_… are a server of the TDS protocol (MS-TDS 7.4): it logs clients in, takes
// batches, calls of procedures, bulk loads and attentions, and answers what a test has
// set. It executes no SQL, so what passes against it is proven of the adapter's logic, of
// the driver and of the protocol, and of nothing that SQL Server itself does.

// Kind describes how a request came.
type Kind string

// The kinds of requests.
const (
	Batch Kind = "batch"
	Call  Kind = "call" // of sp_executesql: SQL and Args are its own
	Bulk  Kind = "bulk"
)

// Request holds what a client asks for.
type Request struct {
	Kind Kind
	SQL  string
	Args []any
	Body []byte // of a bulk load
	// Reset: the client took the connection from a pool again, and all that was set
	// on it is gone.
	Reset   bool
	Session *Session
}

// Session is one connection that has logged in.
type Session struct {
	Login Login
	ID    int
	// Data is the handler's own, for what lives as long as the session.
	Data any

	conn net.Conn
	busy sync.Mutex // a reply is being written
	stop func()     // ends the request under way. Nil means none
	// attention is requested and not confirmed yet.
	attention atomic.Bool
}

// Drop ends the connection at once, in the middle of whatever it does.
func (s *Session) Drop() { _ = s.conn.Close() }

// Handler answers.
type Handler interface {
	// Login is nil, or why the client may not.
	Login(*Session) error
	// Handle writes the reply. The context ends when the client cancels; a handler
	// that returns then is confirmed, unless it returns ErrUnconfirmed.
	Handle(context.Context, Request, *Reply) error
	// Closed shows that a session has ended.
	Closed(*Session)
}

// Errors that a handler returns.
var (
	ErrUnconfirmed = errors.New("the cancel is not confirmed")
	ErrHangUp      = errors.New("the connection is to be dropped")
)

// Server is a running one.
type Server struct {
	listener net.Listener
	handler  Handler
	wg       sync.WaitGroup

	mu       sync.Mutex
	sessions map[*Session]bool
	received []string
	next     int
}

// Start serves on a free port of the loopback until Close.
func Start(h Handler) (*Server, error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{listener: l, handler: h, sessions: map[*Session]bool{}, next: 50}
	s.wg.Go(s.accept)
	return s, nil
}

// Port returns where it listens.
func (s *Server) Port() int { return s.listener.Addr().(*net.TCPAddr).Port }

// Received returns all statements that clients have sent, in order.
func (s *Server) Received() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.received)
}

// Sessions returns the sessions that are connected.
func (s *Server) Sessions() []*Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*Session
	for c := range s.sessions {
		all = append(all, c)
	}
	return all
}

// Close ends it with all its connections.
func (s *Server) Close() {
	_ = s.listener.Close()
	for _, c := range s.Sessions() {
		c.Drop()
	}
	s.wg.Wait()
}

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.next++
		c := &Session{conn: conn, ID: s.next}
		s.sessions[c] = true
		s.mu.Unlock()
		s.wg.Go(func() { s.serve(c) })
	}
}

// serve is the life of a connection.
func (s *Server) serve(c *Session) {
	defer func() {
		c.Drop()
		s.mu.Lock()
		delete(s.sessions, c)
		s.mu.Unlock()
	}()
	if !s.greet(c) {
		return
	}
	defer s.handler.Closed(c)
	type request struct {
		context.Context
		stop func()
		message
	}
	requests := make(chan request)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for m := range requests {
			if err := s.answer(m.Context, c, m.message); err != nil {
				c.Drop()
			}
			m.stop()
		}
	}()
	for {
		m, err := readMessage(c.conn)
		if err != nil {
			break
		}
		if m.kind == packAttention {
			s.cancel(c)
			continue
		}
		// From here on an attention is to this request, whether or not it has begun: else its
		// reply would be taken for the next one's.
		ctx, stop := context.WithCancel(context.Background())
		c.busy.Lock()
		c.stop = stop
		c.busy.Unlock()
		requests <- request{ctx, stop, m}
	}
	c.interrupt()
	close(requests)
	<-done
}

// greet takes prelogin and login.
func (s *Server) greet(c *Session) bool {
	for {
		m, err := readMessage(c.conn)
		if err != nil {
			return false
		}
		if m.kind == packPrelogin {
			if writePackets(c.conn, preloginReply(), true) != nil {
				return false
			}
			continue
		}
		if m.kind != packLogin {
			return false
		}
		if c.Login, err = parseLogin(m.body); err != nil {
			return false
		}
		if err := s.handler.Login(c); err != nil {
			r := &Reply{}
			number := int32(18456)
			var numbered Numbered
			if errors.As(err, &numbered) {
				number = numbered.Number
			}
			r.Error(number, 14, err.Error())
			if number == errCannotOpen { // the server sends the reason first
				r.Error(errLoginFailed, 14, "Login failed for user '"+c.Login.User+"'.")
			}
			r.done(2, 0)
			_ = writePackets(c.conn, r.b, true)
			return false
		}
		database := c.Login.Database
		if database == "" {
			database = "master"
		}
		return writePackets(c.conn, loginReply(database), true) == nil
	}
}

// Numbered is an error with the server's number.
type Numbered struct {
	Number  int32
	Message string
}

func (n Numbered) Error() string { return n.Message }

// interrupt ends the request under way.
func (c *Session) interrupt() (was bool) {
	c.busy.Lock()
	defer c.busy.Unlock()
	if c.stop == nil {
		return false
	}
	c.stop()
	return true
}

// cancel is an attention: what runs is instructed to end, and its reply confirms; if
// nothing runs, a reply of its own does.
func (s *Server) cancel(c *Session) {
	c.attention.Store(true)
	if c.interrupt() {
		return
	}
	c.busy.Lock()
	defer c.busy.Unlock()
	if c.attention.Swap(false) {
		r := &Reply{}
		r.done(0x20, 0)
		_ = writePackets(c.conn, r.b, true)
	}
}

// answer handles one request.
func (s *Server) answer(ctx context.Context, c *Session, m message) error {
	req, err := s.parse(c, m)
	if err != nil {
		return err
	}
	r := &Reply{flush: func(b []byte) error { return writePackets(c.conn, b, false) }}
	if transactions[req.SQL] != 0 {
		r.changed(req.SQL)
	}
	err = s.handler.Handle(ctx, req, r)
	c.busy.Lock()
	defer c.busy.Unlock()
	c.stop = nil
	if errors.Is(err, ErrHangUp) {
		return err
	}
	status := uint16(0)
	if c.attention.Swap(false) {
		if errors.Is(err, ErrUnconfirmed) {
			return writePackets(c.conn, r.b, false) // and silence
		}
		status = 0x20
	}
	r.done(status, 0)
	return writePackets(c.conn, r.b, true)
}

// parse makes a request of a message.
func (s *Server) parse(c *Session, m message) (Request, error) {
	req := Request{Session: c, Reset: m.reset}
	switch m.kind {
	case packBatch:
		r := &reader{rest: m.body}
		r.headers()
		req.Kind, req.SQL = Batch, fromUCS2(r.rest)
		if r.err != nil {
			return req, r.err
		}
	case packRPC:
		procedure, args, err := parseRPC(m.body)
		if err != nil {
			return req, err
		}
		req.Kind, req.SQL, req.Args = Call, procedure, args
		if procedure == "sp_executesql" && len(args) >= 1 {
			req.SQL, _ = args[0].(string)
			req.Args = args[min(2, len(args)):]
		}
	case packBulk:
		req.Kind, req.Body = Bulk, m.body
	default:
		return req, fmt.Errorf("a packet of type %d", m.kind)
	}
	if req.SQL != "" {
		s.mu.Lock()
		s.received = append(s.received, req.SQL)
		s.mu.Unlock()
	}
	return req, nil
}
