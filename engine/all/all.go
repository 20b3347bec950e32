// Package all is the explicit registry of the engines.
package all

import (
	"filewise"
	"filewise/engine/mariadb"
	"filewise/engine/mysql"
	"filewise/engine/oracle"
	"filewise/engine/postgres"
	"filewise/engine/sqlite"
	"filewise/engine/sqlserver"
	"filewise/internal/nearest"
)

// Engines are all engines, the default first.
func Engines() []filewise.Engine {
	return []filewise.Engine{sqlite.New(), mariadb.Engine{}, mysql.Engine{}, postgres.Engine{}, oracle.Engine{}, sqlserver.Engine{}}
}

// Lookup finds an engine by name. The error has CodeUsage and names the nearest
// known one.
func Lookup(name string) (filewise.Engine, error) {
	var known []string
	for _, e := range Engines() {
		if e.Name() == name {
			return e, nil
		}
		known = append(known, e.Name())
	}
	return nil, filewise.Errorf(filewise.CodeUsage, nearest.Remedy(name, known), "engine %q is unknown", name)
}
