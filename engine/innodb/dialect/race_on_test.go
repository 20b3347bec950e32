//go:build race

package dialect

// underRace: the race detector's own bookkeeping allocates.
const underRace = true
