// Package innodb lays databases out on MariaDB (10.6 and later) and MySQL (8.0.30
// and later): several files of InnoDB's system tablespace, a file for each table, or
// a file for each partition. It is one engine with two products. Their servers are
// managed, started by Filewise from the installed binaries (package managed), or
// external, reached by URL (package external); the SQL of workloads, tables, sessions,
// loads and probes are the same for both (package dialect).
package innodb
