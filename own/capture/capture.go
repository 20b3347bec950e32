// Package capture makes a study of what the clients of an existing database do. The engines return statements, their
// counts and the statistics of columns; here they become transactions with weights, parameters that are drawn, and
// the account of what is left out.
package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"filewise"
	"filewise/internal/filesystem"
	"filewise/internal/progress"
)

// Options choose what is captured.
type Options struct {
	Engine   string
	Database string
	For      time.Duration // between two looks. 0 means since the server counts
	Values   bool          // of columns whose values are withheld, too
	Tell     []string      // columns whose values may be shown: COLUMN or TABLE.COLUMN
	Withhold []string      // columns whose values are not
	Log      io.Reader     // in the place of what the server counts. Nil means none
	LogName  string
	LogSize  int64  // in bytes. 0 means not known
	URL      string // of the database, without a secret
}

// OpenLog opens the log that is named, if one is.
func (o *Options) OpenLog() error {
	if o.LogName == "" {
		return nil
	}
	file, err := filesystem.Open(o.LogName)
	if err != nil {
		return filewise.Errorf(filewise.CodeUsage, "name a readable file by --log", "log: %w", err)
	}
	o.Log = file
	if info, err := os.Stat(o.LogName); err == nil && info.Mode().IsRegular() {
		o.LogSize = info.Size()
	}
	return nil
}

// Close closes the log.
func (o *Options) Close() error {
	if c, is := o.Log.(io.Closer); is {
		return c.Close()
	}
	return nil
}

const (
	mostTypes  = 50        // of transactions that a study has
	mostLooked = 1000      // of them for which the server is queried
	mostBytes  = 128 << 10 // of their texts: half of what a study file may have
)

// Study is the result of a capture.
type Study struct {
	Options  `json:"-"`
	Database string `json:"database"`
	// Settings are the database's settings on which statements depend.
	Settings map[string]string `json:"settings,omitempty"`
	Server   string            `json:"server"`
	Seconds  float64           `json:"seconds,omitempty"` // observed. 0 means since the server counts, or a log's
	Calls    float64           `json:"calls"`             // of all statements, or transactions of a log
	// Time is the time of these calls, in s. 0 means a log does not have it.
	Time float64 `json:"time_s"`
	// Covered is the share of the time that the study covers; without times, of the calls.
	Covered      float64       `json:"covered"`
	Active       float64       `json:"active"`
	MostActive   int           `json:"most_active"`
	Connected    int           `json:"connected"`
	Tables       []Table       `json:"tables"`
	Setup        []string      `json:"setup,omitempty"` // if no dump fills builds
	Parameters   []Parameter   `json:"parameters"`
	Transactions []Transaction `json:"transactions"`
	Left         []Left        `json:"left_out"`
	// Told and Withheld are the columns of parameters: values of a text that stand in the study, and columns of which none does.
	Told     []Column `json:"told,omitempty"`
	Withheld []Column `json:"withheld,omitempty"`
	// Fill are parameters that are compared with no column and whose values the server does not return.
	Fill []Column `json:"fill_in,omitempty"`
	// Unread are tables, or the settings, that the server did not return, with the reason.
	Unread []Column `json:"unread,omitempty"`
	// Earlier counts a log's statements of sessions older than it, taken for this database's.
	Earlier int `json:"of_earlier_sessions,omitempty"`
	// Interrupted: the study is of what was read until then.
	Interrupted bool `json:"interrupted,omitempty"`
}

// Table is a table that the layout may spread.
type Table struct {
	Name  string  `json:"name"`
	Key   string  `json:"key"`
	Bytes int64   `json:"bytes"`
	Rows  float64 `json:"rows"`
	Whole string  `json:"whole,omitempty"` // why it cannot be spread
	// Alone is the kind of layouts that hold it whole. Empty means none does.
	Alone filewise.Kind `json:"alone,omitempty"`
}

// Transaction is a type of them.
type Transaction struct {
	Name      string   `json:"name"`
	Weight    int      `json:"weight"`
	Share     float64  `json:"share"` // of the calls of those that are included
	TimeShare float64  `json:"time_share"`
	SQL       []string `json:"sql"`
}

// Left lists the parts that were left out.
type Left struct {
	Why       string  `json:"why"`
	What      string  `json:"what"` // an example
	Share     float64 `json:"share"`
	TimeShare float64 `json:"time_share"`
}

// kind is a type of transactions as it was observed.
type kind struct {
	texts                []string
	keys                 []string // the same without values
	values               []told   // of each text, as a log has them
	calls, seconds, rows float64
	hidden               string
	shapes               []filewise.Shape
}

// Take captures. A watcher is closed by its owner. If the context ends while the log is read, or the server is
// watched, the study holds what is known then.
func Take(ctx context.Context, e filewise.Capturer, w filewise.Watcher, o Options) (*Study, error) {
	t := &taking{watcher: w, Study: Study{Options: o, Database: o.Database, Server: w.Server()}, why: map[string]string{}}
	kinds, err := t.accustomed(ctx, e)
	if err != nil {
		return nil, err
	}
	if t.Interrupted {
		ctx = context.WithoutCancel(ctx)
	}
	for _, k := range kinds {
		t.Calls, t.Time = t.Calls+k.calls, t.Time+k.seconds
		if k.control() {
			t.controls, t.controlTime = t.controls+k.calls, t.controlTime+k.seconds
		}
	}
	if t.Calls == 0 {
		return nil, filewise.Errorf(filewise.CodeUsage, "capture while the database works, longer by --for, or --for 0s for all that the server "+
			"has counted; give the database's name by --database", "nothing was executed in database %s", o.Database)
	}
	slices.SortStableFunc(kinds, func(a, b kind) int { return cmp.Compare(t.worth(b), t.worth(a)) })
	if kinds, err = t.shape(ctx, kinds); err != nil {
		return nil, err
	}
	if err := t.facts(ctx, kinds); err != nil {
		return nil, err
	}
	t.once(kinds)
	t.write(kinds)
	if len(t.Transactions) == 0 {
		return nil, filewise.Errorf(filewise.CodeUsage, "capture while its clients work, or give a log by --log",
			"nothing that was executed in database %s can be repeated: %s: %s", o.Database, t.Left[0].Why, t.Left[0].What)
	}
	return &t.Study, nil
}

// manually is the setting that has sessions begin transactions by themselves; a study's begins and ends its own.
const manually = "autocommit"

// accustomed observes, and learns on which settings the statements depend.
func (t *taking) accustomed(ctx context.Context, e filewise.Capturer) (kinds []kind, err error) {
	of, ok := t.watcher.(filewise.Accustomed)
	if !ok {
		return t.observe(ctx, e)
	}
	const what = "settings of the database"
	if t.Settings, err = of.Settings(ctx, nil); err != nil {
		if err := t.unread(ctx, what, err); err != nil {
			return nil, err
		}
	}
	if kinds, err = t.observe(ctx, e); err != nil {
		return nil, err
	}
	if len(t.inLog) > 0 {
		if t.Settings, err = of.Settings(ctx, t.inLog); err != nil {
			err = t.unread(ctx, what, err)
		}
	}
	delete(t.Settings, manually)
	return kinds, err
}

type taking struct {
	Study
	inLog   map[string]string // settings that sessions of a log have given themselves
	watcher filewise.Watcher
	why     map[string]string // values are withheld, by TABLE.COLUMN
	tables  map[string]filewise.TableFacts
	parents map[string]filewise.TableFacts // whose keys new rows need
	drawn   map[string]string              // name of a parameter by what it is drawn for
	// controls are the calls, and controlTime the time, that begin and end transactions.
	controls, controlTime float64
}

// worth returns the greater share, of calls or of time.
func (t *taking) worth(k kind) float64 { return max(share(k.calls, t.Calls), share(k.seconds, t.Time)) }

func share(part, of float64) float64 {
	if of <= 0 {
		return 0
	}
	return part / of
}

func (t *taking) observe(ctx context.Context, e filewise.Capturer) ([]kind, error) {
	if t.Log != nil {
		if err := t.sessions(ctx, 0); err != nil {
			return nil, err
		}
		step := progress.Begin(ctx, "reading "+t.LogName, t.LogSize, "")
		defer step.End()
		kinds, err := t.readLog(ctx, e, step.Reader(t.Log))
		if t.Interrupted = ctx.Err() != nil && errors.Is(err, context.Canceled); t.Interrupted {
			return kinds, nil
		}
		if err != nil {
			err = fmt.Errorf("log %s: %w", t.LogName, err)
		}
		return kinds, err
	}
	before := map[string]filewise.CountedStatement{}
	start := time.Now()
	if t.For > 0 {
		counted, err := t.watcher.Counted(ctx)
		if err != nil {
			return nil, err
		}
		for _, s := range counted {
			before[s.ID] = s
		}
		start = time.Now()
	}
	if err := t.sessions(ctx, t.For); err != nil {
		t.Interrupted, ctx = true, context.WithoutCancel(ctx)
	}
	after, err := t.watcher.Counted(ctx)
	if err != nil {
		return nil, err
	}
	if t.For > 0 {
		t.Seconds = time.Since(start).Seconds()
	}
	var kinds []kind
	known := map[string]int{}
	for _, s := range after {
		if b := before[s.ID]; b.Calls <= s.Calls { // else it was reset in between
			s.Calls, s.Seconds, s.Rows = s.Calls-b.Calls, max(s.Seconds-b.Seconds, 0), max(s.Rows-b.Rows, 0)
		}
		if s.Calls <= 0 {
			continue
		}
		key := s.Hidden + "\x00" + cmp.Or(s.Key, "\x00"+s.ID) // one statement has several IDs if its lists are of other lengths
		n, is := known[key]
		if !is {
			n = len(kinds)
			known[key] = n
			kinds = append(kinds, kind{texts: []string{s.Text}, keys: []string{s.Key}, hidden: s.Hidden})
		}
		k := &kinds[n]
		k.calls, k.seconds, k.rows = k.calls+s.Calls, k.seconds+s.Seconds, k.rows+s.Rows
	}
	return kinds, nil
}

// sessions looks every second how many work, for a time or once. What cannot be seen is
// not known.
func (t *taking) sessions(ctx context.Context, d time.Duration) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	end := time.After(d)
	step := progress.Begin(ctx, "watching "+t.Database, int64(d.Seconds()), "s")
	defer step.End()
	for looks := 1.0; ; looks++ {
		if active, connected, err := t.watcher.Sessions(ctx); err == nil {
			t.Active += (float64(active) - t.Active) / looks
			t.MostActive, t.Connected = max(t.MostActive, active), max(t.Connected, connected)
		}
		if d == 0 {
			return nil
		}
		select {
		case <-tick.C:
			step.Add(1)
		case <-end:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// shape keeps what can be repeated, divided from its values.
func (t *taking) shape(ctx context.Context, kinds []kind) ([]kind, error) {
	var kept []kind
	bytes := 0
	for n, k := range kinds {
		why := k.hidden
		switch {
		case why != "":
		case len(k.texts) == 1 && k.texts[0] == rolledBack:
			why = "transactions that were rolled back have left nothing"
		case len(k.texts) == 1 && k.texts[0] == undone:
			why = "it was rolled back to a savepoint, and has left nothing: the rest of its transaction is in the study"
		case len(k.texts) == 1 && k.texts[0] == notEnded:
			why = "transactions that were open when the log ends: how they end is not known"
		case len(k.texts) == 1 && firstWord(k.texts[0]) == "SET":
			why = "settings of sessions: a study's sessions have Filewise's"
		case len(k.texts) == 1 && strings.Contains(k.texts[0], filewiseOwn):
			why = "it is Filewise's own look at the columns"
		case len(k.texts) == 1 && strings.Contains(k.texts[0], foreignKey):
			why = "the server checks foreign keys by itself, of the study's rows as well"
		case k.control() && slices.Contains(cursors, firstWord(k.texts[0])):
			why = "it reads on from a cursor, whose query is in the study whole"
		case k.control() && slices.Contains(prepares, firstWord(k.texts[0])):
			why = "it prepares a statement, or forgets one: what was executed of it is in the study"
		case k.control():
			why = "transactions are begun and ended by the study itself, so that it covers these as it covers the rest; which statements " +
				"stand in one, a log shows (--log)"
		case len(kept) == mostTypes:
			why = fmt.Sprintf("a study has %d types of transactions at most", mostTypes)
		case n >= mostLooked:
			why = fmt.Sprintf("only the first %d types are looked at", mostLooked)
		case bytes+size(k) > mostBytes:
			why = "a study file has no space for it"
		default:
			var err error
			if why, err = t.shapeOne(ctx, &k); err != nil {
				return nil, err
			}
		}
		if why != "" {
			t.leave(k, why)
			continue
		}
		kept, bytes = append(kept, k), bytes+size(k)
	}
	return kept, nil
}

// control reports whether it begins or ends a transaction, as the study does by itself.
func (k kind) control() bool {
	return len(k.texts) == 1 && k.texts[0] != rolledBack && k.texts[0] != undone && slices.Contains(controls, firstWord(k.texts[0]))
}

func size(k kind) (n int) {
	for _, text := range k.texts {
		n += len(text)
	}
	return n
}

// shapeOne divides a transaction's statements; why is why it is left out.
func (t *taking) shapeOne(ctx context.Context, k *kind) (why string, err error) {
	for i, text := range k.texts {
		if !slices.Contains(works, firstWord(text)) {
			return "it is no work on rows", nil
		}
		s, err := t.watcher.Shape(ctx, text, k.constant(i))
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		ofServer := func(table string) bool {
			return slices.ContainsFunc(catalogues, func(c string) bool { return strings.HasPrefix(strings.ToLower(table), c) })
		}
		if slices.ContainsFunc(s.Tables, ofServer) || len(s.Tables) == 0 && serverFunction.MatchString(text) {
			return "it asks the server's own catalogue", nil
		}
		if t.Log == nil && following.MatchString(text) {
			return "it needs what a statement before it has left in its session; a log shows which (--log)", nil
		}
		if waiting.MatchString(text) {
			return "it waits: a value that is drawn would say for how long", nil
		}
		if errors.Is(err, filewise.ErrUnsupported) {
			return brief(strings.TrimSuffix(err.Error(), ": "+filewise.ErrUnsupported.Error())), nil
		}
		if err != nil {
			return "the server does not take it without its values: " + brief(err.Error()), nil
		}
		k.shapes = append(k.shapes, s)
	}
	return "", nil
}

// leave notes what is left out, by its reason.
func (t *taking) leave(k kind, why string) {
	what := brief(strings.Join(k.keys, "; "))
	n := slices.IndexFunc(t.Left, func(l Left) bool { return l.Why == why })
	if n < 0 {
		n = len(t.Left)
		t.Left = append(t.Left, Left{Why: why, What: what})
	}
	t.Left[n].Share += share(k.calls, t.Calls)
	t.Left[n].TimeShare += share(k.seconds, t.Time)
}
