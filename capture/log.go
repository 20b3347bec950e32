package capture

import (
	"slices"
	"strings"

	"filewise"
)

// open is a transaction of a session that has not ended yet.
type open struct {
	begun   bool
	texts   []string
	keys    []string
	seconds float64
	held    int
}

// mostHeld is how many bytes different transactions of a log may take, each with so many beside its texts.
const mostHeld, beside = 256 << 20, 512

// older counts statements of sessions that are older than the log.
func (t *taking) older(s filewise.LoggedStatement) {
	if s.Earlier {
		t.Earlier++
	}
}

// readLog counts the transactions of a log: what stands between BEGIN and COMMIT in a
// session, and statements by themselves.
func (t *taking) readLog(e filewise.Capturer) ([]kind, error) {
	var kinds []kind
	known := map[string]int{}
	sessions := map[string]*open{}
	held := 0
	count := func(o *open) {
		key := strings.Join(o.keys, "\x00")
		n, ok := known[key]
		if !ok {
			n = len(kinds)
			known[key] = n
			kinds = append(kinds, kind{texts: o.texts, keys: o.keys})
			held += o.held // for good
		}
		kinds[n].calls++
		kinds[n].seconds += o.seconds
	}
	err := e.ReadLog(t.Log, t.Database, func(s filewise.LoggedStatement) {
		o := sessions[s.Session]
		if t.older(s); held > mostHeld {
			return
		}
		if o == nil {
			o = &open{}
			sessions[s.Session] = o
			held += beside
		}
		before := o.held
		defer func() { held += o.held - before }()
		word := firstWord(s.Text)
		o.seconds += s.Seconds
		switch {
		case slices.Contains(begins, word):
			*o = open{begun: true, seconds: s.Seconds}
			return
		case slices.Contains(ends, word):
			if len(o.keys) > 0 && word != "ROLLBACK" && word != "ABORT" {
				count(o)
			} else if len(o.keys) > 0 {
				o.texts, o.keys = []string{rolledBack}, []string{rolledBack}
				count(o)
			}
			*o = open{}
			return
		case word == "SET" || word == "SAVEPOINT" || word == "RELEASE":
			return
		}
		o.texts, o.keys = append(o.texts, s.Text), append(o.keys, s.Key)
		o.held += len(s.Text) + 2*len(s.Key) + beside
		if !o.begun {
			count(o)
			*o = open{}
		}
	})
	if err == nil && held > mostHeld {
		err = filewise.Errorf(filewise.CodeUsage, "give a part of it", "the log has more different transactions than fit into %d MiB",
			mostHeld>>20)
	}
	t.Connected = max(t.Connected, len(sessions))
	return kinds, err
}
