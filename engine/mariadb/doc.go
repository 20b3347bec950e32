// Package mariadb lays databases out on private MariaDB servers that Filewise
// starts from the installed binaries: several files of InnoDB's system
// tablespace, a file for each table, or a file for each partition. What it shares
// with MySQL is in package innodb and in private.
package mariadb
