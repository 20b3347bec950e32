package capture

import (
	"context"
	"io"
	"regexp"
	"slices"
	"strings"

	"filewise"
)

// open is a transaction of a session that has not ended yet.
type open struct {
	begun   bool
	manual  bool // autocommit is off: each statement belongs to a transaction
	failed  bool // a COMMIT rolls back
	texts   []string
	keys    []string
	values  [][][]string // of each text
	seconds float64
	held    int
	points  []point
	last    int    // 1 + the number of the session's last counted kind. 0 means none
	mode    string // "=" and the sql_mode that the session has set. Empty means none
}

// point is a savepoint: how many texts, and how much time, came before it.
type point struct {
	name    string
	texts   int
	seconds float64
}

// mostHeld limits the bytes that a log's different transactions take in memory. Each text counts in addition to bytes in
// addition to its length.
const mostHeld, overhead = 256 << 20, 512

// ledger counts a log's transactions. Ones that differ in their values alone are one kind.
type ledger struct {
	kinds    []kind
	known    map[string]int
	sessions map[string]*open
	held     int
	key      []byte         // of the transaction that is being counted
	manual   bool           // sessions begin without autocommit
	modes    map[string]int // number of statements by the sql_mode that their sessions have set
}

// older counts a statement if its session is older than the log.
func (t *taking) older(s filewise.LoggedStatement) {
	if s.Earlier {
		t.Earlier++
	}
}

// readLog counts the transactions of a log: the statements between BEGIN and COMMIT in a session, and statements
// outside of them.
func (t *taking) readLog(ctx context.Context, e Capturer, from io.Reader) ([]kind, error) {
	l := &ledger{known: map[string]int{}, sessions: map[string]*open{}, modes: map[string]int{}, manual: t.Settings[manually] != ""}
	worked := &overlap{}
	err := e.ReadLog(until{ctx, from}, t.Database, func(s filewise.LoggedStatement) {
		worked.add(s)
		if t.older(s); l.held <= mostHeld {
			l.take(s)
		}
	})
	if err == nil && l.held > mostHeld {
		err = filewise.Errorf(filewise.CodeUsage, "give a part of it", "the log has more different transactions than fit into %d MiB",
			mostHeld>>20)
	}
	for _, o := range l.sessions {
		if o.begun || len(o.keys) > 0 {
			l.one(notEnded, 1, o.seconds)
		}
	}
	t.inLog = l.settings()
	if most, mean := worked.of(); most > 0 {
		t.MostActive, t.Active, t.Connected = most, mean, 0
	}
	t.Connected = max(t.Connected, len(l.sessions))
	return l.kinds, err
}

// until reads until its context ends.
type until struct {
	context.Context
	io.Reader
}

func (u until) Read(p []byte) (int, error) {
	if err := u.Err(); err != nil {
		return 0, err
	}
	return u.Reader.Read(p)
}

// one counts calls that are no transaction of a study.
func (l *ledger) one(what string, calls, seconds float64) {
	l.count([]string{what}, []string{what}, nil, calls, seconds)
}

// count counts calls of a transaction, and returns the number of its kind. kept reports that the kind is new: the
// ledger then keeps the slices for good.
func (l *ledger) count(texts, keys []string, values [][][]string, calls, seconds float64) (n int, kept bool) {
	l.key = l.key[:0]
	for _, key := range keys {
		l.key = append(append(l.key, key...), 0)
	}
	n, ok := l.known[string(l.key)]
	if !ok {
		n = len(l.kinds)
		l.known[string(l.key)] = n
		l.kinds = append(l.kinds, kind{texts: texts, keys: keys, values: callValuesOf(values)})
		l.held += sizeOf(texts, keys)
	} else {
		l.held += l.kinds[n].vary(values)
	}
	l.kinds[n].calls += calls
	l.kinds[n].seconds += seconds
	return n, !ok
}

func sizeOf(texts, keys []string) (n int) {
	for i := range texts {
		n += len(texts[i]) + 2*len(keys[i]) + overhead
	}
	return n
}

// finish counts a transaction that was committed, rolled back, or empty, and clears the session's state.
func (l *ledger) finish(o *open, committed bool, ended string) {
	kept := false
	switch {
	case len(o.keys) == 0:
		if ended != "" {
			l.one(ended, 1, o.seconds)
		}
	case committed && !o.failed:
		o.last, kept = l.count(o.texts, o.keys, o.values, 1, o.seconds)
		o.last++
	default:
		l.one(rolledBack, 1, o.seconds)
	}
	before := *o
	*o = open{manual: before.manual, last: before.last, mode: before.mode}
	if !kept {
		o.texts, o.keys, o.values = before.texts[:0], before.keys[:0], before.values[:0]
	}
}

var (
	other      = regexp.MustCompile(`(?i)^(?:START +(?:(?:ALL +)?SLAVE|REPLICA|GROUP_)|BEGIN +NOT +ATOMIC)`) // these begin no transaction
	chains     = regexp.MustCompile(`(?i)\bAND +CHAIN\b`)
	toPoint    = regexp.MustCompile("(?is)^ROLLBACK +(?:(?:WORK|TRANSACTION) +)?TO +(?:SAVEPOINT +)?(.*?)[ ;]*$")
	pointName  = regexp.MustCompile("(?is)^(?:RELEASE +)?(?:SAVEPOINT +)?(.*?)[ ;]*$")
	sqlMode    = regexp.MustCompile(`(?i)(\bGLOBAL[ .]+)?\bsql_mode[ ` + "`" + `]*:?= *['"](?:([A-Z_, ]*)['"] *(?:[,;]|$))`)
	autocommit = regexp.MustCompile(`(?i)(\bGLOBAL[ .]+)?\bautocommit[ ` + "`" + `]*:?= *['"]?(\w+)`)
)

// take adds a statement to its session's transaction.
func (l *ledger) take(s filewise.LoggedStatement) {
	o := l.sessions[s.Session]
	if o == nil {
		o = &open{manual: l.manual}
		l.sessions[s.Session] = o
		l.held += overhead
	}
	before := o.held
	defer func() { l.held += o.held - before }()
	word, text := firstWord(s.Text), ""
	var to []string
	if word == "SET" || slices.Contains(controls, word) {
		text = withoutNotes(s.Text)
		text = strings.Join(strings.Fields(text[:min(len(text), 1<<8)]), " ") // control statements are short
		to = toPoint.FindStringSubmatch(text)
	}
	switch {
	case s.Failed:
		o.failed = o.begun
		return
	case s.Text == "":
		l.finish(o, false, "")
		*o = open{manual: l.manual}
	case slices.Contains(begins, word) && !other.MatchString(text):
		if o.begun {
			l.finish(o, true, word) // the log lacks its end, or this is its end
		}
		o.begun = true
		o.seconds += s.Seconds
	case to != nil:
		l.undo(o, to[1], s.Seconds)
	case slices.Contains(ends, word):
		o.seconds += s.Seconds
		l.finish(o, word != "ROLLBACK" && word != "ABORT", word)
		o.begun = chains.MatchString(text)
	default:
		o.seconds += s.Seconds
		l.within(o, s, word, text)
	}
	if !o.begun && !o.manual && !s.Together {
		l.finish(o, true, "")
	}
}

// within takes a statement that neither begins nor ends a transaction.
func (l *ledger) within(o *open, s filewise.LoggedStatement, word, text string) {
	alone := !o.begun && len(o.keys) == 0
	switch word {
	case "SET":
		if m := autocommit.FindStringSubmatch(text); m != nil && m[1] == "" {
			if o.manual = slices.Contains([]string{"0", "OFF", "FALSE"}, strings.ToUpper(m[2])); o.manual {
				return
			}
			l.finish(o, true, "")
			if !alone || l.behind(o, s.Seconds) {
				return
			}
		}
		if m := sqlMode.FindStringSubmatch(text); m != nil && m[1] == "" {
			o.mode = "=" + m[2]
		}
	case "FETCH", "MOVE", "CLOSE": // the cursor's whole query is in the study
		if alone && l.behind(o, s.Seconds) {
			return
		}
	case "SAVEPOINT":
		o.points = append(o.points, point{pointName.FindStringSubmatch(text)[1], len(o.keys), o.seconds})
	case "RELEASE":
		if n := o.point(pointName.FindStringSubmatch(text)[1]); n >= 0 {
			o.points = o.points[:n]
		}
	default:
		if l.modes != nil {
			l.modes[o.mode]++
		}
		o.texts, o.keys, o.values = append(o.texts, s.Text), append(o.keys, s.Key), append(o.values, s.Values)
		o.held += sizeOf([]string{s.Text}, []string{s.Key})
		return
	}
	if alone { // a call by itself, which a study does not repeat
		l.one(word, 1, s.Seconds)
		o.seconds = 0
	}
}

// settings returns the settings that sessions have made themselves for more than half of the log's statements, or nil.
func (l *ledger) settings() map[string]string {
	all := 0
	for _, n := range l.modes {
		all += n
	}
	for mode, n := range l.modes {
		if value, is := strings.CutPrefix(mode, "="); is && 2*n > all {
			return map[string]string{"sql_mode": value}
		}
	}
	return nil
}

// behind adds time to the session's last counted transaction. It returns false if there is none.
func (l *ledger) behind(o *open, seconds float64) bool {
	if o.last == 0 {
		return false
	}
	l.kinds[o.last-1].seconds += seconds
	o.seconds = 0
	return true
}

// point returns the index of the last savepoint with this name, or -1.
func (o *open) point(name string) int {
	for n := len(o.points) - 1; n >= 0; n-- {
		if strings.EqualFold(o.points[n].name, name) {
			return n
		}
	}
	return -1
}

// undo removes the statements that followed a savepoint. A study does not repeat them, and their time is not covered.
func (l *ledger) undo(o *open, name string, seconds float64) {
	n := o.point(name)
	if n < 0 {
		o.seconds += seconds
		return
	}
	p := o.points[n]
	o.failed = false
	l.one(undone, 0, o.seconds+seconds-p.seconds)
	o.held -= sizeOf(o.texts[p.texts:], o.keys[p.texts:])
	o.texts, o.keys, o.values = o.texts[:p.texts], o.keys[:p.texts], o.values[:p.texts]
	o.seconds, o.points = p.seconds, o.points[:n+1]
}
