// Package postgres lays databases out on PostgreSQL 13 and later: a plain table,
// or hash partitions in tablespaces on the volumes. A managed target is a
// server on a Unix socket, with its own data directory for each build; on an
// external one each build is a database that carries Filewise's marker.
package postgres
