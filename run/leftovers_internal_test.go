package run

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"filewise"
	"filewise/internal/progress"
)

// slowServer drops nothing until it may.
type slowServer struct {
	filewise.ExternalServer
	may chan struct{}
}

func (s slowServer) Remove(context.Context, filewise.Leftover) error { <-s.may; return nil }

// A drop that lasts is named meanwhile.
func TestRemovalIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		board, server := new(progress.Board), slowServer{may: make(chan struct{})}
		l, removed := Leftover{Leftover: filewise.Leftover{Kind: "database", Name: "x"}}, make(chan error)
		go func() { removed <- l.remove(progress.With(t.Context(), board), server) }()
		synctest.Wait()
		if got := board.Text(time.Now()); !strings.HasPrefix(got, "removing database x: ") {
			t.Errorf("meanwhile: %q", got)
		}
		close(server.may)
		if err := <-removed; err != nil || !l.Removed || board.Text(time.Now()) != "" {
			t.Errorf("removed %v, %v; then %q", l.Removed, err, board.Text(time.Now()))
		}
	})
}
