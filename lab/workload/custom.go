package workload

import (
	"context"
	"database/sql/driver"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"filewise"
)

// Custom is a workload of the user's own SQL, from a study file.
type Custom struct {
	Tables  []filewise.CustomTable `json:"tables,omitempty"`
	ShardBy string                 `json:"shard_by,omitempty"`
	Setup   Script                 `json:"setup,omitzero"`
	From    string                 `json:"from,omitempty"` // a dump, which replaces Setup
	// Origin is the database that Filewise takes the dump from. From is then its URL.
	Origin       *filewise.Address `json:"origin,omitempty"`
	Parameters   []Parameter       `json:"parameters,omitempty"`
	Transactions []Transaction     `json:"transactions"`
	Checks       []CustomCheck     `json:"checks,omitempty"`
	Think        Think             `json:"think,omitzero"`
}

// Script is SQL by engine, if it differs between engines. The key "" holds the SQL for all other engines.
type Script map[string][]filewise.CustomText

// Transaction is one type of operation. Its statements form one transaction.
type Transaction struct {
	Name   string `json:"name"`
	Weight int    `json:"weight"`
	SQL    Script `json:"sql"`
}

// CustomCheck is a query with the result it must return.
type CustomCheck struct {
	Query Script `json:"query"`
	// NoRows means that the query must return no rows. Otherwise it must return one value: Expect, or, if Committed names
	// a type of transaction, Plus + Each × the number of these that are committed.
	NoRows    bool   `json:"no_rows,omitempty"`
	Expect    string `json:"expect,omitempty"`
	Committed string `json:"committed,omitempty"`
	Each      int64  `json:"each,omitempty"`
	Plus      int64  `json:"plus,omitempty"`
}

// Names of workload custom.
const (
	OperationCustom    = "custom"
	sectionTransaction = "transaction-" // prefix of a type's section
	sectionCheck       = "check-"
	// maxTypes bounds the types that are measured separately.
	maxTypes = 50
)

// For returns the workload with the SQL for one engine. If a script has none for the engine, it takes the SQL of the
// engines in understands, then the SQL for all. If there is none, the error names the script and wraps ErrUnsupported.
func (c Custom) For(engine string, understands ...string) (Custom, error) {
	pick := func(what string, s Script) (Script, error) {
		if len(s) == 0 {
			return nil, nil
		}
		for _, name := range append(append([]string{engine}, understands...), "") {
			if texts, ok := s[name]; ok {
				return Script{"": texts}, nil
			}
		}
		place := ""
		for _, name := range slices.Sorted(maps.Keys(s)) {
			if texts := s[name]; len(texts) > 0 {
				place = texts[0].Place(0) + ": "
				break
			}
		}
		return nil, filewise.Errorf(filewise.CodeUsage, "add SQL for "+engine+", or for all by the key default",
			"%scustom: %s has no SQL for %s: %w", place, what, engine, filewise.ErrUnsupported)
	}
	var err error
	if c.Setup, err = pick("setup", c.Setup); err != nil {
		return c, err
	}
	c.Transactions, c.Checks = slices.Clone(c.Transactions), slices.Clone(c.Checks)
	for i := range c.Transactions {
		if c.Transactions[i].SQL, err = pick("transaction "+c.Transactions[i].Name, c.Transactions[i].SQL); err != nil {
			return c, err
		}
	}
	for i := range c.Checks {
		if c.Checks[i].Query, err = pick(fmt.Sprintf("check %d", i+1), c.Checks[i].Query); err != nil {
			return c, err
		}
	}
	return c, nil
}

// Restored reports whether a dump fills the builds. It is false for nil.
func (c *Custom) Restored() bool { return c != nil && c.From != "" }

// NewCustom returns the workload of scenario custom.
func NewCustom(p Params, seed uint64) (filewise.Workload, error) {
	if p.Custom == nil {
		return nil, filewise.Errorf(filewise.CodeUsage, `write one by "filewise init custom -o my.yaml", and run filewise run my.yaml`,
			"scenario custom is your own SQL, which a study file has")
	}
	if err := p.validateLevels(); err != nil {
		return nil, err
	}
	if err := p.Custom.validate(); err != nil {
		return nil, err
	}
	return newCustom(p, *p.Custom, seed)
}

// Without returns the workload without some of its types of transactions. At least one type must be left.
func (w *custom) Without(types []string) (filewise.Workload, error) {
	c := w.Custom
	c.Transactions = slices.DeleteFunc(slices.Clone(c.Transactions), func(t Transaction) bool { return slices.Contains(types, t.Name) })
	return newCustom(w.params, c, w.seed)
}

// Share returns a type's share of all transactions, from 0 to 1.
func (w *custom) Share(name string) float64 {
	for _, t := range w.Transactions {
		if t.Name == name {
			return float64(t.Weight) / float64(w.total)
		}
	}
	return 0
}

func newCustom(p Params, of Custom, seed uint64) (*custom, error) {
	w := &custom{params: p, seed: seed, Custom: of}
	w.sql = w.customSQL()
	for _, t := range w.Transactions {
		w.total += uint64(t.Weight)
		w.bounds = append(w.bounds, w.total)
	}
	if err := w.prepare(); err != nil {
		return nil, err
	}
	levels := p.Users
	if len(levels) == 0 {
		levels = []int{p.Connections}
	}
	for i, n := range levels {
		w.phases = append(w.phases, w.phase(i, n))
	}
	return w, nil
}

type custom struct {
	Custom
	params Params
	seed   uint64
	sql    *filewise.CustomSQL
	bounds []uint64 // cumulative weights
	total  uint64
	draws  []draw  // per parameter
	needed [][]int // per type: indexes of its parameters
	phases []filewise.Phase
}

func (w *custom) phase(i, connections int) filewise.Phase {
	operation := OperationCustom
	if len(w.params.Users) > 0 {
		operation = UsersOperation(connections)
	}
	args := customArgs{w, uint64(i), int64(connections)}
	p := filewise.Phase{Operation: operation, Unit: UnitTransactions, Connections: connections, CommitEvery: 1, Client: true,
		Rate: w.params.Rate, Args: args}
	for _, t := range w.Transactions {
		p.Types, p.Sections = append(p.Types, t.Name), append(p.Sections, sectionTransaction+t.Name)
	}
	if w.Think.Mean > 0 && p.Rate == 0 {
		p.Pause = args.pause
	}
	return p
}

// parameterUse finds possible uses of parameters. Matches that are no parameter do no harm.
var parameterUse = regexp.MustCompile(`:([A-Za-z_][A-Za-z0-9_]*)`)

// customSQL returns the SQL that the engines execute. It also records which parameters each type needs.
func (w *custom) customSQL() *filewise.CustomSQL {
	all := &filewise.CustomSQL{Tables: w.Tables, Setup: w.Setup[""], From: w.From,
		Sections: map[string]filewise.CustomSection{}, ShardBy: w.ShardBy}
	for _, t := range w.Transactions {
		used := map[string]bool{w.ShardBy: true}
		for _, text := range t.SQL[""] {
			for _, m := range parameterUse.FindAllStringSubmatch(text.Text, -1) {
				used[m[1]] = true
			}
		}
		section := filewise.CustomSection{Texts: t.SQL[""]}
		var needed []int
		for i, p := range w.Parameters {
			if used[p.Name] {
				section.Params, needed = append(section.Params, p.Name), append(needed, i)
				if p.chance() {
					section.Drawn = append(section.Drawn, p.Name)
				}
			}
		}
		w.needed = append(w.needed, needed)
		all.Sections[sectionTransaction+t.Name] = section
	}
	for i, c := range w.Checks {
		all.Sections[fmt.Sprintf("%s%d", sectionCheck, i+1)] = filewise.CustomSection{Texts: c.Query[""]}
	}
	return all
}

// Program describes the workload to an engine.
func (w *custom) Program() filewise.Program {
	return filewise.Program{
		Workload: "custom",
		// An operation that failed with one of these classes has left nothing, so it is retried as a whole.
		Retry:  []filewise.Class{filewise.ClassDeadlock, filewise.ClassSerialization, filewise.ClassLockTimeout, filewise.ClassDuplicate},
		Phases: w.phases, Custom: w.sql,
	}
}

// Check runs the user's checks against the transactions committed in the phases up to this one.
func (w *custom) Check(ctx context.Context, q filewise.Querier, phase int, ledgers []filewise.Ledger) error {
	if err := phaseOf(phase, len(w.phases), ledgers); err != nil {
		return err
	}
	for i, c := range w.Checks {
		rows, err := q.Query(ctx, fmt.Sprintf("%s%d", sectionCheck, i+1))
		if err != nil {
			return fmt.Errorf("check %d: %w", i+1, err)
		}
		want := c.Expect
		if c.Committed != "" {
			want = fmt.Sprint(c.Plus + c.Each*w.committed(c.Committed, ledgers[:phase+1]))
		}
		if err := c.compare(rows, want); err != nil {
			return fmt.Errorf("%w: %s: check %d: %w", filewise.ErrCheck, c.Query[""][0].Place(0), i+1, err)
		}
	}
	return nil
}

// committed returns how many transactions of a type the phases have committed. A ledger counts the first operations of
// each connection.
func (w *custom) committed(name string, ledgers []filewise.Ledger) int64 {
	kind := slices.IndexFunc(w.Transactions, func(t Transaction) bool { return t.Name == name })
	if kind < 0 { // the type is left out
		return 0
	}
	var n int64
	for phase, l := range ledgers {
		args := w.phases[phase].Args.(filewise.TypedArgs)
		for worker, ops := range l {
			if len(w.Transactions) == 1 {
				n += ops
				continue
			}
			for i := range ops {
				if args.TypeOf(worker, i) == kind {
					n++
				}
			}
		}
	}
	return n
}

// compare checks the rows against the expected result. If the data are in several files, each file returns rows, and
// single numbers are added up.
func (c CustomCheck) compare(rows [][]any, want string) error {
	if c.NoRows {
		if len(rows) == 0 {
			return nil
		}
		return fmt.Errorf("it should return no rows, and returned %d, the first of them %s", len(rows), shortRow(rows[0]))
	}
	if len(rows) == 0 {
		return fmt.Errorf("it should return %s, and returned no rows", want)
	}
	var sum int64
	whole := true
	for _, row := range rows {
		if len(row) != 1 {
			return fmt.Errorf("it should return one value, and returned a row of %d: %s", len(row), shortRow(row))
		}
		n, err := signed(plain(row[0]))
		if err != nil {
			whole = false
			break
		}
		sum += n
	}
	found := fmt.Sprint(sum)
	if !whole {
		if len(rows) > 1 {
			return fmt.Errorf("it should return one value, and returned %d rows, the first of them %s", len(rows), shortRow(rows[0]))
		}
		found = shortRow(rows[0])
	}
	if found != want && !sameNumber(found, want) {
		return fmt.Errorf("it should return %s, and returned %s", want, found)
	}
	return nil
}

// plain converts a driver's own type to a type of database/sql.
func plain(v any) any {
	switch x := v.(type) {
	case int32:
		return int64(x)
	case int16:
		return int64(x)
	case driver.Valuer:
		if value, err := x.Value(); err == nil {
			return value
		}
	}
	return v
}

// shortRow formats a row for messages, cut to 100 bytes.
func shortRow(row []any) string {
	var all []string
	for _, v := range row {
		switch x := plain(v).(type) {
		case nil:
			all = append(all, "NULL")
		case []byte:
			all = append(all, string(x))
		default:
			all = append(all, fmt.Sprint(x))
		}
	}
	text := strings.Join(all, ", ")
	if len(text) > 100 {
		text = strings.ToValidUTF8(text[:100], "") + "…"
	}
	return text
}
