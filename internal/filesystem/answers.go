package filesystem

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// answerWithin is the time for all volumes together to answer. A volume of the network, or of a daemon, may never
// answer.
const answerWithin = 2 * time.Second

// Answers reports whether a path's file system answers, if only with an error.
func Answers(path string) bool {
	return len(Silent(map[string]func(){path: func() { _, _ = os.Stat(path) }})) == 0
}

// ErrHangs reports a volume that has not answered for long, as of an NFS server that is gone.
var ErrHangs = fmt.Errorf("its volume has not answered for %v", hangsFor)

// hangsFor is the time after which a command that needs a file gives it up.
const hangsFor = 20 * time.Second

// Hangs returns ErrHangs if the volume of a path does not answer, and no other error.
func Hangs(path string) error {
	if len(silent(hangsFor, map[string]func(){path: func() { _, _ = PlaceOf(filepath.Dir(path)) }})) > 0 {
		return ErrHangs
	}
	return nil
}

// Silent calls the functions of all volumes at the same time. It returns the volumes whose function has not returned in
// time. Such a function goes on.
func Silent(ask map[string]func()) map[string]bool { return silent(answerWithin, ask) }

func silent(within time.Duration, ask map[string]func()) map[string]bool {
	answered := make(chan string, len(ask))
	left := make(map[string]bool, len(ask))
	for volume, do := range ask {
		left[volume] = true
		go func() {
			do()
			answered <- volume
		}()
	}
	limit := time.NewTimer(within)
	defer limit.Stop()
	for range ask {
		select {
		case volume := <-answered:
			delete(left, volume)
		case <-limit.C:
			limit.Reset(0) // now the others have no time left: only what has answered counts
		}
	}
	return left
}
