// Package probe reads cumulative counters of the operating system and is the
// only place where deltas are computed, those of engines' probes included. What
// cannot be read is absent, never zero.
package probe
