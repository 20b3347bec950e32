// Package web serves the live page of a run, the history of runs, and their metrics for Prometheus.
//
// A Monitor gets the events of a run that this process measures, and answers requests. Without requests it costs
// nothing, and an event never waits. Requests come from a Server in the same process, or through a socket from another
// process's Server. A Server holds no state of its own except the address. What it shows comes from the store and from
// the Monitor, so an open page survives a restart of the Server.
//
// Each browser has a goroutine that writes to it. When the browser has read the last state, the goroutine takes the
// newest one. So no queue can grow, and no measurement waits.
package web
