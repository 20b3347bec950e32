package web

import (
	"context"
	"net/http"
	"net/url"
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

// TestTicketLetsInOnce: what stands in a list of processes is worth nothing afterwards.
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
	ticket := s.guard.ticket()
	for _, want := range []int{http.StatusNoContent, http.StatusUnauthorized} {
		if got := enter(ticket); got != want {
			t.Errorf("the ticket is answered with %d, want %d", got, want)
		}
	}
}
