package private

import (
	"fmt"
	"sync"

	"filewise"
)

// tried are the facts of servers that were tried, by what decides them, and the
// templates that all targets share.
type tried struct {
	mu        sync.Mutex
	by        map[string][]filewise.Fact
	templates *templates
}

// TryOnce has Open try a binary with the same settings once in this process, on
// whatever volumes, and create a layout once: for tests, which open hundreds of
// targets.
func (p *Product) TryOnce() {
	p.tried = &tried{by: map[string][]filewise.Fact{}, templates: &templates{by: map[string]template{}, relocate: true}}
}

// newTemplates are those of an opened target; nil: the product has none.
func (p *Product) newTemplates() *templates {
	switch {
	case !p.Templates:
		return nil
	case p.tried != nil:
		return p.tried.templates
	}
	return &templates{by: map[string]template{}}
}

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
