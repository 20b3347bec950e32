package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"filewise"
)

// workloadOrders is the workload whose warehouses are spread over the files:
// warehouse w lies in file (w − 1) mod files, with all that is its. Items are of no
// warehouse, and stay one table.
const workloadOrders = "orders"

// furtherIndex is an index besides the primary key. Its name is its table's with
// the suffix.
type furtherIndex struct{ Kind, Suffix, Columns string }

// The tables of orders, in the order of the workload's contract: the column of the
// warehouse by which each is divided, its primary key, and its other indexes.
var ordersTables = []struct {
	name, warehouse, key string
	further              []furtherIndex
}{
	{"warehouse", "w_id", "w_id", nil},
	{"district", "d_w_id", "d_w_id, d_id", nil},
	{"customer", "c_w_id", "c_w_id, c_d_id, c_id", []furtherIndex{{"INDEX", "_name", "c_w_id, c_d_id, c_last, c_first"}}},
	{"history", "h_w_id", "", nil},
	{"new_order", "no_w_id", "no_w_id, no_d_id, no_o_id", nil},
	{"orders", "o_w_id", "o_w_id, o_d_id, o_id", []furtherIndex{{"UNIQUE INDEX", "_customer", "o_w_id, o_d_id, o_c_id, o_id"}}},
	{"order_line", "ol_w_id", "ol_w_id, ol_d_id, ol_o_id, ol_number", nil},
	{"item", "", "i_id", nil},
	{"stock", "s_w_id", "s_w_id, s_i_id", nil},
}

// planCache is set for every session of workload orders. The server would plan each
// statement of a procedure on partitions anew at every call: it compares the costs of
// plans, and that of one for all values does not know that only one partition will be
// executed. Planning takes as long as all else does then. But a plan for all values
// locks all partitions, which costs more than planning where these or the sessions
// are many. So it is decided by what all layouts have in common: none has more
// partitions than there are warehouses.
const (
	planCache, keptPlans        = "plan_cache_mode", "force_generic_plan"
	mostPartitions, mostKeeping = 16, 50
)

// keepsPlans tells whether procedures keep their plans.
func (d *design) keepsPlans() bool {
	return d.orders() && d.number("Warehouses") <= mostPartitions && d.program.Connections <= mostKeeping
}

func (d *design) orders() bool { return d.program.Workload == workloadOrders }

// number is a whole number among the program's variables.
func (d *design) number(name string) int64 {
	n, _ := d.program.Vars[name].(int64)
	return n
}

// churns tells whether each transaction creates, fills and drops a table.
func (d *design) churns() bool { return d.orders() && d.program.Vars["Churn"] == true }

// checkOrders refuses files that no warehouse would lie in.
func (d *design) checkOrders() error {
	files, warehouses := int64(d.layout.Data.Files), d.number("Warehouses")
	if files > warehouses {
		return filewise.Errorf(filewise.CodeUsage, fmt.Sprintf("use --warehouses %d, or at most %s", files, filewise.FilesName(int(warehouses))),
			"%s for --warehouses %d: a warehouse lies whole in one partition, so that the others would be empty: %w",
			filewise.FilesName(d.layout.Data.Files), warehouses, filewise.ErrUnsupported)
	}
	return nil
}

// layOrders makes its tables.
func (d *design) layOrders() {
	for i, o := range ordersTables {
		t := table{Name: o.name, Number: i + 1, Key: o.key, Further: o.further, by: o.warehouse}
		if t.Partitioned = d.partitioned() && o.warehouse != ""; t.Partitioned {
			t.Leaves = d.ofWarehouses(o.name)
		} else {
			t.Leaves = []leaf{d.leaf(o.name, 0)}
		}
		d.tables = append(d.tables, t)
	}
	if homes := d.homes(); d.churns() && len(homes) == 1 && d.layout.Data.Files > 1 {
		d.warn("churn-in-one-place", "name a volume for each data file with --volume",
			"the tables that come and go lie in one directory whatever the layout: it spreads them over volumes, and has only one for data")
	}
}

// ofWarehouses are a table's partitions, each of every so many warehouses.
func (d *design) ofWarehouses(of string) []leaf {
	var all []leaf
	for i := range d.layout.Data.Files {
		l := d.leaf(partitionName(of, i), i)
		var values []string
		for w := int64(i) + 1; w <= d.number("Warehouses"); w += int64(d.layout.Data.Files) {
			values = append(values, fmt.Sprint(w))
		}
		l.Of, l.Values = of, "FOR VALUES IN ("+strings.Join(values, ", ")+")"
		all = append(all, l)
	}
	return all
}

// Rest is what follows the columns in CREATE TABLE.
func (t table) Rest() string {
	if t.Partitioned {
		return " PARTITION BY LIST (" + t.by + ")"
	}
	return t.Leaves[0].Options
}

// named are the tables by their names.
func (d *design) named() map[string]table {
	all := map[string]table{}
	for _, t := range d.tables {
		all[t.Name] = t
	}
	return all
}

// homes are where tables that come and go lie, one after the other: as the data
// files do.
func (d *design) homes() []string {
	var all []string
	for i := range d.layout.Data.Files {
		if home := d.spaceOf(i).clause(" TABLESPACE "); !slices.Contains(all, home) {
			all = append(all, home)
		}
	}
	return all
}

// ordersIndexes are the names of the indexes of a leaf once all are made.
func ordersIndexes(l leaf) []string {
	var all []string
	for _, o := range ordersTables {
		if o.name != cmp.Or(l.Of, l.Name) {
			continue
		}
		if o.key != "" {
			all = append(all, l.Name+"_pkey")
		}
		for _, x := range o.further {
			all = append(all, l.Name+x.Suffix)
		}
	}
	return all
}

// createOrders are the procedures and functions of its transactions.
func (d *design) createOrders() ([]string, error) {
	var all []string
	for _, section := range sections[workloadOrders].Sections() {
		if !strings.HasPrefix(section, prefixProcedure) || section == prefixProcedure+sectionChurn && !d.churns() {
			continue
		}
		p, err := d.statement(section, table{})
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// sweep has the catalogues as small before a phase as they were before the one
// that has churned.
func (b *build) sweep(ctx context.Context) error {
	statement, err := b.design.statement(sectionChurned, table{})
	if err != nil {
		return err
	}
	return failed("clearing the catalogues", b.link.exec(ctx, statement))
}

// Bytes of a warehouse besides its stock for each customer (who has 1 order of 10
// lines, 1 payment and 0.3 new-orders), and of a stock and an item: payload, the
// row's header and line pointer; and the keys of each.
const (
	customerRoom, customerKeys = 650 + 90 + 0.3*44 + 65 + 10*95, 60 + 0.3*30 + 2*35 + 10*35
	stockRoom, stockKeys       = 350, 25
	itemRoom, itemKeys         = 110, 20
)

// ordersRoom is the room for rows and for keys. What transactions add, and leave
// of old versions, is taken to be as much as the layout's size.
func (d *design) ordersRoom() (rows, keys int64) {
	customers := float64(d.number("Warehouses") * d.number("Districts") * d.number("Customers"))
	stocks, items := d.number("Warehouses")*d.number("Items"), d.number("Items")
	rows = int64(customers*customerRoom) + stocks*stockRoom + items*itemRoom + d.layout.Data.Bytes
	return rows, int64(customers*customerKeys) + stocks*stockKeys + items*itemKeys
}

// ordersSteps adds what its sessions and its check execute.
func (s *script) ordersSteps(d *design, settle func(stage string)) error {
	var names []string
	for _, p := range d.program.Phases {
		for _, section := range p.Sections {
			if !slices.Contains(names, prefixStatement+section) {
				names = append(names, prefixStatement+section)
			}
		}
	}
	if d.churns() {
		names = append([]string{prefixStatement + sectionChurn}, names...)
	}
	add := func(stage string, sections []string) error {
		for _, section := range sections {
			all, err := d.statements(section, d.tables[0])
			if err != nil {
				return err
			}
			s.add(stage, "server", all...)
		}
		return nil
	}
	if value, own := d.workloadSettings(map[string]string{})[planCache]; own {
		s.add(filewise.StageMeasure, "server", "SET "+planCache+" = "+value)
	}
	if err := add(filewise.StageMeasure, names); err != nil {
		return err
	}
	settle(filewise.StageDrain)
	return add(filewise.StageCheck, ordersChecks())
}

// ordersChecks are the sections of its check.
func ordersChecks() []string {
	return slices.DeleteFunc(sections[workloadOrders].Sections(), func(name string) bool {
		return name != "totals" && !strings.HasPrefix(name, "check-")
	})
}
