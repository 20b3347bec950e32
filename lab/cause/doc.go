// Package cause finds why layouts differ, or what they all wait for: a pure function of the trials' counters.
//
// A connection of a closed loop spends its time T = connections × window / work on each unit of work, waiting,
// computing, or in neither. When T falls by ΔT from the baseline to a layout, and the time of a wait by Δw, that wait
// explains the share Δw/ΔT of the gain. Shares may overlap (a wait that polls computes as well) and need not add up
// to one: what is missing was not measured.
//
// Changes are differences within blocks; their intervals are Student's t over the blocks, each by itself: they
// describe, and verdicts are reached without them.
package cause
