package dialect

import (
	"fmt"

	"filewise"
	"filewise/engine/internal/operations"
	"filewise/lab/workload"
)

// Grows reports whether the loaded data grow while they are measured.
func (s Schema) Grows() bool { return s.Program.Loads() && !s.Program.ReadOnly }

// tableOfData returns the name in the database of a table of the workload. All of Filewise's names begin with fw_, so
// that other objects are recognized.
func tableOfData(table string) string { return "fw_" + table }

// LoadedTable is the table that records loaded batches. If tables have their own files, it has a file in addition to
// the layout's.
const LoadedTable = "fw_loaded"

// LoadedFile is the name of that file.
const LoadedFile = LoadedTable + ".ibd"

func loadedTables(p filewise.Program) []Table {
	tables := make([]Table, len(p.Tables))
	for i, t := range p.Tables {
		tables[i] = Table{Name: tableOfData(t.Name), Key: t.PartitionColumn()}
	}
	return tables
}

// checkPhases refuses what workloads of several phases cannot do.
func checkPhases(l filewise.Layout, p filewise.Program) error {
	switch {
	case l.Temp.Files > 0 && !p.Table().Temporary:
		return unsupported("use scenario temp", "temporary files in workload %s on InnoDB", p.Workload)
	case p.Appends():
		return nil
	case l.AddedLater != "":
		return unsupported("use scenario inserts", "files added later in workload %s on InnoDB", p.Workload)
	case l.Discard && p.Restores():
		return unsupported("leave the restore out, as --discard does",
			"a backup that is thrown away: the restore is measured, too, and needs something to restore from")
	}
	return nil
}

// checkTables refuses a layout of kind per-table if its number of files differs from the workload's number of tables.
func (s Schema) checkTables(files int) error {
	if n := len(s.Tables); files != n {
		return unsupported(fmt.Sprintf("give %s, or use --kind partitions", filewise.FilesName(n)),
			"kind per-table has a file for each table: workload %s has %d, not %d", s.Program.Workload, n, files)
	}
	return nil
}

// ManyFiles returns warnings about what several partitions mean for the workload's tables, if they mean more than the
// layout's name shows. It can return nil.
func (s Schema) ManyFiles(partitions int) []filewise.Warning {
	switch n := len(s.Tables); {
	case partitions < 2:
		return nil
	case operations.Pruned(s.Program, partitions):
		return operations.PrunedPartitions(s.Program, partitions, "use --index key, or --kind system, to see the files alone")
	case n < 2:
		return nil
	case s.Program.Sharding != nil:
		return s.shardPartitions(n, partitions)
	case s.Program.Loads() || s.Program.Custom != nil:
		return []filewise.Warning{{
			Code: "files-of-each-table", Remedy: "none is needed",
			Message: fmt.Sprintf("each of the %d tables has %d separate partitions: %d files in all", n, partitions, n*partitions),
		}}
	default:
		return []filewise.Warning{{
			Code: "files-of-each-table", Remedy: "use --table shared to count files as in the layout's name",
			Message: fmt.Sprintf("each of the %d tables has %d separate partitions: %d files in all", n, partitions, n*partitions),
		}}
	}
}

// forPhase returns the schema with the settings for a phase's sessions.
func (s Schema) forPhase(p filewise.Phase) Schema {
	s.Program.Phases = []filewise.Phase{p}
	return s
}

// ifAny renders a section if the workload has it, else it returns nothing.
func (s Schema) ifAny(section string, t Table) ([]string, error) {
	if f := sections[s.Program.SQL()]; s.Program.Custom != nil || f != nil && !f.Has(section) {
		return nil, nil
	}
	return s.Statements(section, t)
}

// oneIfAny renders a section of one statement if the workload has it, else it returns "".
func (s Schema) oneIfAny(section string, t Table) (string, error) {
	all, err := s.ifAny(section, t)
	if err != nil || len(all) == 0 {
		return "", err
	}
	return all[0], nil
}

// Bytes returns the size of the program's tables in their tablespaces when full, indexes included; 0 if that depends on
// the work. An ordered load leaves pages as full as ascending keys do, and indexes are built from sorted keys. Grown
// data have pages that were split. Measured on both servers: give or take 3 %.
func (s Schema) Bytes(pageSize int64) int64 {
	rows := s.Program.Table().Rows
	switch {
	case s.Program.Sharding != nil:
		return s.ordersBytes(pageSize)
	case s.Program.Loads():
		const payload, name, values = 4*5 + 2 + fragText, 60 + 1, 2 * 4
		row := Rows{PageSize: pageSize, Payload: payload - 4 + 2, Keys: Ascending}.BytesPerRow() // a key of 4 bytes, 8 in Rows; two lengths
		if s.Program.Table().Grown {
			row *= grownRoom
		}
		index := func(bytes int64) float64 {
			if s.Program.Table().IndexedFirst { // keys come in any order, and pages split
				return float64(5+bytes+4) / fillOf[Random]
			}
			return float64(5+bytes+4) * 16 / 15 // InnoDB leaves 1/16 of a page free
		}
		return int64(float64(rows*int64(len(s.Tables))) * (row + index(name) + index(values)))
	case s.Program.Custom == nil && !s.Program.Appends() && !s.Program.Table().Temporary:
		return rows * 64 // with header, row id, transaction, roll pointer and index
	}
	return 0
}

// grownRoom is the factor of space that rows take if their keys came in another, evenly spread order, because pages
// were split. Measured on both servers.
const grownRoom = 1.22

// fragText is the average length of a name and an address together, in bytes.
const fragText = 60 + 260

// shardPartitions returns warnings about what partitions mean for tables whose rows belong together.
func (s Schema) shardPartitions(tables, partitions int) []filewise.Warning {
	by, byNumber := s.Program.Sharding, ""
	for _, t := range s.Program.Tables {
		if t.Replicated {
			byNumber = fmt.Sprintf(" (%ss by their number's)", t.Name)
		}
	}
	all := []filewise.Warning{{
		Code: "files-of-each-table", Remedy: "none is needed",
		Message: fmt.Sprintf("each of the %d tables has %d separate partitions, by the hash of the %s%s: %d files in all",
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

// sizes returns the sizes of workload orders; for other workloads they are zero.
func (s Schema) sizes() workload.OrdersSizes {
	n, _ := s.Program.Params.(workload.OrdersSizes)
	return n
}

// WarnChurn warns if tables have their own files that the tables created and dropped do not depend on the layout.
func (s Schema) WarnChurn() []filewise.Warning {
	if !s.Program.Churns() {
		return nil
	}
	return []filewise.Warning{{
		Code: "churn-outside-files", Remedy: "use --kind system (a managed server) to see tables come and go within the layout's files",
		Message: "a table that comes and goes has a separate file, whatever the layout: only the volumes that it is put on in turns are the " +
			"layout's",
	}}
}

// ordersBytes returns the size of the loaded tables of orders, indexes included. It uses the mean lengths of their
// columns (clause 1.3.1). Measured on both servers: give or take 5 %.
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
