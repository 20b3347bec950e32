package filesystem

import (
	"os"
	"time"
)

// answerWithin is the time that a volume may take to answer: one of the network, or of a daemon, may never do so.
const answerWithin = 2 * time.Second

// Answers reports whether the file system of a path answers, be it by an error. The reader of one that never answers is
// left behind.
func Answers(path string) bool { return answers(path, answerWithin, os.Stat) }

func answers[T any](path string, within time.Duration, ask func(string) (T, error)) bool {
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		_, _ = ask(path)
	}()
	select {
	case <-answered:
		return true
	case <-time.After(within):
		return false
	}
}
