// Package cause finds why layouts differ, or what they all wait for. It is a pure function of the trials' counters.
//
// A connection of a closed loop spends the time T = connections × window / work on each unit of work: waiting,
// computing, or in neither. If T falls by ΔT from the baseline to a layout, and the time of a wait falls by Δw, that
// wait explains the share Δw/ΔT of the gain. Shares may overlap (a wait that polls also computes) and need not add up
// to one, because what is missing was not measured.
//
// Changes are differences within blocks. Their intervals are Student's t over the blocks, each for itself. They
// describe; verdicts do not use them.
package cause
