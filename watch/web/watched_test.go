package web

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestPageIsWatched as long as a browser has it open.
func TestPageIsWatched(t *testing.T) {
	s := opened(t, shelf{}, nil)
	if s.Watched() {
		t.Error("a page that nobody has open is watched")
	}
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL()+"api/events", nil)
	must(t, err)
	answer, err := http.DefaultClient.Do(r)
	must(t, err)
	defer answer.Body.Close()
	until(t, "the page is watched", s.Watched)
	left := make(chan struct{})
	go func() { s.Unwatched(t.Context()); close(left) }()
	leave()
	select {
	case <-left:
	case <-time.After(time.Minute):
		t.Error("the page is waited for although nobody has it open")
	}
}

// The browser's command line, which all users see, names a file of this user's alone, and the file goes.
func TestOpenByAFile(t *testing.T) {
	bin, private := t.TempDir(), filepath.Join(t.TempDir(), "state")
	told := filepath.Join(bin, "told")
	must(t, os.WriteFile(filepath.Join(bin, "xdg-open"), []byte("#!/bin/sh\necho \"$*\" >"+told+".new && mv "+told+".new "+told+"\n"), 0o700))
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		t.Skip("SKIPPED: a browser opened by xdg-open: this system has its own")
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	s, err := Listen(Config{Address: "127.0.0.1:0", Token: testToken, Archive: shelf{}, Private: private})
	must(t, err)
	t.Cleanup(s.Close)
	must(t, s.Open(t.Context()))
	until(t, "the browser is there", func() bool { _, err := os.Stat(told); return err == nil })
	line, err := os.ReadFile(told)
	must(t, err)
	path := strings.TrimSpace(string(line))
	info, err := os.Stat(path)
	must(t, err)
	text, err := os.ReadFile(path)
	must(t, err)
	if strings.Contains(path, "once") || info.Mode().Perm() != 0o600 || !strings.Contains(string(text), "#once=") {
		t.Errorf("%s, %v:\n%s", path, info.Mode(), text)
	}
	s.Close()
	until(t, "the file is gone", func() bool { _, err := os.Stat(path); return err != nil })
}

// TestTicketLetsInOnce: what stands in an address is worth nothing afterwards.
func TestTicketLetsInOnce(t *testing.T) {
	s := opened(t, shelf{}, nil)
	enter := func(ticket string) int {
		r, err := http.PostForm(s.URL()+"login", url.Values{"once": {ticket}})
		must(t, err)
		must(t, r.Body.Close())
		return r.StatusCode
	}
	if got := enter(""); got != http.StatusUnauthorized {
		t.Errorf("without a ticket: %d", got)
	}
	ticket := s.guard.tickets.make(toLogIn)
	for _, want := range []int{http.StatusOK, http.StatusUnauthorized} {
		if got := enter(ticket); got != want {
			t.Errorf("the ticket is answered with %d, want %d", got, want)
		}
	}
}
