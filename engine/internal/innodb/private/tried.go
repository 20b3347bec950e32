package private

import (
	"fmt"
	"sync"

	"filewise"
)

// tried are the facts of servers that were tried, by what decides them.
type tried struct {
	mu sync.Mutex
	by map[string][]filewise.Fact
}

// TryOnce has Open try a binary with the same settings once in this process, on
// whatever volumes: for tests, which open hundreds of targets.
func (p *Product) TryOnce() { p.tried = &tried{by: map[string][]filewise.Fact{}} }

func (t *tried) facts(s *privateServer) ([]filewise.Fact, bool) {
	if t == nil {
		return nil, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	facts, ok := t.by[key(s)]
	return facts, ok
}

func (t *tried) note(s *privateServer) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.by[key(s)] = s.facts
}

func key(s *privateServer) string {
	return fmt.Sprintf("%q %q %q", s.install.Binary, s.target.Durability, s.target.Settings)
}
