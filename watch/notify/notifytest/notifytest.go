// Package notifytest provides real servers on the loopback interface for tests. The servers keep what they receive.
package notifytest

import (
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// Account is the mail server's account and password, in the form of a URL.
const Account = "ada:Zx9%2FCanary"

// Mail is a mail server. It rejects mail for nobody@ at any domain.
type Mail struct {
	Addr string

	mechanism string
	mu        sync.Mutex
	got       []string // letters as they arrived
	to        []string
	secure    int // number of letters that arrived by TLS
}

// Security is when a mail server uses TLS. No client trusts its certificate.
type Security int

// When a mail server uses TLS.
const (
	Clear    Security = iota
	StartTLS          // before login
	Implicit          // from the first byte
)

// NewMail starts a mail server without TLS. It stops at the end of the test.
func NewMail(t *testing.T) *Mail { return NewMailWith(t, Clear, sasl.Plain) }

// NewMailWith starts a mail server that accepts the given way of logging in. It stops at the end of the test.
func NewMailWith(t *testing.T, security Security, mechanism string) *Mail {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Mail{Addr: l.Addr().String(), mechanism: mechanism}
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) { return &session{server: s, conn: c}, nil }))
	server.Domain, server.AllowInsecureAuth, server.ErrorLog = "localhost", security == Clear, log.New(io.Discard, "", 0)
	if security != Clear {
		web := httptest.NewTLSServer(nil) // used for its certificate
		defer web.Close()
		server.TLSConfig = &tls.Config{Certificates: web.TLS.Certificates, MinVersion: tls.VersionTLS12}
	}
	if security == Implicit {
		l = tls.NewListener(l, server.TLSConfig)
	}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return s
}

// Got returns the letters as they arrived. To returns their receivers.
func (s *Mail) Got() []string { s.mu.Lock(); defer s.mu.Unlock(); return slices.Clone(s.got) }

// Secure returns the number of letters that arrived by TLS.
func (s *Mail) Secure() int { s.mu.Lock(); defer s.mu.Unlock(); return s.secure }

// To returns the receivers of the letters.
func (s *Mail) To() []string { s.mu.Lock(); defer s.mu.Unlock(); return slices.Clone(s.to) }

type session struct {
	server *Mail
	conn   *smtp.Conn
	in     bool
}

func (s *session) AuthMechanisms() []string { return []string{s.server.mechanism} }

func (s *session) Auth(mechanism string) (sasl.Server, error) {
	enter := func(user, password string) error {
		if user != "ada" || password != "Zx9/Canary" {
			return errors.New("no such account")
		}
		s.in = true
		return nil
	}
	if mechanism == sasl.Login {
		return &login{enter: enter}, nil
	}
	return sasl.NewPlainServer(func(_, user, password string) error { return enter(user, password) }), nil
}

// login asks for the user, and then for the password.
type login struct {
	enter func(user, password string) error
	said  []string
}

func (l *login) Next(answer []byte) (challenge []byte, done bool, err error) {
	if answer != nil {
		l.said = append(l.said, string(answer))
	}
	switch len(l.said) {
	case 0:
		return []byte("Username:"), false, nil
	case 1:
		return []byte("Password:"), false, nil
	}
	return nil, true, l.enter(l.said[0], l.said[1])
}

func (s *session) Mail(string, *smtp.MailOptions) error {
	if !s.in {
		return smtp.ErrAuthRequired
	}
	return nil
}
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if strings.HasPrefix(to, "nobody@") {
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such mailbox"}
	}
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.server.to = append(s.server.to, to)
	return nil
}
func (s *session) Data(r io.Reader) error {
	b, err := io.ReadAll(r)
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.server.got = append(s.server.got, string(b))
	if _, ok := s.conn.TLSConnectionState(); ok {
		s.server.secure++
	}
	return err
}
func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

// Hook is an HTTP service that keeps the requests and gives prepared answers.
type Hook struct {
	*httptest.Server
	mu      sync.Mutex
	answers []int  // status codes in turn, then 200
	Said    string // body of every answer
	bodies  []string
	headers []http.Header
	paths   []string
}

// NewHook starts a service that gives these answers in turn, then 200.
func NewHook(t *testing.T, answers ...int) *Hook {
	h := &Hook{answers: answers}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.bodies, h.headers, h.paths = append(h.bodies, string(b)), append(h.headers, r.Header), append(h.paths, r.Method+" "+r.RequestURI)
		status := 200
		if len(h.answers) > 0 {
			status, h.answers = h.answers[0], h.answers[1:]
		}
		if status/100 == 3 {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(status)
		fmt.Fprint(w, h.Said)
	}))
	t.Cleanup(h.Close)
	return h
}

// Bodies returns the bodies of the requests.
func (h *Hook) Bodies() []string { h.mu.Lock(); defer h.mu.Unlock(); return slices.Clone(h.bodies) }

// Paths returns the methods and paths of the requests.
func (h *Hook) Paths() []string { h.mu.Lock(); defer h.mu.Unlock(); return slices.Clone(h.paths) }

// Headers returns the headers of the requests.
func (h *Hook) Headers() []http.Header {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.headers)
}

// Parts returns the decoded parts of a letter, by file name.
func Parts(t *testing.T, letter *mail.Message) map[string]string {
	t.Helper()
	_, params, err := mime.ParseMediaType(letter.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for r := multipart.NewReader(letter.Body, params["boundary"]); ; {
		p, err := r.NextPart() // decodes quoted-printable
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		body := io.Reader(p)
		if p.Header.Get("Content-Transfer-Encoding") == "base64" {
			body = base64.NewDecoder(base64.StdEncoding, p)
		}
		b, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		out[p.FileName()] = string(b)
	}
}
