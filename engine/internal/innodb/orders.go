package innodb

import (
	"fmt"

	"filewise"
)

const ordersWorkload = "orders"

// ordersKeys are the tables of orders with the columns by whose hash partitions
// divide them: all that is of a warehouse lies in partitions of the same number.
var ordersKeys = []Table{
	{Name: "warehouse", Key: "w_id"}, {Name: "district", Key: "d_w_id"}, {Name: "customer", Key: "c_w_id"},
	{Name: "history", Key: "h_w_id"}, {Name: "new_order", Key: "no_w_id"}, {Name: "orders", Key: "o_w_id"},
	{Name: "order_line", Key: "ol_w_id"}, {Name: "item", Key: "i_id"}, {Name: "stock", Key: "s_w_id"},
}

func ordersTables() []Table {
	tables := make([]Table, len(ordersKeys))
	for i, t := range ordersKeys {
		tables[i] = Table{Name: tableOfData(t.Name), Key: t.Key}
	}
	return tables
}

// checkSpread refuses partitions that the program's data would leave empty.
func (s Schema) checkSpread(partitions int) error {
	warehouses := s.number("Warehouses")
	if s.Program.Workload != ordersWorkload || int64(partitions) <= warehouses {
		return nil
	}
	return unsupported(fmt.Sprintf("use --warehouses %d, or at most %s", partitions, filewise.FilesName(int(warehouses))),
		"%s for --warehouses %d: a warehouse lies whole in one partition of each table, so that the others would be empty", filewise.FilesName(partitions), warehouses)
}

// ordersPartitions says what partitions mean for orders.
func (s Schema) ordersPartitions(tables, partitions int) []filewise.Warning {
	all := []filewise.Warning{{
		Code: "files-of-each-table", Remedy: "none is needed",
		Message: fmt.Sprintf("each of the %d tables has %d partitions of its own, by the hash of the warehouse (items by that of their number): %d files in all",
			tables, partitions, tables*partitions),
	}}
	if warehouses := s.number("Warehouses"); warehouses%int64(partitions) != 0 {
		all = append(all, filewise.Warning{
			Code: "partitions-uneven", Remedy: fmt.Sprintf("use --warehouses %d, or another multiple of %d", (warehouses/int64(partitions)+1)*int64(partitions), partitions),
			Message: fmt.Sprintf("%d warehouses do not spread evenly over %d partitions: some have more data and work than others", warehouses, partitions),
		})
	}
	return all
}

func (s Schema) number(name string) int64 {
	n, _ := s.Program.Vars[name].(int64)
	return n
}

// Churns says whether the program creates and drops tables as it goes.
func (s Schema) Churns() bool { churn, _ := s.Program.Vars["Churn"].(bool); return churn }

// WarnChurn says of kinds whose tables have files of their own what tables that
// come and go have to do with the layout: nothing.
func (s Schema) WarnChurn() []filewise.Warning {
	if !s.Churns() {
		return nil
	}
	return []filewise.Warning{{
		Code: "churn-outside-files", Remedy: "use --kind system (a private server) to see tables come and go within the layout's files",
		Message: "a table that comes and goes has a file of its own, whatever the layout: only the volumes that it is put on in turns are the layout's",
	}}
}

// ordersBytes is what the loaded tables of orders take, indexes included, by the
// mean lengths of their columns (clause 1.3.1). Measured on both servers: give or
// take 5 %.
func (s Schema) ordersBytes(pageSize int64) int64 {
	w, d, c, i := s.number("Warehouses"), s.number("Districts"), s.number("Customers"), s.number("Items")
	districts := w * d
	row := func(payload float64) float64 {
		return Rows{PageSize: pageSize, Payload: int64(payload), Keys: Ascending}.BytesPerRow()
	}
	index := func(bytes float64) float64 { return (5 + bytes) * 16 / 15 } // InnoDB leaves 1/16 of a page free
	bytes := float64(districts*c)*(row(547)+index(9+12+12)+row(33)+row(12)+index(13)+10*row(43)) +
		float64(districts*(c-s.number("Delivered")))*row(1) + float64(i)*row(66) + float64(w*i)*row(292) + float64(districts)*row(90)
	return int64(bytes)
}
