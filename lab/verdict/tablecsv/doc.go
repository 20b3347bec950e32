// Package tablecsv reads a table of trials from CSV, so that numbers from elsewhere can be judged.
//
// The first line names the columns, in any order and case. Required are layout and throughput, or time instead of
// throughput. Block should be present: without it the k-th line of each layout is in block k. Optional are instance
// (the build that a trial ran on) and calibration (a probe before the trial). Column p99_s is the 99th percentile of
// the trial's latency in seconds. It is compared if it is from 100 operations or more. In a file that Filewise
// exported, pilots are left out, and lines of the operation calibration are the trials' probes. Other columns are ignored,
// and named in a note. Columns are separated by commas, semicolons or tabs, whichever the first line has.
//
// Numbers are read only if they have one meaning (Options.Decimal). Times are read only if they are no clock, unless
// their column is called duration. Lines are read only if they are not seconds of one run; in such lines neighbouring
// differences within blocks resemble each other. If there are no blocks and this is not clear, several lines are judged
// as one trial.
//
// One line is one trial. An empty throughput or time, or NA, means that the trial is missing.
package tablecsv
