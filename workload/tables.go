package workload

import (
	"fmt"
	"sync"

	"filewise"
)

// Loading are the programs of all workloads that load tables, whose names and columns are the
// same whatever the parameters: what a database of Filewise's may have in it.
var Loading = sync.OnceValue(func() []filewise.Program {
	orders, err := NewOrders(Params{Connections: 1, Warehouses: 1, Scale: 0.01}, 1)
	scan, scanErr := NewScan(Params{Rows: fragBatchRows, Cache: CacheWarm, Data: DataOrdered, Repeat: 1}, 1)
	if err != nil || scanErr != nil {
		panic(fmt.Sprintf("the least of the workloads: %v, %v", err, scanErr)) // the parameters are the programmer's
	}
	return []filewise.Program{orders.Program(), scan.Program()}
})
