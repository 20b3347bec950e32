//go:build race

package workload

// underRace: the race detector's own bookkeeping allocates.
const underRace = true
