package experiment

import (
	"testing"

	"filewise"
)

// Climb returns the design that follows these trials.
func (p Plan) Climb(done []filewise.Trial) (Plan, bool) { return p.standing(done).climb() }

// A run of 5,000 trials is judged some hundred times while it is watched, and what is shown is never far behind.
func TestLongRunsAreJudgedNowAndThen(t *testing.T) {
	judged, before := 0, 0
	for n := 1; n <= 5000; n++ {
		if judgesAgain(n, before) {
			judged, before = judged+1, n
		}
		if n <= 200 && before != n || 40*(n-before) > n {
			t.Errorf("after %d trials, %d are judged", n, before)
		}
	}
	if judged > 400 || !judgesAgain(250, 4000) { // the latter is another design
		t.Errorf("judged %d times", judged)
	}
}
