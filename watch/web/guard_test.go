package web

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"filewise"
)

// asked is the status of a request to a server at an address.
func asked(t *testing.T, at net.IP, method, path string, change func(*http.Request)) int {
	t.Helper()
	s := &Server{config: Config{Archive: shelf{}, Version: "test"}, leaving: make(chan struct{})}
	s.guard = newGuard(testToken, &net.TCPAddr{IP: at, Port: 8421})
	r := httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:8421"+path, nil)
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	s.handler().ServeHTTP(w, r)
	if h := w.Header(); h.Get("X-Content-Type-Options") != "nosniff" ||
		!strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
		t.Errorf("%s %s: headers %v", method, path, h)
	}
	return w.Code
}

func TestWhoMayDoWhat(t *testing.T) {
	here, there := net.IPv4(127, 0, 0, 1), net.IPv4(192, 0, 2, 7)
	bearer := func(token string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	}
	named := func(host string) func(*http.Request) { return func(r *http.Request) { r.Host = host } }
	cookie := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.AddCookie(&http.Cookie{Name: name, Value: value}) }
	}
	for _, c := range []struct {
		name, method, path string
		at                 net.IP
		change             func(*http.Request)
		want               int
	}{
		{"everybody here reads", "GET", "/api/runs", here, nil, 200},
		{"and scrapes", "GET", "/metrics", here, nil, 200},
		{"the buttons want the token", "POST", "/api/do/pause", here, nil, 401},
		{"with it they find no run", "POST", "/api/do/pause", here, bearer(testToken), 409},
		{"a wrong one", "POST", "/api/do/stop", here, bearer(testToken + "x"), 401},
		{"an empty one", "POST", "/api/do/stop", here, bearer(""), 401},
		{"the token as a cookie", "POST", "/api/do/stop", here, cookie("filewise-8421", testToken), 401},
		{"another server's session", "POST", "/api/do/stop", here, bearer(newGuard(testToken, &net.TCPAddr{IP: here, Port: 8421}).session), 401},
		{"a link wants the token", "POST", "/api/link", here, nil, 401},
		{"and is given with it", "POST", "/api/link", here, bearer(testToken), 200},
		{"no ticket", "GET", "/runs/1?once=", there, nil, 401},
		{"a button is no link", "GET", "/api/do/stop", here, bearer(testToken), 405},
		{"another site's form", "POST", "/api/do/stop", here, func(r *http.Request) {
			bearer(testToken)(r)
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		}, 403},
		{"another site, by its origin", "POST", "/api/do/stop", here, func(r *http.Request) {
			bearer(testToken)(r)
			r.Header.Set("Origin", "http://evil.example")
		}, 403},
		{"another port of this host", "POST", "/login", here, func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:9") }, 403},
		{"a name that was made to point here", "GET", "/api/runs", here, named("evil.example:8421"), 421},
		{"the page under that name", "GET", "/", here, named("evil.example"), 421},
		{"a tunnel's port", "GET", "/api/runs", here, named("localhost:9999"), 200},
		{"IPv6", "GET", "/api/runs", here, named("[::1]:8421"), 200},
		{"elsewhere the page is empty", "GET", "/", there, named("192.0.2.7:8421"), 200},
		{"and shows nothing", "GET", "/api/runs", there, nil, 401},
		{"no events", "GET", "/api/events", there, nil, 401},
		{"no report", "GET", "/runs/1", there, nil, 401},
		{"no metrics", "GET", "/metrics", there, nil, 401},
		{"without the token", "GET", "/metrics", there, bearer(testToken), 200},
		{"no such run", "GET", "/runs/1", here, nil, 404},
		{"no number", "GET", "/runs/x%2f..", here, nil, 404},
		{"no such action", "POST", "/api/do/drop", here, bearer(testToken), 409},
		{"nothing beside the page's files", "GET", "/assets/../server.go", here, nil, 307},
		{"no list of them", "GET", "/assets/nothing.js", here, nil, 404},
		{"a comparison with itself", "GET", "/api/compare?before=1&after=1", here, nil, 400},
	} {
		if got := asked(t, c.at, c.method, c.path, c.change); got != c.want {
			t.Errorf("%s: %s %s: %d, want %d", c.name, c.method, c.path, got, c.want)
		}
	}
}

// Nothing except the three words does anything, and they do nothing without the token or from another site's page.
func TestOnlyTheOwnerPushesButtons(t *testing.T) {
	var stopped atomic.Bool
	m := NewMonitor(first(t, finished(t), 0), "", func() { stopped.Store(true) })
	s := opened(t, shelf{}, m)
	push := func(method, path, body string, header ...string) int {
		r, err := http.NewRequestWithContext(t.Context(), method, strings.TrimSuffix(s.URL(), "/")+path, strings.NewReader(body))
		must(t, err)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		answer, err := http.DefaultTransport.RoundTrip(r) // which follows nothing
		must(t, err)
		must(t, answer.Body.Close())
		return answer.StatusCode
	}
	const auth, owned, form = "Authorization", "Bearer " + testToken, "application/x-www-form-urlencoded"
	for _, action := range []string{"pause", "stop", "%70ause", "stop?token=" + url.QueryEscape(testToken)} {
		for _, header := range [][]string{nil, {auth, "Basic " + testToken}, {auth, strings.ToLower(owned)},
			{"Cookie", "token=" + testToken}, {"X-HTTP-Method-Override", "POST"}, {auth, owned, "Origin", "null"},
			{auth, owned, "Sec-Fetch-Site", "same-site"}, {auth, owned, "Origin", strings.TrimSuffix(s.URL(), "/") + "0"}} {
			for _, body := range []string{"", url.Values{"token": {testToken}}.Encode(), strings.Repeat("a", 200<<10)} {
				header := append([]string{"Content-Type", form}, header...)
				if got := push("POST", "/api/do/"+action, body, header...); got != http.StatusUnauthorized && got != http.StatusForbidden {
					t.Errorf("%s, %q, %d bytes: %d", action, header, len(body), got)
				}
			}
		}
	}
	for _, action := range []string{"", "PAUSE", "pause%00", "pause;stop", "stop%20--force", "stop%0d%0aX:%20y",
		"..%2fdo%2fstop", "%2e%2e/do/stop"} {
		if got := push("POST", "/api/do/"+action, "", auth, owned); got < 300 || got == 500 {
			t.Errorf("%q: %d", action, got)
		}
	}
	for _, method := range []string{"GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"} {
		if got := push(method, "/api/do/stop", "", auth, owned); got != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, got)
		}
	}
	paused := func() bool { return m.Status(t.Context(), 0).Now.Pausing }
	if paused() || stopped.Load() {
		t.Errorf("paused %v, stopped %v", paused(), stopped.Load())
	}
	if got := push("POST", "/api/do/pause", strings.Repeat("a", 200<<10), auth, owned); got != http.StatusNoContent || !paused() {
		t.Errorf("the owner: %d, paused %v", got, paused())
	}
}

func TestLogin(t *testing.T) {
	g := newGuard(testToken, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8421})
	for token, want := range map[string]int{testToken: http.StatusOK, "wrong": http.StatusUnauthorized, "": http.StatusUnauthorized} {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/login", strings.NewReader(url.Values{"token": {token}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		g.login(w, r)
		if cookies := w.Result().Cookies(); w.Code != want || len(cookies) > 0 || strings.Contains(w.Body.String(), testToken) {
			t.Fatalf("%q: %d, cookies %v, %s", token, w.Code, cookies, w.Body)
		}
		if want != http.StatusOK {
			continue
		}
		var given struct{ Session string }
		must(t, json.Unmarshal(w.Body.Bytes(), &given))
		r = httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
		r.Header.Set("Authorization", "Bearer "+given.Session)
		if !g.known(r) {
			t.Error("the session does not open")
		}
		if newGuard(testToken, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8421}).known(r) {
			t.Error("the session opens the next server at the port")
		}
	}
}

// A ticket is for one purpose, once, and not for long.
func TestTickets(t *testing.T) {
	all := &tickets{all: map[string]ticket{}}
	read, in := all.make(toRead), all.make(toLogIn)
	if all.takes(read, toLogIn) || all.takes("", toRead) || !all.takes(read, toRead) || all.takes(read, toRead) || !all.takes(in, toLogIn) {
		t.Error("a ticket is taken for another one")
	}
	late := all.make(toLogIn)
	all.all[late] = ticket{toLogIn, time.Now().Add(-time.Second)}
	if all.takes(late, toLogIn) {
		t.Error("a late ticket is taken")
	}
	for range 10 * mostTickets {
		all.make(toRead)
	}
	if len(all.all) > mostTickets {
		t.Errorf("%d tickets are kept", len(all.all))
	}
}

func TestToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "token")
	made, err := Token(path)
	must(t, err)
	if len(made) < 26 {
		t.Errorf("a token of %d characters", len(made))
	}
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if again, err := Token(path); err != nil || again != made {
		t.Errorf("read again: %v", err)
	}
	must(t, os.WriteFile(path, []byte("short\n"), 0o600))
	if _, err := Token(path); filewise.CodeOf(err) != filewise.CodeUsage || strings.Contains(err.Error(), "short") {
		t.Errorf("a short token: %v", err)
	}
	must(t, os.WriteFile(path, []byte("aaaaaaaaaaaaaaaaaaaaaaaaaa\n"), 0o600))
	if _, err := Token(path); filewise.CodeOf(err) != filewise.CodeUsage {
		t.Errorf("a token of one letter: %v", err)
	}
	must(t, os.WriteFile(path, []byte(made.Reveal()), 0o600))
	must(t, os.Chmod(path, 0o644))
	if _, err := Token(path); filewise.CodeOf(err) != filewise.CodeUsage || !strings.Contains(filewise.RemedyOf(err), "delete") {
		t.Errorf("a token that all can read: %v", err)
	}
	if _, err := Token(filepath.Join(path, "below a file")); filewise.CodeOf(err) != filewise.CodePreflight {
		t.Errorf("a place that cannot be: %v", err)
	}
}
