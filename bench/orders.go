//go:build linux

package main

import (
	"filewise"
	"filewise/workload"
)

// newOrders is the workload at a size, on so many connections.
func newOrders(warehouses int, scale float64, connections int) (filewise.Workload, error) {
	return workload.NewOrders(workload.Params{Connections: connections, Warehouses: warehouses, Scale: scale}, 1)
}

// ordersSize is what other clients must be told of the workload.
type ordersSize struct {
	connections                  int
	warehouses, customers, items int64
}

func sizeOf(w filewise.Workload) ordersSize {
	p := w.Program()
	n, _ := p.Params.(workload.OrdersSizes)
	return ordersSize{p.Connections(), n.Warehouses, n.Customers, n.Items}
}
