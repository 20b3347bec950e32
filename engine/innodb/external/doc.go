// Package external lays databases out on a user's MySQL or MariaDB server, reached by URL. It creates and drops
// separate databases, which carry a marker. It changes no settings of the server, and nothing that it did not create.
package external

import (
	"filewise"
	"filewise/engine/innodb/dialect"
)

// Engine is a product on servers that Filewise does not manage.
type Engine struct{ *dialect.Product }

// Kinds lists the kinds of layout on an external server, the default first.
var Kinds = []filewise.Kind{filewise.KindPartitions, filewise.KindPerTable}
