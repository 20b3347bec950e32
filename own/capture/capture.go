// Package capture makes a study of what the clients of an existing database do. The engines return statements, their
// counts and the statistics of columns. The package turns them into transactions with weights, parameters with
// generators, and an account of what is left out.
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
	For      time.Duration // between the two readings of the counts. 0 means since the server counts
	Values   bool          // values of columns are shown even if they would be withheld
	Tell     []string      // columns whose values may be shown: COLUMN or TABLE.COLUMN
	Withhold []string      // columns whose values are not
	Log      io.Reader     // a log, read instead of what the server counts. Nil means none
	LogName  string
	LogSize  int64  // in bytes. 0 means not known
	URL      string // of the database, without a secret
}

// OpenLog opens the named log, if one is named.
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
	mostTypes  = 50        // transaction types in a study
	mostLooked = 1000      // transaction types for which the server is queried
	mostValues = 2000      // values of a statement
	mostBytes  = 128 << 10 // texts of transactions in a study: half of a study file's limit
)

// Study is the result of a capture.
type Study struct {
	Options  `json:"-"`
	Database string `json:"database"`
	// Settings holds the database's settings on which its statements depend.
	Settings map[string]string `json:"settings,omitempty"`
	Server   string            `json:"server"`
	Seconds  float64           `json:"seconds,omitempty"` // observed. 0 means since the server counts, or a log's
	Calls    float64           `json:"calls"`             // of all statements, or transactions of a log
	// Time is the total time of these calls, in seconds. It is 0 if a log has no times.
	Time float64 `json:"time_s"`
	// Covered is the share of the time that the study covers. Without times, it is the share of the calls.
	Covered      float64       `json:"covered"`
	Active       float64       `json:"active"`
	MostActive   int           `json:"most_active"`
	Connected    int           `json:"connected"`
	Tables       []Table       `json:"tables"`
	Setup        []string      `json:"setup,omitempty"` // if no dump fills builds
	Parameters   []Parameter   `json:"parameters"`
	Transactions []Transaction `json:"transactions"`
	Left         []Left        `json:"left_out"`
	// Disclosed lists the columns whose text values appear in the study, and Withheld the columns with no value in it.
	Disclosed []Column `json:"told,omitempty"`
	Withheld  []Column `json:"withheld,omitempty"`
	// Fill lists parameters that are compared with no column and whose values the server does not return.
	Fill []Column `json:"fill_in,omitempty"`
	// Unread lists the tables, or the settings, that the server did not return, with the reasons.
	Unread []Column `json:"unread,omitempty"`
	// Earlier counts a log's statements from sessions older than the log. They are assumed to belong to this database.
	Earlier int `json:"of_earlier_sessions,omitempty"`
	// Interrupted is set if the capture was interrupted: the study covers what was read until then.
	Interrupted bool `json:"interrupted,omitempty"`
}

// Table is a table that the layout may spread.
type Table struct {
	Name  string  `json:"name"`
	Key   string  `json:"key"`
	Bytes int64   `json:"bytes"`
	Rows  float64 `json:"rows"`
	Whole string  `json:"whole,omitempty"` // why it cannot be spread
	// Alone is the kind of layout that holds the table whole. It is empty if no kind does.
	Alone filewise.Kind `json:"alone,omitempty"`
}

// Transaction is a transaction type of the study.
type Transaction struct {
	Name      string   `json:"name"`
	Weight    int      `json:"weight"`
	Share     float64  `json:"share"` // of the calls of all included transactions
	TimeShare float64  `json:"time_share"`
	SQL       []string `json:"sql"`
}

// Left lists the parts that were left out.
type Left struct {
	Why       string  `json:"why"`
	What      string  `json:"what"` // an example
	Share     float64 `json:"share"`
	TimeShare float64 `json:"time_share"`
	// Covered is set for what the study does by itself, which counts as covered as the rest is.
	Covered bool `json:"covered,omitempty"`
}

// kind is a transaction type as it was observed.
type kind struct {
	texts                []string
	keys                 []string     // the same without values
	values               []callValues // values of each text, as logged
	calls, seconds, rows float64
	hidden               string
	shapes               []filewise.Shape
}

// Take captures a study. The caller closes the watcher. If the context ends while a log is read or the server is
// watched, the study holds what was read until then.
func Take(ctx context.Context, e Capturer, w Watcher, o Options) (*Study, error) {
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

// manually is the setting under which sessions begin transactions by themselves. A study sets it for none, since its
// transactions have their own begin and end.
const manually = "autocommit"

// accustomed observes the transactions, and reads the settings on which their statements depend.
func (t *taking) accustomed(ctx context.Context, e Capturer) (kinds []kind, err error) {
	const what = "settings of the database"
	if t.Settings, err = t.watcher.Settings(ctx, nil); err != nil {
		if err := t.unread(ctx, what, err); err != nil {
			return nil, err
		}
	}
	if kinds, err = t.observe(ctx, e); err != nil {
		return nil, err
	}
	if len(t.inLog) > 0 {
		if t.Settings, err = t.watcher.Settings(ctx, t.inLog); err != nil {
			err = t.unread(ctx, what, err)
		}
	}
	delete(t.Settings, manually)
	return kinds, err
}

type taking struct {
	Study
	inLog   map[string]string // settings that a log's sessions have made themselves
	watcher Watcher
	why     map[string]string // why values are withheld, by TABLE.COLUMN
	tables  map[string]filewise.TableFacts
	parents map[string]filewise.TableFacts // whose keys new rows need
	drawn   map[string]string              // parameter names, by what the parameters are drawn for
	// controls counts the calls that begin and end transactions, and controlTime their seconds.
	controls, controlTime float64
}

// worth returns a type's share of all calls or its share of all time, whichever is greater.
func (t *taking) worth(k kind) float64 { return max(share(k.calls, t.Calls), share(k.seconds, t.Time)) }

func share(part, of float64) float64 {
	if of <= 0 {
		return 0
	}
	return part / of
}

func (t *taking) observe(ctx context.Context, e Capturer) ([]kind, error) {
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
		if b := before[s.ID]; b.Calls <= s.Calls { // otherwise the counts were reset in between
			s.Calls, s.Seconds, s.Rows = s.Calls-b.Calls, max(s.Seconds-b.Seconds, 0), max(s.Rows-b.Rows, 0)
		}
		if s.Calls <= 0 {
			continue
		}
		key := s.Hidden + "\x00" + cmp.Or(s.Key, "\x00"+s.ID) // lists of other lengths give one statement several IDs
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

// sessions counts every second, for a time or once, how many sessions work. If the server does not show them, the
// number stays unknown.
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

// shape keeps the transaction types that a study can repeat, and divides their statements from the values.
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
		case len(k.texts) == 1 && k.texts[0] == unreadable:
			why = "records of the log that are cut or damaged, as where two files meet: what they held is not known"
		case len(k.texts) == 1 && firstWord(k.texts[0]) == "SET":
			why = "settings of sessions: a study's sessions have Filewise's"
		case len(k.texts) == 1 && strings.Contains(k.texts[0], filewiseOwn):
			why = "it is Filewise's own look at the columns"
		case len(k.texts) == 1 && strings.Contains(k.texts[0], foreignKey):
			why = "the server checks foreign keys by itself, of the study's rows as well"
		case k.control() && slices.Contains(cursors, firstWord(k.texts[0])):
			why = "it reads on from a cursor, whose query is in the study whole"
		case len(k.texts) == 1 && slices.Contains(prepares, firstWord(k.texts[0])):
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

// control reports whether the kind begins or ends a transaction. A study does so by itself.
func (k kind) control() bool {
	return len(k.texts) == 1 && k.texts[0] != rolledBack && k.texts[0] != undone && slices.Contains(controls, firstWord(k.texts[0]))
}

func size(k kind) (n int) {
	for _, text := range k.texts {
		n += len(text)
	}
	return n
}

// shapeOne divides a type's statements from their values. why is the reason to leave the type out, empty if there is
// none.
func (t *taking) shapeOne(ctx context.Context, k *kind) (why string, err error) {
	for i, text := range k.texts {
		if word := firstWord(text); !slices.Contains(works, word) {
			return cmp.Or(notRepeated[word], "it is no work on rows"), nil
		}
		s, err := t.watcher.Shape(ctx, text, k.constant(i))
		if n := len(s.Values); n > mostValues {
			return fmt.Sprintf("it has %d values: a study draws %d for a statement at most", n, mostValues), nil
		}
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if errors.Is(err, filewise.ErrNoAnswer) {
			return "", err
		}
		ofServer := func(table string) bool {
			return slices.ContainsFunc(catalogues, func(c string) bool { return strings.HasPrefix(strings.ToLower(table), c) })
		}
		if slices.ContainsFunc(s.Tables, ofServer) || len(s.Tables) == 0 && serverFunction.MatchString(text) {
			return "it queries the server's own catalogue", nil
		}
		if t.Log == nil && following.MatchString(text) {
			return "it needs what a statement before it has left in its session; a log shows which (--log)", nil
		}
		if code := strings.Join(s.Pieces, "?"); variable.MatchString(code) && !strings.Contains(code, ":=") {
			return "it reads a variable that a statement before it has set in its session: a study's sessions have none", nil
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

// leave adds a transaction type to the parts that are left out for this reason.
func (t *taking) leave(k kind, why string) {
	what := brief(strings.Join(k.keys, "; "))
	n := slices.IndexFunc(t.Left, func(l Left) bool { return l.Why == why })
	if n < 0 {
		n = len(t.Left)
		t.Left = append(t.Left, Left{Why: why, What: what, Covered: k.control()})
	}
	t.Left[n].Share += share(k.calls, t.Calls)
	t.Left[n].TimeShare += share(k.seconds, t.Time)
}
