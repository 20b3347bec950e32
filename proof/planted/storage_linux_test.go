package planted

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"
)

// Tests in two processes at once need two storages.
func init() { Name = cmp.Or(os.Getenv("TEST_FILEWISE_PLANTED"), Name) }

// storage is a test's storage.
type storage struct{ *Storage }

// newStorage makes the storage, with a throttled volume for each speed, and removes it when the test ends.
func newStorage(t testing.TB, speeds ...Speed) *storage {
	t.Helper()
	s, err := New(speeds...)
	check(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &storage{s}
}

func (s *storage) limit(t testing.TB) { t.Helper(); check(t, s.Limit()) }
func (s *storage) lift(t testing.TB)  { t.Helper(); check(t, s.Lift()) }

// prove has the test not believe in a throttle that does not hold.
func (s *storage) prove(t testing.TB) {
	t.Helper()
	check(t, s.Prove(t.Context(), func(line string) { t.Log(line) }))
}

func (s *storage) fio(t testing.TB, how Way, bytes map[string]int64) map[string]time.Duration {
	t.Helper()
	took, err := s.Fio(t.Context(), how, bytes)
	check(t, err)
	return took
}

// check ends a test that has an error: one whose truth cannot be planted here is skipped, or fails in CI.
func check(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case errors.Is(err, ErrUnable) && os.Getenv("CI") == "":
		fmt.Fprintf(os.Stderr, "\n!!! %s is SKIPPED: %v\n\n", t.Name(), err)
		t.Skip(err)
	default:
		t.Fatal(err)
	}
}
