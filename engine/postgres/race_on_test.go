//go:build race

package postgres

// underRace: the race detector's own bookkeeping allocates.
const underRace = true
