// Package run carries a plan out: it opens the server that is measured, takes the locks
// of host and server, watches what others do there, measures, tells people, and stores
// every trial and how the run ended. It needs no terminal and prints nothing: what
// happens is handed to an Observer, what came of it is the Outcome.
package run
