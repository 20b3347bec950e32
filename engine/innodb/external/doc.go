// Package external lays databases out on a MySQL or MariaDB server that is the
// user's, by URL. It creates and drops databases of its own, marked as such, and
// changes nothing else: no setting of the server, no object that it did not make.
package external

import (
	"filewise"
	"filewise/engine/innodb/dialect"
)

// Engine is a product on servers of others.
type Engine struct{ *dialect.Product }

// Port is the usual one of both products.
const Port = 3306

// Kinds are the kinds of layout on an external server, the usual one first.
var Kinds = []filewise.Kind{filewise.KindPartitions, filewise.KindPerTable}
