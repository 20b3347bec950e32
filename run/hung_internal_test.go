package run

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"filewise"
)

// A volume that is silent is named within 30 s, and again when it is back. After an interrupt the run is abandoned only if
// it is still silent.
func TestWatchVolume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		left := make(chan string, 1)
		o := Options{Warn: func(text string) { said = append(said, text) }, Abandon: func(_, remedy string) { left <- remedy }}
		ctx, interrupt := context.WithCancel(t.Context())
		ended, hold := make(chan struct{}), make(chan struct{})
		go o.watchVolume(ctx, ended, filewise.Volume{Name: "here", Dir: "/x"}, func() { <-hold })
		is := func(n int, text string) {
			t.Helper()
			synctest.Wait()
			if len(said) != n || !strings.Contains(said[n-1], text) {
				t.Fatalf("said: %q, not %d with %q", said, n, text)
			}
		}
		time.Sleep(30 * time.Second)
		is(1, "volume here (/x) has not answered for 10 s")
		hold <- struct{}{}
		is(2, "answers again, after 30 s")
		for range 3 {
			time.Sleep(4 * time.Second)
			hold <- struct{}{}
		}
		is(2, "again")
		interrupt()
		time.Sleep(leaveVolume - time.Second)
		if synctest.Wait(); len(left) > 0 {
			t.Fatalf("abandoned too early: %s", <-left)
		}
		time.Sleep(3 * time.Second)
		if synctest.Wait(); len(left) == 0 || !strings.Contains(<-left, "filewise clean") {
			t.Fatal("not abandoned, or without a remedy")
		}
		close(hold)
	})
}
