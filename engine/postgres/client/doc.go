// Package client connects Filewise to a PostgreSQL server. It turns an address into connections, for control and for
// the workload, and executes statements. It gives errors a class and a remedy.
package client
