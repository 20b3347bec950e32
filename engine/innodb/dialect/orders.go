package dialect

import (
	"fmt"

	"filewise"
	"filewise/workload"
)

// shardPartitions says what partitions mean for tables whose rows belong together.
func (s Schema) shardPartitions(tables, partitions int) []filewise.Warning {
	by, byNumber := s.Program.Sharding, ""
	for _, t := range s.Program.Tables {
		if t.Replicated {
			byNumber = fmt.Sprintf(" (%ss by that of their number)", t.Name)
		}
	}
	all := []filewise.Warning{{
		Code: "files-of-each-table", Remedy: "none is needed",
		Message: fmt.Sprintf("each of the %d tables has %d partitions of its own, by the hash of the %s%s: %d files in all",
			tables, partitions, by.Of, byNumber, tables*partitions),
	}}
	if by.Values%int64(partitions) != 0 {
		all = append(all, filewise.Warning{
			Code: "partitions-uneven", Remedy: fmt.Sprintf("use %s %d, or another multiple of %d",
				by.Option, (by.Values/int64(partitions)+1)*int64(partitions), partitions),
			Message: fmt.Sprintf("%d %ss do not spread evenly over %d partitions: some have more data and work than others", by.Values, by.Of,
				partitions),
		})
	}
	return all
}

// sizes are those of workload orders; of others, none.
func (s Schema) sizes() workload.OrdersSizes {
	n, _ := s.Program.Params.(workload.OrdersSizes)
	return n
}

// WarnChurn says of kinds whose tables have files of their own what tables that
// come and go have to do with the layout: nothing.
func (s Schema) WarnChurn() []filewise.Warning {
	if !s.Program.Churns() {
		return nil
	}
	return []filewise.Warning{{
		Code: "churn-outside-files", Remedy: "use --kind system (a managed server) to see tables come and go within the layout's files",
		Message: "a table that comes and goes has a file of its own, whatever the layout: only the volumes that it is put on in turns are the " +
			"layout's",
	}}
}

// ordersBytes is what the loaded tables of orders take, indexes included, by the
// mean lengths of their columns (clause 1.3.1). Measured on both servers: give or
// take 5 %.
func (s Schema) ordersBytes(pageSize int64) int64 {
	w, d, c, i := s.sizes().Warehouses, s.sizes().Districts, s.sizes().Customers, s.sizes().Items
	districts := w * d
	row := func(payload float64) float64 {
		return Rows{PageSize: pageSize, Payload: int64(payload), Keys: Ascending}.BytesPerRow()
	}
	index := func(bytes float64) float64 { return (5 + bytes) * 16 / 15 } // InnoDB leaves 1/16 of a page free
	bytes := float64(districts*c)*(row(547)+index(9+12+12)+row(33)+row(12)+index(13)+10*row(43)) +
		float64(districts*(c-s.sizes().Delivered))*row(1) + float64(i)*row(66) + float64(w*i)*row(292) + float64(districts)*row(90)
	return int64(bytes)
}
