package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/postgres/client"
	"filewise/engine/postgres/dialect"
	"filewise/lab/workload"
)

// furtherIndex is an index in addition to the primary key. Its name is the table's name with the suffix.
type furtherIndex struct{ Kind, Suffix, Columns string }

func furtherOf(t filewise.Table) []furtherIndex {
	var all []furtherIndex
	for _, x := range t.Indexes {
		kind := "INDEX"
		if x.Unique {
			kind = "UNIQUE INDEX"
		}
		all = append(all, furtherIndex{kind, "_" + x.Name, strings.Join(x.Columns, ", ")})
	}
	return all
}

// planCache is set for every session of a workload whose rows belong together. Otherwise the server would plan each
// statement of a procedure on partitions again at every call. It compares the costs of plans, and a generic plan does
// not show that only one partition will be executed. Planning then takes as long as everything else. But a generic plan
// locks all partitions, which costs more than planning if partitions or sessions are many. So the choice depends only
// on what all layouts share: none has more partitions than there are warehouses.
const (
	planCache, keptPlans        = "plan_cache_mode", "force_generic_plan"
	mostPartitions, mostKeeping = 16, 50
)

// keepsPlans reports whether procedures keep their plans.
func (d *design) keepsPlans() bool {
	by := d.program.Sharding
	return by != nil && by.Values <= mostPartitions && d.program.Connections() <= mostKeeping
}

func (d *design) sizes() workload.OrdersSizes {
	n, _ := d.program.Params.(workload.OrdersSizes)
	return n
}

// layShards lays out tables whose rows belong together. All rows of value v lie in file (v − 1) mod files. A table
// without such a value is not divided.
func (d *design) layShards() {
	for i, o := range d.program.Tables {
		t := table{Name: o.Name, Number: i + 1, Key: strings.Join(o.Key, ", "), Further: furtherOf(o), by: o.ShardBy}
		if t.Partitioned = d.partitioned() && !o.Replicated; t.Partitioned {
			t.Leaves = d.ofShards(o.Name)
		} else {
			t.Leaves = []leaf{d.leaf(o.Name, 0)}
		}
		d.tables = append(d.tables, t)
	}
	if homes := d.homes(); d.program.Churns() && len(homes) == 1 && d.layout.Data.Files > 1 {
		d.warn("churn-in-one-place", "name a volume for each data file with --volume",
			"the tables that come and go lie in one directory whatever the layout: it spreads them over volumes, and has only one for data")
	}
}

// ofShards returns a table's partitions. Partition i holds values i + 1, i + 1 + files, and so on.
func (d *design) ofShards(of string) []leaf {
	var all []leaf
	for i := range d.layout.Data.Files {
		l := d.leaf(dialect.PartitionName(of, i), i)
		var values []string
		for v := int64(i) + 1; v <= d.program.Sharding.Values; v += int64(d.layout.Data.Files) {
			values = append(values, fmt.Sprint(v))
		}
		l.Of, l.Values = of, "FOR VALUES IN ("+strings.Join(values, ", ")+")"
		all = append(all, l)
	}
	return all
}

// Rest returns what follows the columns in CREATE TABLE.
func (t table) Rest() string {
	if t.Partitioned {
		return " PARTITION BY LIST (" + t.by + ")"
	}
	return t.Leaves[0].Options
}

// named returns the tables by name.
func (d *design) named() map[string]table {
	all := map[string]table{}
	for _, t := range d.tables {
		all[t.Name] = t
	}
	return all
}

// homes returns the TABLESPACE clauses for tables that come and go, which take turns. They are the data files'
// tablespaces.
func (d *design) homes() []string {
	var all []string
	for i := range d.layout.Data.Files {
		if home := d.spaceOf(i).clause(" TABLESPACE "); !slices.Contains(all, home) {
			all = append(all, home)
		}
	}
	return all
}

// loadedIndexes returns the names of a leaf's indexes after a load.
func loadedIndexes(t filewise.Table, l leaf) []string {
	var all []string
	if len(t.Key) > 0 {
		all = append(all, l.Name+"_pkey")
	}
	for _, x := range furtherOf(t) {
		all = append(all, l.Name+x.Suffix)
	}
	return all
}

// sweep makes the catalogues as small again as they were before a phase that created and dropped tables.
func (b *build) sweep(ctx context.Context) error {
	statement, err := b.design.statement(sectionChurned, table{})
	if err != nil {
		return err
	}
	return client.Failed("clearing the catalogues", b.link.Exec(ctx, statement))
}

// Bytes per row: payload, row header and line pointer; and the bytes of its keys. A customer's rows include 1 order of
// 10 lines, 1 payment and 0.3 new-orders.
const (
	customerRoom, customerKeys = 650 + 90 + 0.3*44 + 65 + 10*95, 60 + 0.3*30 + 2*35 + 10*35
	stockRoom, stockKeys       = 350, 25
	itemRoom, itemKeys         = 110, 20
)

// ordersRoom returns the space for rows and for keys. What transactions add, old row versions included, is taken to be
// the layout's size.
func (d *design) ordersRoom() (rows, keys int64) {
	customers := float64(d.sizes().Warehouses * d.sizes().Districts * d.sizes().Customers)
	stocks, items := d.sizes().Warehouses*d.sizes().Items, d.sizes().Items
	rows = int64(customers*customerRoom) + stocks*stockRoom + items*itemRoom + d.layout.Data.Bytes
	return rows, int64(customers*customerKeys) + stocks*stockKeys + items*itemKeys
}
