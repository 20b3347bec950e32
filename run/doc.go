// Package run carries a plan out. It opens the server that is measured, takes the locks of host and server, watches
// what others do there, and measures. It notifies people, and stores every trial and the run's end. It needs no
// terminal and prints nothing: events go to an Observer, the result is the Outcome.
package run
