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
	if len(silent(time.Millisecond, map[string]func(){"": func() { <-end }})) == 0 {
		t.Error("silence is an answer")
	}
}
