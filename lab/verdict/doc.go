// Package verdict judges layouts by a table of trials: which is faster, by how much at least and at most, which one to
// use, and when to stop measuring.
//
// The method: blocks of trials in random order; a robust two-way fit (blocks and arms) of log throughput; repeated
// confidence intervals that hold simultaneously over all arms and all analyses from the first claim on; a margin below
// which differences do not matter. An arm is a layout. An analysis is an interim one, a judgement after a block. All effects are on the
// natural log scale; [Percent] converts them.
//
// The package is pure: no clock, no I/O, and no randomness except the seeded simulation of boundaries that are not in
// its tables. It imports nothing of Filewise and can be used alone. Classical methods are in lab/verdict/stats.
package verdict
