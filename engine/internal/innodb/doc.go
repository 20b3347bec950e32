// Package innodb holds what MySQL and MariaDB share: the dialect of a workload's
// SQL, its sessions and queries, on private servers and by URL; the files of the
// system tablespace, what of a tablespace is in use, how much work fills it; and
// which server settings a user may not set on a managed server.
package innodb
