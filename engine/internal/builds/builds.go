// Package builds keeps account of what an opened target has built and not dropped.
package builds

import (
	"errors"
	"maps"
	"slices"
	"sync"
)

// First is the number of a build when no other is there.
const First = 1

// Open are the builds of an opened target that are not dropped, with their
// numbers, by which the directories of managed servers are distinguished. The zero value
// is ready.
type Open[B comparable] struct {
	mu      sync.Mutex
	numbers map[B]int
}

// Register makes a build under the first number that is free. If making it
// fails, the number stays free.
func (s *Open[B]) Register(make func(number int) (B, error)) (B, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := slices.Collect(maps.Values(s.numbers))
	n := First
	for slices.Contains(taken, n) {
		n++
	}
	b, err := make(n)
	if err == nil {
		if s.numbers == nil {
			s.numbers = map[B]int{}
		}
		s.numbers[b] = n
	}
	return b, err
}

// Add notes a build that has no need of its number.
func (s *Open[B]) Add(b B) { _, _ = s.Register(func(int) (B, error) { return b, nil }) }

// Remove frees the number of a build that is dropped. Twice is harmless.
func (s *Open[B]) Remove(b B) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.numbers, b)
}

// All returns the builds that are not dropped.
func (s *Open[B]) All() []B {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.numbers))
}

// Close drops what was built and not dropped.
func (s *Open[B]) Close(drop func(B) error) error {
	var errs []error
	for _, b := range s.All() {
		errs = append(errs, drop(b))
	}
	return errors.Join(errs...)
}
