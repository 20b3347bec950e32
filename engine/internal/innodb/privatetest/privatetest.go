//go:build linux

// Package privatetest are the tests that every adapter of a private InnoDB server
// passes besides the conformance suite.
package privatetest

import (
	"slices"
	"testing"

	"filewise/engine/internal/innodb/servertest"
)

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
		{"Phases", testPhases},
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
		{"Private", testPrivate},
		{"MostFiles", testMostFiles},
		{"ServerKilled", testServerKilled},
		{"KilledFilewise", testKilledFilewise},
		{"OrdinaryUser", testOrdinaryUser},
	} {
		if sub.Only != nil && !slices.Contains(sub.Only, test.name) {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			sub.inMemory(t)
			test.run(t, sub)
		})
	}
	t.Run("CommitsWait", func(t *testing.T) { testCommitsWait(t, sub) })
	t.Run("MeasureTrials", func(t *testing.T) { testMeasureTrials(t, sub) })
}

// inMemory has the directories of a test of a slow server made in memory where
// there is room.
func (sub Subject) inMemory(t *testing.T) {
	t.Helper()
	if !sub.Slow {
		return
	}
	dir := servertest.Memory()
	if dir == "" {
		t.Log("there is no room in memory: the tests take longer")
		return
	}
	t.Setenv("TMPDIR", dir)
}
