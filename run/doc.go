// Package run carries a plan out: it opens the server that is measured, takes the locks of host and server, watches
// what others do there, measures, notifies people, and stores every trial and how the run ended. It needs no terminal
// and prints nothing: events go to an Observer, the result is the Outcome.
package run
