package sqlite

import (
	"database/sql/driver"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The kinds of transactions, by their sections.
const (
	kindNewOrder    = "new-order"
	kindPayment     = "payment"
	kindOrderStatus = "order-status"
	kindDelivery    = "delivery"
	kindStockLevel  = "stock-level"
)

var orderKinds = []string{kindNewOrder, kindPayment, kindOrderStatus, kindDelivery, kindStockLevel}

const districts = 10

// orderTransaction is a transaction with its arguments, as package workload's
// orders.go lists them.
type orderTransaction struct {
	kind string
	ints []int64 // the whole numbers, in order
	name string  // of a customer. Empty means by number
	// lines of a new-order: item, supplying warehouse and quantity
	lines [][3]int64
}

// shapeOf are the types of the arguments: i a number, s a name, l a list.
var shapeOf = map[string]string{
	kindNewOrder: "iiiilll", kindPayment: "iiiiisii", kindOrderStatus: "iiis", kindDelivery: "iii", kindStockLevel: "iii",
}

// readTransaction parses the arguments of a transaction of that kind. It returns an error if their number or types differ.
func readTransaction(kind string, args []any) (*orderTransaction, error) {
	want, ok := shapeOf[kind]
	if !ok || len(args) != len(want) {
		return nil, fmt.Errorf("%q with %d arguments", kind, len(args))
	}
	t := &orderTransaction{kind: kind}
	column := 0
	for i, a := range args {
		number, isNumber := a.(int64)
		text, isText := a.(string)
		switch {
		case want[i] == 'i' && isNumber:
			t.ints = append(t.ints, number)
		case want[i] == 's' && isText:
			t.name = text
		case want[i] == 'l' && isText:
			if err := t.readList(text, column); err != nil {
				return nil, fmt.Errorf("%s, argument %d: %w", kind, i+1, err)
			}
			column++
		default:
			return nil, fmt.Errorf("%s, argument %d is a %T", kind, i+1, a)
		}
	}
	return t, nil
}

// readList reads a column of the lines.
func (t *orderTransaction) readList(text string, column int) error {
	n := 0
	for word := range strings.SplitSeq(text, ",") {
		v, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return err
		}
		if column == 0 {
			t.lines = append(t.lines, [3]int64{})
		}
		if n >= len(t.lines) {
			return fmt.Errorf("%q has more than %d values", text, len(t.lines))
		}
		t.lines[n][column] = v
		n++
	}
	if n != len(t.lines) {
		return fmt.Errorf("%q has %d values, expected %d", text, n, len(t.lines))
	}
	return nil
}

// reads reports whether the transaction writes nothing.
func (t *orderTransaction) reads() bool { return t.kind == kindOrderStatus || t.kind == kindStockLevel }

// files returns the files that the transaction works on, in order.
func (t *orderTransaction) files(s *shape, home int) []int {
	all := []int{home}
	switch t.kind {
	case kindNewOrder:
		for _, l := range t.lines {
			all = append(all, s.fileOfWarehouse(l[1]))
		}
	case kindPayment:
		all = append(all, s.fileOfWarehouse(t.ints[2]))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// execute executes the transaction between its begin and its end.
func (t *orderTransaction) execute(x *tx) (rolledBack bool, err error) {
	switch t.kind {
	case kindNewOrder:
		rolledBack = t.newOrder(x)
	case kindPayment:
		t.payment(x)
	case kindOrderStatus:
		t.orderStatus(x)
	case kindDelivery:
		t.delivery(x)
	default:
		t.stockLevel(x)
	}
	return rolledBack, x.err
}

// newOrder is clause 2.4.2; an item that does not exist rolls it back.
func (t *orderTransaction) newOrder(x *tx) (rolledBack bool) {
	w, d, c, at := t.ints[0], t.ints[1], t.ints[2], t.ints[3]
	customer := x.row("new-order-customer", w, w, d, c)
	wTax := x.number("new-order-warehouse", w, w)
	district := x.row("new-order-district", w, w, d)
	o, allLocal := district[0], int64(1)
	for _, l := range t.lines {
		if l[1] != w {
			allLocal = 0
		}
	}
	x.exec("new-order-order", w, w, d, o, c, at, int64(len(t.lines)), allLocal)
	x.exec("new-order-new", w, w, d, o)
	total := int64(0)
	for n, l := range t.lines {
		amount, missing := t.line(x, o, int64(n+1), l)
		if missing {
			return true
		}
		total += amount
	}
	discount, _ := customer[0].(int64)
	dTax, _ := district[1].(int64)
	_ = total * (10_000 - discount) / 10_000 * (10_000 + wTax + dTax) / 10_000 // what a terminal would show
	return false
}

// line orders one item; missing: there is no such item.
func (t *orderTransaction) line(x *tx, o driver.Value, n int64, l [3]int64) (amount int64, missing bool) {
	w, d := t.ints[0], t.ints[1]
	item := x.first("new-order-item", w, l[0])
	if item == nil {
		return 0, true
	}
	remote := int64(0)
	if l[1] != w {
		remote = 1
	}
	stock := x.row("new-order-stock", l[1], l[1], l[0], l[2], remote, d)
	price, _ := item[0].(int64)
	amount = price * l[2]
	x.exec("new-order-line", w, w, d, o, n, l[0], l[1], l[2], amount, stock[0])
	return amount, false
}

// payment is clause 2.5.2.
func (t *orderTransaction) payment(x *tx) {
	w, d, cw, cd, c, amount, at := t.ints[0], t.ints[1], t.ints[2], t.ints[3], t.ints[4], t.ints[5], t.ints[6]
	warehouse := x.row("payment-warehouse", w, w, amount)
	district := x.row("payment-district", w, w, d, amount)
	c = t.customer(x, cw, cd, c)
	x.row("payment-customer", cw, cw, cd, c, amount, w, d)
	x.exec("payment-history", w, c, cd, cw, d, w, at, amount, fmt.Sprint(warehouse[0], "    ", district[0]))
}

// customer returns the customer of that number, or of that name.
func (t *orderTransaction) customer(x *tx, w, d, c int64) int64 {
	if c != 0 {
		return c
	}
	return x.number("customer-by-name", w, w, d, t.name)
}

// orderStatus is clause 2.6.2.
func (t *orderTransaction) orderStatus(x *tx) {
	w, d := t.ints[0], t.ints[1]
	c := t.customer(x, w, d, t.ints[2])
	x.row("order-status-customer", w, w, d, c)
	if order := x.first("order-status-order", w, w, d, c); order != nil {
		x.exec("order-status-lines", w, w, d, order[0])
	}
}

// delivery is clause 2.7.4, of all districts of the warehouse.
func (t *orderTransaction) delivery(x *tx) {
	w, carrier, at := t.ints[0], t.ints[1], t.ints[2]
	for d := int64(1); d <= districts; d++ {
		oldest := x.first("delivery-oldest", w, w, d)
		if oldest == nil { // it has no order left to deliver
			continue
		}
		o := oldest[0]
		x.exec("delivery-delete", w, w, d, o)
		c := x.number("delivery-order", w, w, d, o, carrier)
		x.exec("delivery-lines", w, w, d, o, at)
		sum := x.number("delivery-sum", w, w, d, o)
		x.exec("delivery-customer", w, w, d, c, sum)
	}
}

// stockLevel is clause 2.8.2.
func (t *orderTransaction) stockLevel(x *tx) {
	w, d, threshold := t.ints[0], t.ints[1], t.ints[2]
	next := x.number("stock-level-next", w, w, d)
	x.number("stock-level-count", w, w, d, next, threshold)
}
