// Package probe reads cumulative counters of the operating system. It is the only place where deltas are computed,
// including the deltas of engines' probes. A counter that cannot be read is absent, never zero.
package probe
