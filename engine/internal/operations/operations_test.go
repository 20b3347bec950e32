package operations

import (
	"context"
	"errors"
	"slices"
	"testing"
)

var errBroken = errors.New("broken")

func TestEach(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	var seen []int64
	brokenAt := int64(-1)
	each := func(do func(i int64) error) (int64, error) {
		seen, brokenAt = nil, -1
		return Each(ctx, 10, 5, func(_ context.Context, i int64) error { seen = append(seen, i); return do(i) },
			func(_ context.Context, first, done int64, err error) (int64, error) {
				brokenAt = first + done
				return done + 1, err
			})
	}
	if done, err := each(func(int64) error { return nil }); done != 5 || err != nil || !slices.Equal(seen, []int64{10, 11, 12, 13, 14}) || brokenAt != -1 {
		t.Errorf("done %d (%v): %v", done, seen, err)
	}
	fails := func(i int64) error {
		if i == 12 {
			return errBroken
		}
		return nil
	}
	if done, err := each(fails); done != 3 || !errors.Is(err, errBroken) || brokenAt != 12 {
		t.Errorf("broken at %d, done %d: %v", brokenAt, done, err)
	}
	ends := func(i int64) error {
		if i == 13 {
			cancel(errBroken)
		}
		return nil
	}
	if done, err := each(ends); done != 4 || !errors.Is(err, errBroken) || brokenAt != -1 {
		t.Errorf("after the context's end: broken at %d, done %d: %v", brokenAt, done, err)
	}
}

func TestCommitted(t *testing.T) {
	for n := range int64(40) {
		for committed := range n + 1 {
			looks := 0
			got, err := Committed(n, func(i int64) (bool, error) {
				if looks++; i < 0 || i >= n {
					t.Fatalf("asked for %d of %d", i, n)
				}
				return i < committed, nil
			})
			if got != committed || err != nil || looks > 6 {
				t.Errorf("%d of %d: %d after %d looks, %v", committed, n, got, looks, err)
			}
		}
	}
	got, err := Committed(8, func(i int64) (bool, error) {
		if i > 4 {
			return false, errBroken
		}
		return true, nil
	})
	if got != 4 || !errors.Is(err, errBroken) {
		t.Errorf("a look that failed: %d, %v", got, err)
	}
}

func TestParameters(t *testing.T) {
	for _, x := range []struct {
		statement, sign string
		most, want      int
	}{{"SELECT :1, :2", ":", 5, 2}, {"EXEC p @p1, @p12", "@p", 12, 12}, {"SELECT 1", "$", 5, 0}, {"SELECT $3", "$", 2, 0}} {
		if got := Parameters(x.statement, x.sign, x.most); got != x.want {
			t.Errorf("%q: %d, want %d", x.statement, got, x.want)
		}
	}
}
