// Package drive puts a load on sessions and accounts for it: workers in closed loop, the measured window, slices,
// latencies, and the exact number of operations that each worker has committed.
//
// Accounting. All times count from the common start of the workers. An interval (a, b] holds what completes after a
// and not after b. A call of one operation counts at its completion. A call of several operations is spread linearly
// over the time it took, so that neither slices nor the work within the window are quantised by calls of 100 ms.
package drive
