package builds

import (
	"errors"
	"fmt"
	"os"
	"testing"
)

func TestNumbers(t *testing.T) {
	var s Open[*int]
	number := func(n int) (*int, error) { return &n, nil }
	first, _ := s.Register(number)
	second, _ := s.Register(number)
	if *first != First || *second != First+1 {
		t.Error(*first, *second)
	}
	if _, err := s.Register(func(int) (*int, error) { return nil, os.ErrInvalid }); err == nil {
		t.Error("no error")
	}
	s.Remove(first)
	s.Remove(first)
	if again, _ := s.Register(number); *again != First {
		t.Error(*again)
	}
	dropped := 0
	if err := s.Close(func(b *int) error { dropped++; s.Remove(b); return nil }); err != nil || dropped != 2 {
		t.Error(dropped, err)
	}
}

func TestClose(t *testing.T) {
	var b Open[int]
	b.Add(1)
	b.Add(2)
	b.Remove(1)
	failure := errors.New("no")
	if err := b.Close(func(n int) error { return fmt.Errorf("%d: %w", n, failure) }); !errors.Is(err, failure) || err.Error() != "2: no" {
		t.Error(err)
	}
	if err := b.Close(func(n int) error { b.Remove(n); return nil }); err != nil || len(b.numbers) > 0 {
		t.Error(err, b.numbers)
	}
}
