// Package web is the live page of a run, the history of runs, and their metrics for Prometheus.
//
// A Monitor gets the events of a run that this process measures, and answers requests. Without requests it costs
// nothing, and an event never waits. Requests come from a Server of the same process, or through a socket from
// another process's Server. A Server holds no state of its own except the address: what it shows comes from the store
// and from the Monitor, so a page survives its restart.
//
// A browser is written to by a goroutine of its own, which takes the newest state whenever the browser has read the
// last one: there is no queue that could grow, and nothing for a measurement to wait for.
package web
