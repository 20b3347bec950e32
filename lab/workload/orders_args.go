package workload

import (
	"cmp"
	"slices"
	"strconv"
	"sync"

	"filewise"
)

// orderArgs generates the transactions of a phase. The types come from a deck of 100 cards per worker, shuffled again
// after 100 operations: 45 new-orders, 43 payments, and 4 of each other type. Clause 5.2.4.2 sets minimum shares for
// the others; new-orders make up the rest.
type orderArgs struct {
	w     *orders
	phase int
}

// transaction holds the arguments of an operation.
type transaction struct {
	kind            int
	w, d, c         int64 // if c is 0, the customer is chosen by name
	custW, custD    int64
	name            int64 // −1 means none
	amount, carrier int64
	threshold, at   int64
	n               int // number of lines
	lines           [maxLines]orderedLine
}

type orderedLine struct{ item, supply, quantity int64 }

// loadedAt is the time of all loaded data, in seconds since 1970.
const loadedAt = 1_000_000_000

// card returns the card of operation i from a deck of 100 cards. Each card comes once in 100 operations, so that the
// shares of types also hold in short windows. Hash returns a random number for a deck.
func card(i int64, hash func(deck uint64) uint64) uint64 {
	h := hash(uint64(i / 100))
	return (uint64(i%100)*strides[h%uint64(len(strides))] + h>>32) % 100
}

// strides have no factor in common with 100 and are not close to its multiples.
var strides = [...]uint64{13, 17, 19, 21, 23, 27, 29, 31, 37, 39, 41, 43, 57, 59, 61, 63, 67, 69, 71, 73}

// TypeOf returns the type of operation i of the worker.
func (a orderArgs) TypeOf(worker int, i int64) int {
	kind := a.kind(worker, i)
	if kind == kindNewOrder && a.w.hash(saltRollback+uint64(a.phase), uint64(worker), uint64(i))%100 == 0 {
		return kindRolledBack
	}
	return kind
}

// kind returns the type of an operation, ignoring rollbacks.
func (a orderArgs) kind(worker int, i int64) int {
	drawn := card(i, func(deck uint64) uint64 { return a.w.hash(saltDeck+uint64(a.phase), uint64(worker), deck) })
	switch {
	case drawn < 45:
		return kindNewOrder
	case drawn < 88:
		return kindPayment
	case drawn < 92:
		return kindOrderStatus
	case drawn < 96:
		return kindDelivery
	}
	return kindStockLevel
}

// draw fills in operation i of the worker. A worker's warehouse never changes.
func (a orderArgs) draw(t *transaction, worker int, i int64) {
	w := a.w
	d := w.dice(saltOperation+uint64(a.phase), uint64(worker), uint64(i))
	*t = transaction{kind: a.TypeOf(worker, i), w: int64(worker)%w.warehouses + 1, d: d.between(1, districts), name: -1, at: loadedAt + 1 + i}
	switch t.kind {
	case kindNewOrder, kindRolledBack:
		t.c = d.nonUniform(w.chance.customerA, w.chance.customer, 1, w.customers)
		a.drawLines(t, &d)
	case kindPayment:
		t.custW, t.custD = t.w, t.d
		if w.warehouses > 1 && d.percent(15) {
			t.custW, t.custD = w.otherThan(t.w, &d), d.between(1, districts)
		}
		w.drawCustomer(t, &d)
		t.amount = d.between(100, 500_000)
	case kindOrderStatus:
		w.drawCustomer(t, &d)
	case kindDelivery:
		t.carrier = d.between(1, 10)
	case kindStockLevel:
		t.d, t.threshold = int64(worker)/w.warehouses%districts+1, d.between(10, 20)
	}
}

// drawLines draws the lines of an order, sorted by stock. So two orders for the same items wait for each other and do
// not deadlock. An item that does not exist comes last.
func (a orderArgs) drawLines(t *transaction, d *dice) {
	w := a.w
	t.n = int(d.between(5, maxLines))
	for l := range t.n {
		x := orderedLine{d.nonUniform(w.chance.itemA, w.chance.item, 1, w.items), t.w, d.between(1, 10)}
		if w.warehouses > 1 && d.percent(1) {
			x.supply = w.otherThan(t.w, d)
		}
		t.lines[l] = x
	}
	sorted := t.lines[:t.n]
	if t.kind == kindRolledBack {
		t.lines[t.n-1].item = w.items + 1
		sorted = sorted[:t.n-1]
	}
	slices.SortFunc(sorted, func(a, b orderedLine) int {
		return cmp.Or(cmp.Compare(a.supply, b.supply), cmp.Compare(a.item, b.item))
	})
}

// drawCustomer chooses a customer, in 60 % of cases by last name (2.5.1.2).
func (w *orders) drawCustomer(t *transaction, d *dice) {
	if d.percent(60) {
		t.name = d.nonUniform(nameA, w.chance.nameRun, 0, w.chance.names-1)
		return
	}
	t.c = d.nonUniform(w.chance.customerA, w.chance.customer, 1, w.customers)
}

// otherThan returns a random warehouse other than home.
func (w *orders) otherThan(home int64, d *dice) int64 {
	other := d.between(1, w.warehouses-1)
	if other >= home {
		other++
	}
	return other
}

// Args appends the arguments of operation i of the worker.
func (a orderArgs) Args(dst []any, worker int, i int64) []any {
	to := boxes{dst}
	a.WriteArgs(&to, worker, i)
	return to.all
}

// boxes is a RowWriter that collects values.
type boxes struct{ all []any }

func (b *boxes) Int(v int64)     { b.all = append(b.all, v) }
func (b *boxes) Float(v float64) { b.all = append(b.all, v) }
func (b *boxes) Text(v []byte)   { b.all = append(b.all, string(v)) }
func (b *boxes) Null()           { b.all = append(b.all, nil) }
func (b *boxes) EndRow() error   { return nil }

// scratch is the memory that WriteArgs works in. It is pooled, because it would otherwise be allocated for each
// operation: text is passed through an interface.
type scratch struct {
	t    transaction
	text []byte
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// WriteArgs writes the arguments of operation i of the worker.
func (a orderArgs) WriteArgs(to filewise.RowWriter, worker int, i int64) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	t := &s.t
	a.draw(t, worker, i)
	to.Int(t.w)
	switch t.kind {
	case kindNewOrder, kindRolledBack:
		to.Int(t.d)
		to.Int(t.c)
		to.Int(t.at)
		for _, of := range [...]func(orderedLine) int64{lineItem, lineSupply, lineQuantity} {
			s.text = s.text[:0]
			for _, l := range t.lines[:t.n] {
				s.text = append(strconv.AppendInt(s.text, of(l), 10), ',')
			}
			to.Text(s.text[:len(s.text)-1])
		}
	case kindPayment:
		to.Int(t.d)
		to.Int(t.custW)
		to.Int(t.custD)
		s.customer(to)
		to.Int(t.amount)
		to.Int(t.at)
	case kindOrderStatus:
		to.Int(t.d)
		s.customer(to)
	case kindDelivery:
		to.Int(t.carrier)
		to.Int(t.at)
	case kindStockLevel:
		to.Int(t.d)
		to.Int(t.threshold)
	}
}

func lineItem(l orderedLine) int64     { return l.item }
func lineSupply(l orderedLine) int64   { return l.supply }
func lineQuantity(l orderedLine) int64 { return l.quantity }

// customer writes the customer's number and name. One of the two is empty.
func (s *scratch) customer(to filewise.RowWriter) {
	to.Int(s.t.c)
	s.text = s.text[:0]
	if s.t.name >= 0 {
		s.text = appendName(s.text, s.t.name)
	}
	to.Text(s.text)
}

// Pool returns "", because the client sends all arguments.
func (orderArgs) Pool() string { return "" }
