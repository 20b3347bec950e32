package workload

import (
	"fmt"
	"sync"

	"filewise"
)

// Tables are those of all workloads that load tables, by their names and columns, which are the
// same whatever the parameters: what a database of Filewise's may have in it.
var Tables = sync.OnceValue(func() []filewise.Table {
	orders, err := NewOrders(Params{Connections: 1, Warehouses: 1, Scale: 0.01}, 1)
	scan, scanErr := NewScan(Params{Rows: fragBatchRows, Cache: CacheWarm, Data: DataOrdered, Repeat: 1}, 1)
	if err != nil || scanErr != nil {
		panic(fmt.Sprintf("the least of the workloads: %v, %v", err, scanErr)) // the parameters are the programmer's
	}
	return append(orders.Program().Tables, scan.Program().Tables...)
})
