// Package external lays databases out on a MySQL or MariaDB server that is the
// user's, by URL. It creates and drops databases of its own, marked as such, and
// changes nothing else: no setting of the server, no object that it did not make.
package external
