// Package web is the live page of a run, the history of runs beside it, and their
// metrics for Prometheus.
//
// A Monitor hears of what happens in a run that this process measures, and answers
// when it is asked; nobody asking costs nothing, and what it is told never waits.
// It is asked by a Server of the same process, or through a socket by that of
// another one. A Server holds no state of its own beside the address: what it shows
// comes from the store and from the Monitor, so a page survives its restart.
//
// A browser is written to by a goroutine of its own, which takes the newest state
// whenever the browser has read the last one: there is no queue that could grow,
// and nothing for a measurement to wait for.
package web
