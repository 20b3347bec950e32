// Package privatetest are the tests that every adapter of a private InnoDB server
// passes besides the conformance suite.
package privatetest

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"
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
		{"ScanBuild", testScanBuild},
		{"Backups", testBackups},
		{"BackupPlans", testBackupPlans},
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

// memory is a file system in memory; leastMemory, what it must have free.
const (
	memory      = "/dev/shm"
	leastMemory = 2 << 30
)

// inMemory has the directories of a test of a slow server made in memory where
// there is room: nothing here depends on the storage, and a new server syncs
// hundreds of times. Not MariaDB's: it takes that for persistent memory, and maps
// its log there instead of writing it.
func (sub Subject) inMemory(t *testing.T) {
	t.Helper()
	if !sub.Slow {
		return
	}
	var st unix.Statfs_t
	if err := unix.Statfs(memory, &st); err != nil || uint64(st.Bavail)*uint64(st.Bsize) < leastMemory || unix.Access(memory, unix.W_OK) != nil {
		t.Logf("%s has no room: the tests take longer", memory)
		return
	}
	t.Setenv("TMPDIR", memory)
}
