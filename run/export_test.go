package run

import (
	"testing"
	"time"
)

// Opened lets tests outside the package open a server as a run does.
var Opened = opened

// Impatient shortens the limits of questions to servers during a test.
func Impatient(t *testing.T) {
	before, given := askPatience, lateness
	askPatience, lateness = 100*time.Millisecond, 100*time.Millisecond
	t.Cleanup(func() { askPatience, lateness = before, given })
}
