// Package probe reads cumulative counters of the operating system and is the only place where deltas are computed,
// also for engines' probes. What cannot be read is absent, never zero.
package probe
