//go:build linux

package managed_test

import (
	"slices"
	"testing"
)

// The tests that both products pass in addition to the conformance suite.
func TestServer(t *testing.T) {
	t.Parallel()
	for _, sub := range subjects() {
		t.Run(sub.Engine.Name(), func(t *testing.T) {
			t.Parallel()
			testServer(t, sub)
		})
	}
}

func testServer(t *testing.T, sub subject) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, subject)
	}{
		{"Life", testLife},
		{"Observe", testObserve},
		{"Reset", testReset},
		{"Copies", testCopies},
		{"Lifecycle", testLifecycle},
		{"Settle", testSettle},
		{"FlushByLimit", testFlushByLimit},
		{"Phases", testPhases},
		{"DeletesToldToEnd", testDeletesToldToEnd},
		{"ScanBuild", testScanBuild}, {"Orders", testOrders},
		{"Backups", testBackups},
		{"BackupPlans", testBackupPlans},
		{"Dumps", testDumps},
		{"DumpPlans", testDumpPlans},
		{"FillWork", testFillWork},
		{"FillWarnings", testFillWarnings},
		{"PlanRefuses", testPlanRefuses},
		{"ScriptFiles", testScriptFiles},
		{"FullVolume", testFullVolume},
		{"Settings", testSettings},
		{"Quoting", testQuoting},
		{"Reach", testReach},
		{"MostFiles", testMostFiles},
		{"ServerKilled", testServerKilled},
		{"KilledFilewise", testKilledFilewise},
		{"OrdinaryUser", testOrdinaryUser},
	} {
		if sub.Only != nil && !slices.Contains(sub.Only, test.name) {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, sub)
		})
	}
	t.Run("CommitsWait", func(t *testing.T) {
		t.Parallel()
		testCommitsWait(t, sub)
	})
	t.Run("MeasureTrials", func(t *testing.T) { testMeasureTrials(t, sub) })
}
