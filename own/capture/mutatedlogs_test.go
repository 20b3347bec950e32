package capture

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/customsql"
	innodb "filewise/engine/innodb/dialect"
	postgres "filewise/engine/postgres/dialect"
)

// loggedLine is a statement of a made-up log.
type loggedLine struct {
	Session int
	Text    string
	Millis  int
	At      time.Time // when it ended
}

// mutated is a log in the making: the statements of each session, and how much of them a study must cover.
type mutated struct {
	*rand.Rand
	sessions    [3][]loggedLine
	session     int
	calls, time [2]float64 // [0] covered, [1] all
}

func (m *mutated) add(text string) float64 {
	l := loggedLine{Session: m.session, Text: text, Millis: 1 + m.IntN(40)}
	m.sessions[m.session] = append(m.sessions[m.session], l)
	return float64(l.Millis) / 1000
}

// work adds a statement on rows, written as applications do.
func (m *mutated) work() float64 {
	text := fmt.Sprintf([]string{"UPDATE a SET b = %d WHERE id = %d", "SELECT b FROM a WHERE b < %d AND id = %d",
		"/* web */ SELECT b FROM a WHERE b = %d AND id = %d", "-- name: One :one\nDELETE FROM a WHERE b = %d AND id = %d",
		"SELECT b\r\nFROM a -- x; y\r\nWHERE b <> %d AND (b, id) > (%d, 7) /* trace;1 */",
		"UPDATE a SET b = -%d WHERE 1=1 AND id IN (%d, 8)"}[m.IntN(6)],
		m.IntN(100), m.IntN(100))
	return m.add(text)
}

func (m *mutated) count(covered bool, calls, seconds float64) {
	m.calls[1], m.time[1] = m.calls[1]+calls, m.time[1]+seconds
	if covered {
		m.calls[0], m.time[0] = m.calls[0]+calls, m.time[0]+seconds
	}
}

// unit adds a transaction of a random kind.
func (m *mutated) unit() {
	begin := []string{"BEGIN", "START TRANSACTION", "begin"}[m.IntN(3)]
	switch m.IntN(7) {
	case 0, 1:
		m.count(true, 1, m.work())
	case 2:
		seconds := m.add(begin) + m.work() + m.work()
		m.count(true, 1, seconds+m.add("COMMIT"))
	case 3:
		seconds := m.add(begin) + m.work()
		m.count(false, 1, seconds+m.add("ROLLBACK"))
	case 4:
		seconds := m.add(begin) + m.work() + m.add("SAVEPOINT s")
		m.count(false, 0, m.work()+m.add("ROLLBACK TO SAVEPOINT s"))
		m.count(true, 1, seconds+m.work()+m.add("COMMIT"))
	case 5:
		m.count(false, 1, m.add("ANALYZE a"))
	case 6:
		m.count(true, 1, m.add(fmt.Sprintf("BEGIN; UPDATE a SET b = %d WHERE id = 1; COMMIT", m.IntN(100))))
	}
}

// mutatedLogs captures 100 made-up logs of a kind, and fails if a study does not cover what it should within 2 points.
// shape divides a statement as the engine's watcher does. If timed is false, the logs have no times.
func mutatedLogs(t *testing.T, e Capturer, timed bool, shape func(text string) (filewise.Shape, error),
	render func([]loggedLine) string) {
	t.Helper()
	for seed := range uint64(100) {
		m := &mutated{Rand: rand.New(rand.NewPCG(seed, 42))}
		for m.session = range m.sessions {
			for range 5 + m.IntN(20) {
				m.unit()
			}
			if m.IntN(3) == 0 {
				m.count(false, 1, m.add("BEGIN")+m.work()) // the log ends within this transaction
			}
		}
		var all []loggedLine
		at := time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC)
		for left := true; left; {
			left = false
			for _, i := range m.Perm(len(m.sessions)) {
				if s := m.sessions[i]; len(s) > 0 {
					at = at.Add(time.Duration(s[0].Millis) * time.Millisecond)
					s[0].At = at
					all, m.sessions[i], left = append(all, s[0]), s[1:], true
				}
			}
		}
		log := render(all)
		s, err := Take(context.Background(), e, shaped{shape: shape}, Options{Database: "shop", LogName: "x",
			Log: strings.NewReader(log)})
		want := m.time[0] / m.time[1]
		if !timed {
			want = m.calls[0] / m.calls[1]
		}
		if err != nil || math.Abs(s.Covered-want) > 0.02 {
			t.Fatalf("log %d: %v; it covers %.3f, expected %.3f: %+v\n%s", seed, err, s.Covered, want, s.Left, log)
		}
	}
}

// logsOf reads an engine's logs. Nothing else of the engine is needed.
func logsOf(engine string) Capturer {
	rules := map[string]customsql.Rules{"postgres": postgres.CustomRules, "mariadb": innodb.CustomRules, "mysql": innodb.CustomRules}
	return capturer{ruled{rules: rules[engine]}, products[engine]}
}

type ruled struct {
	Engine
	rules customsql.Rules
}

func (r ruled) UserSQL() customsql.Rules { return r.rules }

// shaped watches a made-up database with one table.
type shaped struct {
	Watcher
	shape func(string) (filewise.Shape, error)
}

func (shaped) Server() string { return "" }

func (shaped) Sessions(context.Context) (active, connected int, err error) { return 0, 0, io.EOF }

func (s shaped) Shape(_ context.Context, text string, constants []string) (filewise.Shape, error) {
	of, err := s.shape(text)
	of.Keep(constants)
	return of, err
}

func (shaped) Settings(context.Context, map[string]string) (map[string]string, error) {
	return nil, nil
}

func (shaped) Table(_ context.Context, name string, _ func(string) bool) (filewise.TableFacts, error) {
	t := filewise.TableFacts{Name: name, Table: name, Rows: 1000, Key: "id"}
	for _, c := range []string{"id", "b"} {
		t.Columns = append(t.Columns, filewise.ColumnFacts{Name: c, Type: filewise.TypeWhole, Low: "1", High: "99", Distinct: 99})
	}
	return t, nil
}

func fatal(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
