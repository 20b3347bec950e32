// Package mysql lays databases out on private MySQL servers (8.0.30 and later)
// that Filewise starts from the installed binaries: several files of InnoDB's
// system tablespace, a file for each table, or a file for each partition. What it
// shares with MariaDB is in package innodb and in private.
package mysql
