// Package capture makes a study of what the clients of an existing database do. The engines return statements, their
// counts and the statistics of columns. The package turns them into transactions with weights, parameters with
// generators, and an account of what is left out.
package capture

import (
	"cmp"
	"context"
	"io"
	"os"
	"slices"
	"time"

	"filewise"
	"filewise/internal/filesystem"
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
