// Package drive puts a load on sessions and accounts for it: workers in closed or open loop, the measured window,
// slices, latencies, and the exact number of operations that each worker has committed.
//
// Accounting. All times count from the common start of the workers. An interval (a, b] holds what completes after a and
// not after b. A call of one operation counts at its completion. A call of several operations is spread linearly over
// its duration. So calls of 100 ms do not make slices, or the work within the window, coarse.
package drive
