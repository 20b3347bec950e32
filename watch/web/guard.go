package web

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filewise"
	"filewise/internal/filesystem"
)

// The requirements on a token that the user has chosen: its length, and the number of different letters.
const (
	shortestToken = 16
	leastLetters  = 8
	longestToken  = 4 << 10
)

// Token reads the token from a file. If the file does not exist, it creates one with a new token that only this user
// can read. So an open page survives a restart.
func Token(path string) (filewise.Secret, error) {
	f, err := filesystem.OpenSecret(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return newToken(path)
	case errors.Is(err, filesystem.ErrShared):
		return "", filewise.Errorf(filewise.CodeUsage, "delete the file, which others may have read: a good one is made then",
			"the token of the live page: %w", err)
	case err != nil:
		return "", unreadable(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, longestToken))
	if err != nil {
		return "", unreadable(err)
	}
	token := strings.TrimSpace(string(text))
	different := map[rune]bool{}
	for _, r := range token {
		different[r] = true
	}
	if len(token) < shortestToken || len(different) < leastLetters || len(text) == longestToken {
		return "", filewise.Errorf(filewise.CodeUsage, "delete the file: a good one is made then",
			"the token in %s has %d characters, %d different ones; at least %d and %d are needed", path, len(token), len(different),
			shortestToken, leastLetters)
	}
	return filewise.Secret(token), nil
}

func unreadable(err error) error {
	return filewise.Errorf(filewise.CodePreflight, "make it readable, or name another file with --token-file",
		"the token of the live page: %w", err)
}

func newToken(path string) (filewise.Secret, error) {
	token := rand.Text()
	err := filesystem.MkdirPrivate(filepath.Dir(path))
	if err == nil {
		err = writeNew(path, token+"\n")
	}
	if errors.Is(err, fs.ErrExist) { // another process has just created it
		return Token(path)
	}
	if err != nil {
		return "", filewise.Errorf(filewise.CodePreflight, "name a file elsewhere with --token-file",
			"the token of the live page cannot be kept: %w", err)
	}
	return filewise.Secret(token), nil
}

// writeNew creates a file completely or not at all.
func writeNew(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".token-") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err = filesystem.MakePrivate(f.Name()); err == nil {
		_, err = f.WriteString(text)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), path)
}

// guard authorizes requests. Readers need the token only if other hosts can reach the address; the buttons always need
// it. Pages of other sites are refused.
type guard struct {
	token    string
	loopback bool
	session  string // given to clients that have shown the token; it ends with the server, and no other listener of the port can use it
	tickets  *tickets
	cross    *http.CrossOriginProtection
}

func newGuard(token filewise.Secret, addr net.Addr) guard {
	g := guard{token: string(token), cross: http.NewCrossOriginProtection(), session: rand.Text(), tickets: &tickets{all: map[string]ticket{}}}
	if tcp, ok := addr.(*net.TCPAddr); ok {
		g.loopback = tcp.IP.IsLoopback()
	}
	return g
}

// known reports whether a header of the request has the token, or the session that the token opened. There is no
// cookie, since a browser sends cookies to listeners at any port of the host.
func (g guard) known(r *http.Request) bool {
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && (g.isToken(given) || subtle.ConstantTimeCompare([]byte(given), []byte(g.session)) == 1)
}

func (g guard) isToken(given string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(g.token)) // hashes have equal length
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// local reports whether the request names this host. If the server listens on loopback, any other name comes from a
// page elsewhere that has made its name point here (DNS rebinding).
func (g guard) local(r *http.Request) bool {
	if !g.loopback {
		return true // without the token nothing is shown, whatever the name
	}
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}

// shell admits every request that names this host, for pages that show nothing of any run.
func (g guard) shell(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "+
			"base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !g.local(r) {
			http.Error(w, "this address is not asked for by its name: use the one that filewise has printed", http.StatusMisdirectedRequest)
			return
		}
		if err := g.cross.Check(r); err != nil {
			http.Error(w, "another site's page may not do this", http.StatusForbidden)
			return
		}
		if r.ContentLength == 0 { // the request was read: its limit would end a long answer
			_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // fails only if the connection is gone
		}
		if g.known(r) {
			markTrusted(r)
		}
		next.ServeHTTP(w, r)
	})
}

// read admits readers. A link has no header, but may have a ticket.
func (g guard) read(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !g.loopback && !g.known(r) && !(r.Method == http.MethodGet && g.tickets.takes(r.URL.Query().Get("once"), toRead)) {
			unauthorized(w)
			return
		}
		next(w, r)
	}
}

// act admits clients that may pause and stop the run.
func (g guard) act(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !g.known(r) {
			unauthorized(w)
			return
		}
		next(w, r)
	}
}

func unauthorized(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="filewise"`)
	http.Error(w, "this needs the token that filewise has printed", http.StatusUnauthorized)
}

// login accepts the token or a ticket, and returns the session.
func (g guard) login(w http.ResponseWriter, r *http.Request) {
	if !g.isToken(r.PostFormValue("token")) && !g.tickets.takes(r.PostFormValue("once"), toLogIn) {
		unauthorized(w)
		return
	}
	markTrusted(r)
	writeJSON(w, map[string]string{"session": g.session})
}

// link returns a ticket for a link.
func (g guard) link(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, map[string]string{"once": g.tickets.make(toRead)})
}
