// Package builds tracks which builds an opened target has made and not yet dropped.
package builds

import (
	"errors"
	"maps"
	"slices"
	"sync"
)

// First is the number that a build gets if no other build exists.
const First = 1

// Open holds the builds of an opened target that are not dropped, each under a number. The numbers keep the directories
// of managed servers apart. The zero value is ready for use.
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

// Add registers a build that does not use its number.
func (s *Open[B]) Add(b B) { _, _ = s.Register(func(int) (B, error) { return b, nil }) }

// Remove frees the number of a dropped build. Calling Remove twice is harmless.
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

// Close calls drop for every build that is not yet dropped.
func (s *Open[B]) Close(drop func(B) error) error {
	var errs []error
	for _, b := range s.All() {
		errs = append(errs, drop(b))
	}
	return errors.Join(errs...)
}
