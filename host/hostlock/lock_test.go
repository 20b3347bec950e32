package hostlock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"filewise"
)

func TestSecondHolderIsRefused(t *testing.T) {
	setup(t)
	since := time.Date(2026, 3, 1, 14, 5, 9, 0, time.Local)
	l := acquire(t, Holder{What: "inserts on sqlite", Since: since})
	l.SetRun("12")
	_, err := Acquire(t.Context(), Holder{})
	if filewise.CodeOf(err) != filewise.CodeBusy ||
		!strings.Contains(filewise.RemedyOf(err), fmt.Sprint("filewise stop --pid ", os.Getpid())) {
		t.Fatalf("%v (%s)", err, filewise.RemedyOf(err))
	}
	for _, want := range []string{fmt.Sprint("process ", os.Getpid()), "run 12", "inserts on sqlite", "since 2026-03-01 14:05:09"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	for range 2 {
		must(t, l.Release())
	}
	acquire(t, Holder{})
}

func TestLocksOfOtherNames(t *testing.T) {
	setup(t)
	acquire(t, Holder{})
	t.Setenv("FILEWISE_LOCK", os.Getenv("FILEWISE_LOCK")+"-2")
	acquire(t, Holder{})
}

func TestLongName(t *testing.T) {
	t.Setenv("FILEWISE_LOCK", strings.Repeat("x", 107))
	acquire(t, Holder{})
	t.Setenv("FILEWISE_LOCK", strings.Repeat("x", 108))
	if _, err := Acquire(t.Context(), Holder{}); filewise.CodeOf(err) != filewise.CodeUsage {
		t.Error(err)
	}
}

func TestContext(t *testing.T) {
	setup(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Acquire(ctx, Holder{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Of processes that try at the same moment exactly one wins.
func TestRace(t *testing.T) {
	setup(t)
	for round := range 15 {
		children := make([]*contender, 4)
		for i := range children {
			children[i] = contend(t, os.Args[0], nil)
		}
		for _, c := range children {
			fmt.Fprintln(c.in, "go")
		}
		won := 0
		for _, c := range children {
			if line := c.line(t); line == "won" {
				won++
			} else if !strings.HasPrefix(line, "busy another run is measuring on this host: process ") {
				t.Errorf("round %d: %q", round, line)
			}
		}
		if won != 1 {
			t.Fatalf("round %d: %d processes hold the lock", round, won)
		}
		for _, c := range children {
			c.kill()
		}
	}
}

func TestKilledHolderFreesTheLock(t *testing.T) {
	setup(t)
	for range 5 {
		c := contend(t, os.Args[0], nil)
		if got := c.try(t); got != "won" {
			t.Fatalf("child: %s", got)
		}
		if _, err := Acquire(t.Context(), Holder{}); filewise.CodeOf(err) != filewise.CodeBusy {
			t.Fatalf("while it lives: %v", err)
		}
		c.kill()
		must(t, acquire(t, Holder{}).Release())
	}
}
