package filesystem

import (
	"testing"
	"time"
)

// A silent volume is left behind; what is not there has answered.
func TestAnswers(t *testing.T) {
	if !Answers(t.TempDir()) || !Answers("/nowhere") {
		t.Error("a directory does not answer")
	}
	end := make(chan int)
	defer close(end)
	if answers("", time.Millisecond, func(string) (int, error) { return <-end, nil }) {
		t.Error("silence is an answer")
	}
}
