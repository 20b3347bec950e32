package web

import (
	"crypto/rand"
	"sync"
	"time"
)

// purpose is the action that a ticket allows.
type purpose int

const (
	toRead  purpose = iota // one page
	toLogIn                // as the token does
)

const (
	ticketFor   = time.Minute // starting a browser takes time
	mostTickets = 64
)

// tickets holds tickets that can be used once, within a short time, since they appear in URLs.
type tickets struct {
	mu  sync.Mutex
	all map[string]ticket
}

type ticket struct {
	to   purpose
	ends time.Time
}

func (t *tickets) make(to purpose) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	for name, is := range t.all {
		if now.After(is.ends) || len(t.all) >= mostTickets {
			delete(t.all, name)
		}
	}
	name := rand.Text()
	t.all[name] = ticket{to, now.Add(ticketFor)}
	return name
}

func (t *tickets) takes(name string, to purpose) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	is, there := t.all[name]
	if !there || is.to != to {
		return false
	}
	delete(t.all, name)
	return time.Now().Before(is.ends)
}
