// Package innodb lays databases out on MariaDB (10.6 and later) and MySQL (8.0.30 and later). A layout has several
// files of InnoDB's system tablespace, a file for each table, or a file for each partition. The package is one engine
// with two products. Filewise starts managed servers from the installed binaries (package managed), and reaches
// external servers by URL (package external). Both share the SQL of workloads, tables, sessions, loads and probes
// (package dialect). Package client has addresses and the products' programs.
package innodb
