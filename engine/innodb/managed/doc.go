// Package managed runs servers of MariaDB and MySQL that Filewise starts itself: it
// lays a layout's files out, starts a server on them, observes, settles, resets
// and extends them.
//
// A managed server runs as Filewise's own user, root included (by an explicit option,
// as the servers need it). Running it as the machine's account "mysql" would need
// directories that this account, and with it the machine's own server, can write
// to while Filewise, being root, reads and removes files there.
package managed

import "filewise/engine/innodb/dialect"

// Engine is a product whose servers Filewise starts.
type Engine struct{ *dialect.Product }
