package workload

import (
	"fmt"
	"sync"

	"filewise"
)

// loadedTables are the tables of workloads that load data, at their least.
var loadedTables = sync.OnceValue(func() map[string][]filewise.TableData {
	orders, err := NewOrders(Params{Connections: 1, Warehouses: 1, Scale: 0.01}, 1)
	scan, scanErr := NewScan(Params{Rows: 1000, Cache: CacheWarm, Data: DataOrdered, Repeat: 1}, 1)
	backup, backupErr := NewBackup(Params{Rows: 1000}, 1)
	all := map[string][]filewise.TableData{}
	for name, w := range map[string]struct {
		of  filewise.Workload
		err error
	}{"orders": {orders, err}, "scan": {scan, scanErr}, "backup": {backup, backupErr}} {
		if w.err != nil {
			panic(fmt.Sprintf("the least of workload %s: %v", name, w.err)) // the parameters are the programmer's
		}
		all[name] = w.of.(filewise.Loadable).Data()
	}
	return all
})

// LoadedTables are the tables that a workload's data are loaded into, in order, by
// their names and columns: those are the same whatever the parameters. None: the
// workload loads nothing, or nothing that is known beforehand.
func LoadedTables(workload string) []filewise.TableData { return loadedTables()[workload] }
