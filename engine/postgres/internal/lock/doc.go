// Package lock lets one run at a time measure on a PostgreSQL server.
package lock
