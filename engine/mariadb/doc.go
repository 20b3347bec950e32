// Package mariadb lays databases out on private MariaDB servers that Filewise
// starts from the installed binaries: several files of InnoDB's system
// tablespace, a file for each table, or a file for each partition.
//
// A private server runs as Filewise's own user, root included (told explicitly,
// as MariaDB wants it). Running it as the machine's account "mysql" would need
// directories that this account, and with it the machine's own server, may write
// to while Filewise, being root, reads and removes files there.
package mariadb
