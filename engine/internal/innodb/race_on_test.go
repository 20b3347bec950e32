//go:build race

package innodb

// underRace: the race detector's own bookkeeping allocates.
const underRace = true
