package workload

import (
	"fmt"

	"filewise"
)

// onePhase refuses a check of anything but a workload's only phase.
func onePhase(phase int, ledgers []filewise.Ledger) error { return phaseOf(phase, 1, ledgers) }

// phaseOf refuses a check of a phase that a workload of n phases does not have, or that
// lacks a ledger.
func phaseOf(phase, n int, ledgers []filewise.Ledger) error {
	if phase < 0 || phase >= n || phase >= len(ledgers) {
		return fmt.Errorf("phase %d of %d, with %d ledgers", phase, n, len(ledgers))
	}
	return nil
}
