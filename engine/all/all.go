// Package all is the explicit registry of the engines.
package all

import (
	"filewise"
	"filewise/engine/innodb"
	"filewise/engine/oracle"
	"filewise/engine/postgres"
	"filewise/engine/sqlite"
	"filewise/engine/sqlserver"
)

// Engines returns all engines, the default first.
func Engines() []filewise.Engine {
	return []filewise.Engine{sqlite.New(), innodb.MariaDB, innodb.MySQL, postgres.Engine{}, oracle.Engine{}, sqlserver.Engine{}}
}
