package web

import (
	"context"
	"os/exec"
	"runtime"
	"time"
)

// goneFor is how long nobody looks before a page counts as left: one that is loaded anew is
// away for a moment.
const goneFor = 3 * time.Second

// Watched tells whether a page is open in a browser.
func (s *Server) Watched() bool { return s.pages.Load()+s.owned.Load() > 0 }

// Unwatched returns when no page is open any more, or the context ends.
func (s *Server) Unwatched(ctx context.Context) {
	tick := time.NewTicker(goneFor / 10)
	defer tick.Stop()
	for seen := time.Now(); time.Since(seen) < goneFor; {
		if s.Watched() {
			seen = time.Now()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// Open shows the page in this user's browser. What other users see in the list of processes
// lets in once, and the browser is there first.
func (s *Server) Open(ctx context.Context) error {
	program := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if program == nil {
		program = []string{"xdg-open"}
	}
	cmd := exec.CommandContext(ctx, program[0], append(program[1:], s.URL()+"#once="+s.guard.ticket())...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // it may be the browser itself
	return nil
}
