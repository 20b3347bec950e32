// Package tablecsv reads a table of trials from CSV, so that numbers from elsewhere can be judged.
//
// The first line names the columns, in any order and case: layout and throughput, or time instead of that, must be
// there, and block should be: without it the k-th line of each layout is of block k; instance (the build a trial ran
// on) and calibration (a probe before it) are used if they are there p99_s is the 99th percentile of the trial's
// latency in seconds, which is compared if it is of 100 operations or more. In a file that Filewise exported, pilots
// are left out, and lines of the family calibration are the trials' probes. Other columns are ignored, and named in a
// note. Columns are separated by commas, semicolons or tabs, whichever the first line has.
//
// Numbers are read only if they have one meaning (Options.Decimal), times only if they are no clock, unless their
// column is called duration, and lines only if they are no seconds of one run: then neighbouring differences within
// blocks resemble each other. Without blocks, lines of which that is not plain are judged several at a time.
//
// One line is one trial. An empty throughput or time, or NA, is a trial that is missing.
package tablecsv
