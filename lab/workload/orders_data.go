package workload

import (
	"fmt"
	"strings"

	"filewise"
)

// orderTables lists the tables of orders; a table's number is its index + 1. Each batch holds rows of one warehouse,
// except batches of item. The warehouse of batch b is b / (Batches / Warehouses) + 1, so engines that divide data by
// warehouse can place it.
var orderTables = []string{"warehouse", "district", "customer", "history", "new_order", "orders", "order_line", "item", "stock"}

// tableItem is the only table that belongs to no warehouse.
const tableItem = "item"

const (
	itemBatchRows    = 5_000
	customerDataMost = 500
	loadedAmount     = 1000 // cents that each loaded customer has paid
)

// orderColumns lists the columns of each table with their types. Text types have a maximum length; columns without a
// type are int. A question mark ends the types that may be null.
var orderColumns = [][]string{
	{"w_id", "w_name text:10", "w_street_1 text:20", "w_street_2 text:20", "w_city text:20", "w_state char:2", "w_zip char:9", "w_tax",
		"w_ytd big"},
	{"d_w_id", "d_id tiny", "d_name text:10", "d_street_1 text:20", "d_street_2 text:20", "d_city text:20", "d_state char:2", "d_zip char:9",
		"d_tax", "d_ytd big", "d_next_o_id"},
	{"c_w_id", "c_d_id tiny", "c_id", "c_first name:16", "c_middle char:2", "c_last name:16", "c_street_1 text:20", "c_street_2 text:20",
		"c_city text:20", "c_state char:2", "c_zip char:9", "c_phone char:16", "c_since", "c_credit char:2", "c_credit_lim limit", "c_discount",
		"c_balance big", "c_ytd_payment big", "c_payment_cnt", "c_delivery_cnt", "c_data text:500"},
	{"h_c_id", "h_c_d_id tiny", "h_c_w_id", "h_d_id tiny", "h_w_id", "h_date", "h_amount amount", "h_data text:24"},
	{"no_w_id", "no_d_id tiny", "no_o_id"},
	{"o_w_id", "o_d_id tiny", "o_id", "o_c_id", "o_entry_d", "o_carrier_id tiny?", "o_ol_cnt tiny", "o_all_local tiny"},
	{"ol_w_id", "ol_d_id tiny", "ol_o_id", "ol_number tiny", "ol_i_id", "ol_supply_w_id", "ol_delivery_d int?", "ol_quantity tiny",
		"ol_amount amount", "ol_dist_info char:24"},
	{"i_id", "i_im_id", "i_name text:24", "i_price", "i_data text:50"},
	{"s_w_id", "s_i_id", "s_quantity small", "s_dist_01 char:24", "s_dist_02 char:24", "s_dist_03 char:24", "s_dist_04 char:24",
		"s_dist_05 char:24", "s_dist_06 char:24", "s_dist_07 char:24", "s_dist_08 char:24", "s_dist_09 char:24", "s_dist_10 char:24",
		"s_ytd amount", "s_order_cnt", "s_remote_cnt", "s_data text:50"},
}

// orderKeys lists how many leading columns form each table's unique key. History has no key.
var orderKeys = []int{1, 2, 3, 0, 3, 3, 4, 1, 2}

// orderWarehouses lists the column of each table that holds the warehouse. Items belong to none.
var orderWarehouses = []string{"w_id", "d_w_id", "c_w_id", "h_w_id", "no_w_id", "o_w_id", "ol_w_id", "", "s_w_id"}

func (w *orders) tables() []filewise.Table {
	var all []filewise.Table
	for i, d := range w.population(w.warehouses * districts * w.customers * meanLines) {
		t := filewise.Table{Name: d.Table, Columns: d.Columns, Key: d.Columns[:orderKeys[i]], Rows: d.Rows, RowBytes: d.RowBytes,
			Loaded: true, ShardBy: orderWarehouses[i], Replicated: orderWarehouses[i] == ""}
		switch d.Table {
		case "customer":
			t.Indexes = []filewise.Index{{Name: "name", Columns: []string{"c_w_id", "c_d_id", "c_last", "c_first"}}}
		case "orders":
			t.Indexes = []filewise.Index{{Name: "customer", Columns: []string{"o_w_id", "o_d_id", "o_c_id", "o_id"}, Unique: true}}
		}
		all = append(all, t)
	}
	return all
}

// Data returns the nine tables with their initial population (4.3.3).
func (w *orders) Data() []filewise.TableData { return w.population(w.loadedLines()) }

// meanLines is the average number of lines of an order, which has 5 to 15.
const meanLines = 10

func (w *orders) population(lines int64) []filewise.TableData {
	perWarehouse := (w.items + itemBatchRows - 1) / itemBatchRows
	undelivered := w.customers - w.delivered()
	d := w.warehouses * districts
	all := []filewise.TableData{
		{Batches: w.warehouses, RowBytes: 90, Rows: w.warehouses, Write: w.writeWarehouse},
		{Batches: w.warehouses, RowBytes: 95, Rows: d, Write: w.writeDistricts},
		{Batches: d, RowBytes: 600, Rows: d * w.customers, Write: w.writeCustomers},
		{Batches: d, RowBytes: 60, Rows: d * w.customers, Write: w.writeHistory},
		{Batches: d, RowBytes: 12, Rows: d * undelivered, Write: w.writeNewOrders},
		{Batches: d, RowBytes: 32, Rows: d * w.customers, Write: w.writeOrders},
		{Batches: d, RowBytes: 65, Rows: lines, Write: w.writeLines},
		{Batches: perWarehouse, RowBytes: 75, Rows: w.items, Write: w.writeItems},
		{Batches: w.warehouses * perWarehouse, RowBytes: 310, Rows: w.warehouses * w.items, Write: w.writeStock},
	}
	for i := range all {
		all[i].Table, all[i].Columns = orderTables[i], columnsOf(i)
	}
	return all
}

// columnsOf returns the columns of table i, from 0, in the order in which rows have them.
func columnsOf(i int) []string {
	var names []string
	for _, c := range orderColumns[i] {
		name, _, _ := strings.Cut(c, " ")
		names = append(names, name)
	}
	return names
}

// OrdersTables returns the tables of orders for code that declares them: names, keys and columns. Each column is
// followed by its type.
func OrdersTables() []filewise.Table {
	var all []filewise.Table
	for i, name := range orderTables {
		all = append(all, filewise.Table{Name: name, Columns: orderColumns[i], Key: columnsOf(i)[:orderKeys[i]]})
	}
	return all
}

// linesOf returns the number of lines of a loaded order, from 5 to 15.
func (w *orders) linesOf(district, o int64) int64 {
	return 5 + int64(w.hash(saltOrder, uint64(district), uint64(o))%11)
}

func (w *orders) loadedLines() int64 {
	n := int64(0)
	for d := range w.warehouses * districts {
		for o := int64(1); o <= w.customers; o++ {
			n += w.linesOf(d, o)
		}
	}
	return n
}

// rowOf writes the values of the rows of one batch.
type rowOf struct {
	*dice
	w    *orders
	to   filewise.RowWriter
	text []byte
}

// batch returns a writer with the random numbers of a table's batch.
func (w *orders) batch(table string, batch int64, to filewise.RowWriter) rowOf {
	for i, name := range orderTables {
		if name == table {
			d := w.dice(saltTable+uint64(i), uint64(batch), 0)
			return rowOf{&d, w, to, make([]byte, 0, 64)}
		}
	}
	panic(fmt.Sprintf("orders has no table %q", table))
}

// each writes the rows from the first to the last.
func (r rowOf) each(first, last int64, row func(i int64)) error {
	for i := first; i <= last; i++ {
		row(i)
		if err := r.to.EndRow(); err != nil {
			return err
		}
	}
	return nil
}

func (r rowOf) ints(values ...int64) {
	for _, v := range values {
		r.to.Int(v)
	}
}

// letters writes a text of lo to hi characters.
func (r rowOf) letters(lo, hi int64) {
	at, n := r.between(0, PoolSpan-1), r.between(lo, hi)
	r.to.Text(r.w.chance.letters[at : at+n])
}

// digits writes n digits, followed by end.
func (r rowOf) digits(n int64, end string) {
	at := r.between(0, PoolSpan-1)
	r.to.Text(append(append(r.text[:0], r.w.chance.digitText[at:at+n]...), end...))
}

// data writes 26 to 50 characters; a tenth of the texts contain ORIGINAL (4.3.3.1).
func (r rowOf) data() {
	at, n := r.between(0, PoolSpan-1), r.between(26, 50)
	text := append(r.text[:0], r.w.chance.letters[at:at+n]...)
	if r.percent(10) {
		copy(text[r.between(0, n-8):], "ORIGINAL")
	}
	r.to.Text(text)
}

// address writes two streets, city, state and zip.
func (r rowOf) address() {
	r.letters(10, 20)
	r.letters(10, 20)
	r.letters(10, 20)
	r.letters(2, 2)
	r.digits(4, "11111")
}

func (w *orders) writeWarehouse(batch int64, to filewise.RowWriter) error {
	r := w.batch("warehouse", batch, to)
	r.ints(batch + 1)
	r.letters(6, 10)
	r.address()
	r.ints(r.between(0, 2000), districts*w.customers*loadedAmount)
	return to.EndRow()
}

func (w *orders) writeDistricts(batch int64, to filewise.RowWriter) error {
	r := w.batch("district", batch, to)
	return r.each(1, districts, func(d int64) {
		r.ints(batch+1, d)
		r.letters(6, 10)
		r.address()
		r.ints(r.between(0, 2000), w.customers*loadedAmount, w.customers+1)
	})
}

func (w *orders) writeCustomers(batch int64, to filewise.RowWriter) error {
	r := w.batch("customer", batch, to)
	return r.each(1, w.customers, func(c int64) {
		r.ints(batch/districts+1, batch%districts+1, c)
		r.letters(8, 16)
		r.to.Text(append(r.text[:0], "OE"...))
		name := c - 1
		if name >= lastNames {
			name = r.nonUniform(nameA, w.chance.nameLoad, 0, lastNames-1)
		}
		r.to.Text(appendName(r.text[:0], name))
		r.address()
		r.digits(16, "")
		r.ints(loadedAt)
		credit := "GC"
		if r.percent(10) {
			credit = "BC"
		}
		r.to.Text(append(r.text[:0], credit...))
		r.ints(5_000_000, r.between(0, 5000), -loadedAmount, loadedAmount, 1, 0)
		r.letters(300, customerDataMost)
	})
}

func (w *orders) writeHistory(batch int64, to filewise.RowWriter) error {
	r := w.batch("history", batch, to)
	wh, di := batch/districts+1, batch%districts+1
	return r.each(1, w.customers, func(c int64) {
		r.ints(c, di, wh, di, wh, loadedAt, loadedAmount)
		r.letters(12, 24)
	})
}

func (w *orders) writeNewOrders(batch int64, to filewise.RowWriter) error {
	r := rowOf{to: to}
	return r.each(w.delivered()+1, w.customers, func(o int64) {
		r.ints(batch/districts+1, batch%districts+1, o)
	})
}

// writeOrders writes one order of each customer, with customers in a random order (4.3.3.1). It steps through the
// customers with a step that has no factor in common with their number.
func (w *orders) writeOrders(batch int64, to filewise.RowWriter) error {
	r := w.batch("orders", batch, to)
	step, from := r.between(w.customers/3, w.customers/2), r.between(0, w.customers-1)
	for gcd(step, w.customers) != 1 {
		step++
	}
	return r.each(1, w.customers, func(o int64) {
		r.ints(batch/districts+1, batch%districts+1, o, (o*step+from)%w.customers+1, loadedAt)
		carrier := r.between(1, 10)
		if o <= w.delivered() {
			to.Int(carrier)
		} else {
			to.Null()
		}
		r.ints(w.linesOf(batch, o), 1)
	})
}

func (w *orders) writeLines(batch int64, to filewise.RowWriter) error {
	r := w.batch("order_line", batch, to)
	wh := batch/districts + 1
	for o := int64(1); o <= w.customers; o++ {
		err := r.each(1, w.linesOf(batch, o), func(n int64) {
			r.ints(wh, batch%districts+1, o, n, r.between(1, w.items), wh)
			amount := r.between(1, 999_999)
			if o <= w.delivered() {
				r.ints(loadedAt, 5, 0)
			} else {
				to.Null()
				r.ints(5, amount)
			}
			r.letters(24, 24)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *orders) writeItems(batch int64, to filewise.RowWriter) error {
	r := w.batch(tableItem, batch, to)
	return r.each(batch*itemBatchRows+1, min((batch+1)*itemBatchRows, w.items), func(i int64) {
		r.ints(i, r.between(1, 10_000))
		r.letters(14, 24)
		r.ints(r.between(100, 10_000))
		r.data()
	})
}

func (w *orders) writeStock(batch int64, to filewise.RowWriter) error {
	r := w.batch("stock", batch, to)
	perWarehouse := (w.items + itemBatchRows - 1) / itemBatchRows
	part := batch % perWarehouse
	return r.each(part*itemBatchRows+1, min((part+1)*itemBatchRows, w.items), func(i int64) {
		r.ints(batch/perWarehouse+1, i, r.between(10, 100))
		for range districts {
			r.letters(24, 24)
		}
		r.ints(0, 0, 0)
		r.data()
	})
}
