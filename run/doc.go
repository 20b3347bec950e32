// Package run carries a plan out. It opens the measured server, takes the locks of host and server, watches the
// activity of others there, and measures. It sends notifications, and stores every trial and the run's end. It needs no
// terminal and prints nothing: events go to an Observer, and the result is the Outcome.
package run
