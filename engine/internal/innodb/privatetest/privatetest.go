// Package privatetest are the tests that every adapter of a private InnoDB server
// passes besides the conformance suite.
package privatetest

import "testing"

// Run runs the tests.
func Run(t *testing.T, sub Subject) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, Subject)
	}{
		{"Life", testLife},
		{"Observe", testObserve},
		{"Reset", testReset},
		{"Lifecycle", testLifecycle},
		{"FlushByLimit", testFlushByLimit},
		{"CommitsWait", testCommitsWait},
		{"FillWork", testFillWork},
		{"FillWarnings", testFillWarnings},
		{"PlanRefuses", testPlanRefuses},
		{"ScriptFiles", testScriptFiles},
		{"FullVolume", testFullVolume},
		{"Settings", testSettings},
		{"Quoting", testQuoting},
		{"Private", testPrivate},
		{"MostFiles", testMostFiles},
		{"ServerKilled", testServerKilled},
		{"KilledFilewise", testKilledFilewise},
		{"OrdinaryUser", testOrdinaryUser},
		{"MeasureTrials", testMeasureTrials},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, sub) })
	}
}
