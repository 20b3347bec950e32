// Package notifytest has real servers on the loopback interface that keep what they
// are told, for tests.
package notifytest

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
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

// Account and its password are what the mail server knows, in the form of a URL.
const Account = "ada:Zx9%2FCanary"

// Mail is a mail server. It takes no mail for nobody@ any domain.
type Mail struct {
	Addr string

	mu  sync.Mutex
	got []string // letters as they came
	to  []string
}

// NewMail starts one that ends with the test.
func NewMail(t *testing.T) *Mail {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Mail{Addr: l.Addr().String()}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &session{server: s}, nil }))
	server.Domain, server.AllowInsecureAuth = "localhost", true
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return s
}

// Got are the letters as they came, and To who they are for.
func (s *Mail) Got() []string { s.mu.Lock(); defer s.mu.Unlock(); return slices.Clone(s.got) }

// To is for whom the letters are.
func (s *Mail) To() []string { s.mu.Lock(); defer s.mu.Unlock(); return slices.Clone(s.to) }

type session struct {
	server *Mail
	in     bool
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "ada" || password != "Zx9/Canary" {
			return errors.New("no such account")
		}
		s.in = true
		return nil
	}), nil
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
	return err
}
func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

// Hook is an HTTP service that keeps what it gets and answers as told.
type Hook struct {
	*httptest.Server
	mu      sync.Mutex
	answers []int  // in turn, then 200
	Said    string // in every answer
	bodies  []string
	headers []http.Header
	paths   []string
}

// NewHook starts one that gives these answers in turn, then 200.
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

// Bodies are those of the requests.
func (h *Hook) Bodies() []string { h.mu.Lock(); defer h.mu.Unlock(); return slices.Clone(h.bodies) }

// Paths are the methods and paths of the requests.
func (h *Hook) Paths() []string { h.mu.Lock(); defer h.mu.Unlock(); return slices.Clone(h.paths) }

// Headers are those of the requests.
func (h *Hook) Headers() []http.Header {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.headers)
}

// Parts are the decoded parts of a letter by the name of their file.
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
