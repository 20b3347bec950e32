// Package client is Filewise's way to a PostgreSQL server: from the address to
// connections, for control and for the workload, statements with their names quoted, and
// errors with their class and remedy.
package client
