package workload

import (
	"time"

	"filewise"
)

// Workload orders is derived from the TPC-C specification, revision 5.11, and not comparable with published results.
// Clauses below refer to that text. An engine's orders.sql has these sections; engine/internal/orders holds the last
// three for all engines:
//
//	tables        the nine tables with their keys: warehouse, district, customer, history, new_order,
//	              orders, order_line, item, stock (columns: orderColumns), and what transactions call
//	indexes       of customer (c_w_id, c_d_id, c_last, c_first) and orders (o_w_id, o_d_id, o_c_id, o_id),
//	              and other keys, where they are cheaper made after the load
//	statement-T   one call that is one transaction of type T, with the arguments below, in order
//	check-01 … 12 the number of violations of the consistency conditions 3.3.2.1 … 3.3.2.12, one row of
//	              one column; condition 11 is that orders less new-orders are those loaded as delivered
//	              (.Delivered a district) and the deliveries counted in c_delivery_cnt
//	totals        for each file a row: orders, order lines, rows of history, sums of h_amount, w_ytd,
//	              d_ytd, s_ytd, s_order_cnt, s_remote_cnt and c_payment_cnt
//	loaded        a row for each table, by its number in the list above from 1 (some per file are
//	              added up): rows, the sum of all whole-number columns (NULL is 0), and the sum of
//	              the lengths of all text columns; item counts once
//
// Amounts are whole cents, taxes and discounts ten-thousandths, moments seconds: integers in every engine, so that
// sums are exact. Arguments are integers and text; lists are text, separated by commas, which engines split:
//
//	new-order     w, d, c, at, items, supplying warehouses, quantities → order's number, total; an item
//	              that does not exist ends it: it rolls back and returns −1, 0 (2.4.2.3)
//	payment       w, d, customer's w, customer's d, c (0: by name), last name, cents, at → c
//	order-status  w, d, c (0: by name), last name → c_balance, o_id (0: none), number of lines
//	delivery      w, carrier, at → orders delivered, of all ten districts in one transaction (2.7)
//	stock-level   w, d, threshold → number of items
//
// With .Churn there is another section, churn, which takes a number that is unique in the build. It creates a table
// named after the number, with one column, char(1000) not null, inserts a row and drops the table. Sessions call it
// before each transaction, not within it, because DDL commits on some engines.
//
// An operation that rolls back as the specification demands counts as completed in ledgers and measures. It is a
// separate type there, so that new-orders per minute are committed orders.
const (
	kindNewOrder = iota
	kindPayment
	kindOrderStatus
	kindDelivery
	kindStockLevel
	kindRolledBack
)

// Names of the types of transactions, and the section of each.
var (
	orderTypes    = []string{"new-order", "payment", "order-status", "delivery", "stock-level", "new-order rolled back"}
	orderSections = []string{"new-order", "payment", "order-status", "delivery", "stock-level", "new-order"}
)

// Sizes of clauses 1.2.1 and 4.3.3, at scale 1.
const (
	districts        = 10    // per warehouse
	specCustomers    = 3_000 // per district; there are as many orders
	specItems        = 100_000
	leastCustomers   = 30
	leastItems       = 200
	maxLines         = 15
	maxWarehouses    = 10_000
	maxLevels        = 20
	maxThink         = 10.0
	maxRate          = 1e6
	OperationOrders  = "orders"
	UnitTransactions = "transactions"
	// orderBytes is the average payload that a transaction inserts: 0.45 × (10 lines of 55 bytes and 40 of the order) and
	// 0.43 × a history of 50.
	orderBytes = 290
	churnBytes = 1000
)

// NewOrders returns the workload of scenario orders.
func NewOrders(p Params, seed uint64) (filewise.Workload, error) {
	if err := p.validateOrders(); err != nil {
		return nil, err
	}
	w := &orders{params: p, seed: seed, warehouses: int64(p.Warehouses),
		customers: max(int64(specCustomers*p.Scale+0.5), leastCustomers),
		items:     max(int64(specItems*p.Scale+0.5), leastItems),
	}
	w.chance = newChance(w, seed)
	levels := p.Users
	if len(levels) == 0 {
		levels = []int{p.Connections}
	}
	for i, n := range levels {
		operation := OperationOrders
		if len(p.Users) > 0 {
			operation = UsersOperation(n)
		}
		args := orderArgs{w, i}
		phase := p.paced(filewise.Phase{
			Operation: operation, Unit: UnitTransactions, Connections: n, CommitEvery: 1, OpBytes: w.opBytes(), Client: true,
			Types: orderTypes, Sections: orderSections, Args: args, Churns: p.Churn,
		}, filewise.MeanLatency, filewise.P99Latency)
		if p.Think > 0 {
			phase.Pause = args.pause
		}
		w.phases = append(w.phases, phase)
	}
	return w, nil
}

// UsersOperation returns the operation of a load level, such as "100 users".
func UsersOperation(n int) string { return filewise.Counted(n, "user") }

type orders struct {
	params                       Params
	seed                         uint64
	warehouses, customers, items int64
	chance                       chance
	phases                       []filewise.Phase
}

func (w *orders) opBytes() int64 {
	if w.params.Churn {
		return orderBytes + churnBytes
	}
	return orderBytes
}

// delivered returns how many of a district's loaded orders are delivered: 2,100 of 3,000 (4.3.3.1).
func (w *orders) delivered() int64 { return w.customers - w.customers*3/10 }

// Program describes the workload to an engine.
func (w *orders) Program() filewise.Program {
	return filewise.Program{
		Workload: "orders", Phases: w.phases,
		// A failed transaction has left nothing, so it is retried as a whole.
		Retry:  []filewise.Class{filewise.ClassDeadlock, filewise.ClassSerialization, filewise.ClassLockTimeout},
		Params: OrdersSizes{w.warehouses, districts, w.customers, w.items, w.delivered()},
		Tables: w.tables(), Sharding: &filewise.Sharding{Of: "warehouse", Option: "--warehouses", Values: w.warehouses},
	}
}

// OrdersSizes holds the numbers that the sizes of all tables follow from. Districts is per warehouse. Customers is per
// district, which has as many orders; Delivered of these are delivered. Items is for all warehouses.
type OrdersSizes struct{ Warehouses, Districts, Customers, Items, Delivered int64 }

func (p Params) validateOrders() error {
	usage := func(remedy, format string, args ...any) error {
		return filewise.Errorf(filewise.CodeUsage, remedy, format, args...)
	}
	switch {
	case p.Warehouses < 1 || p.Warehouses > maxWarehouses:
		return usage(within("--warehouses", p.Warehouses, maxWarehouses), "--warehouses %d is not between 1 and %d", p.Warehouses, maxWarehouses)
	case !(p.Scale > 0 && p.Scale <= 1):
		return usage("give --scale 1 for the specification's sizes, or less", "--scale %v is not above 0 and at most 1", p.Scale)
	case !(p.Think >= 0 && p.Think <= maxThink):
		return usage("give --think 1 for the specification's times, 0 for none", "--think %v is not between 0 and %v", p.Think, maxThink)
	case p.Rate > 0 && p.Think > 0:
		return usage("leave one of them out", "--rate %v and --think %v: an open loop does not wait for answers to think about", p.Rate,
			p.Think)
	}
	return p.validateLevels()
}

// Keying times of the five types, and means of their think times (5.2.5.7), in seconds.
var (
	keyingTimes = [...]float64{18, 3, 2, 2, 2}
	thinkTimes  = [...]float64{12, 12, 10, 5, 5}
)

// pause returns the pause before operation i. It is the think time after the operation before, plus the keying time of
// this operation. Think times have a negative exponential distribution cut at ten times the mean (5.2.5.4). The first
// pause is random, so that users do not start all at once.
func (a orderArgs) pause(worker int, i int64) time.Duration {
	d := a.w.dice(saltPause+uint64(a.phase), uint64(worker), uint64(i))
	kind := a.kind(worker, i)
	seconds := keyingTimes[kind]
	if i == 0 {
		seconds = d.fraction() * (seconds + thinkTimes[kind])
	} else {
		mean := thinkTimes[a.kind(worker, i-1)]
		seconds += min(d.exponential()*mean, 10*mean)
	}
	return time.Duration(seconds * a.w.params.Think * float64(time.Second))
}

// ordersScenario returns the scenario that repeats Shea's experiment with a workload derived from TPC-C, at a size that
// loads in seconds.
func ordersScenario() Scenario {
	return Scenario{
		Name:  "orders",
		Title: "Order processing, by number of data files",
		Summary: "Five transactions of a wholesaler, from new orders to deliveries, are executed by connections that each work for one " +
			"warehouse, " +
			"on data that are loaded before every trial. Measured are transactions per second, and the latency of each type. " +
			"The workload is derived from the TPC-C specification and not comparable with published TPC results.",
		Source: Source{
			Author: "Linchi Shea", Title: "How Many Data Files Should I Create for a User Database?", Where: "SQLblog", Year: 2007,
		},
		Files: []int{1, 2, 4}, PerCore: true,
		Bytes: 256 << 20,
		Params: Params{
			Connections: 8, CommitEvery: 1, Table: TableShared, Key: KeySequential, RowBytes: orderBytes,
			Warehouses: 4, Scale: 0.1,
		},
		Published: []Figure{
			{Files: 4, Against: 1, Sign: 0, Variant: VariantPlain,
				Words: "the five transactions alone: little to no difference, even under heavy load"},
			{Files: 4, Against: 1, Sign: 0, Variant: VariantChurn, MostUsers: 100,
				Words: "with --churn, up to 100 users: the curves of 1 and 4 files lie together"},
			{Files: 4, Against: 1, Sign: +1, Variant: VariantChurn, LeastUsers: 200,
				Words: "with --churn, from 200 users: 4 files hold their throughput, while 1 file's declines sharply"},
			{Files: 4, Against: 1, Sign: +1, Variant: VariantChurn, LeastUsers: 600,
				Words: "with --churn, at 600 users: 4 files give up to 50 % more transactions"},
			{Files: 64, Against: 4, Apart: true, Words: "64 files, tried out of curiosity, stand apart from the rest (published as a chart)"},
		},
		Notes: []string{
			"The original had 1,000 warehouses, about 160 GB, on SQL Server with 4 cores and one drive, 1 to 64 files, and up to 600 users; its " +
				"numbers are in charts, so that only its words are repeated here.",
			"The default here is 4 warehouses with a tenth of the specification's customers and items: --warehouses 1000 --scale 1 is the " +
				"original's size.",
			"With --churn a table is created, filled and dropped before each transaction, not within it as published: DDL commits on some engines.",
			"Amounts are whole cents, and connections do not think between transactions unless --think is given.",
		},
		Flags: []string{"warehouses", "scale", "users", "think", "rate", "churn", "p99-limit", "window", "warm-up", "measure", "work",
			"as-published"},
		Budget: phasedBudget,
		New:    NewOrders, Design: ordersDesign(),
	}
}
