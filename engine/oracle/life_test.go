package oracle

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"filewise"
	"filewise/engine/enginetest"
	"filewise/engine/internal/external"
	"filewise/internal/longtest"
	"filewise/lab/workload"
)

// kinds of statements, as testdata/refusals.txt names them, by how they begin.
var kinds = []struct {
	name    string
	pattern *regexp.Regexp
}{
	{"CREATE TABLESPACE", begins("CREATE (?:SMALL|BIG)FILE TABLESPACE")}, {"ADD DATAFILE", begins("ALTER TABLESPACE .* ADD DATAFILE")},
	{"OFFLINE", begins("ALTER TABLESPACE .* OFFLINE")}, {"ONLINE", begins("ALTER TABLESPACE .* ONLINE")},
	{"DROP TABLESPACE", begins("DROP TABLESPACE")}, {"CREATE TABLE", begins("CREATE TABLE")}, {"COMMENT", begins("COMMENT")},
	{"CREATE INDEX", begins("CREATE INDEX")}, {"CREATE VIEW", begins("CREATE (?:OR REPLACE )?VIEW")},
	{"CREATE SEQUENCE", begins("CREATE SEQUENCE")},
	{"CREATE PROCEDURE", begins("CREATE (?:PACKAGE|PROCEDURE)")},
	{"DROP PROCEDURE", begins("DROP (?:PACKAGE|PROCEDURE|VIEW|SEQUENCE)")}, {"ADD CONSTRAINT", begins("ALTER TABLE .* ADD CONSTRAINT")},
	{"DROP TABLE", begins("DROP TABLE")}, {"MOVE", begins("ALTER (?:TABLE .* MOVE|INDEX .* REBUILD)")}, {"CREATE USER", begins("CREATE USER")},
	{"GRANT", begins("GRANT")}, {"DROP USER", begins("DROP USER")}, {"DBMS_DATAPUMP", begins("(?s)DECLARE.*DBMS_DATAPUMP")},
	{"UTL_FILE", begins(`(?s)BEGIN\s+SYS\.UTL_FILE`)}, {"block", begins(`BEGIN\s`)},
}

// Lives of copies of a schema, of a dump that is there and of one that Filewise exports, and of set-ups, of tables alone and of all
// that one may have. The others are named by where indexes are.
const (
	aCopy      = "a copy"
	ourDump    = "a copy of our dump"
	tablesOnly = "a set-up of tables"
	setUp      = "a set-up"
)

func begins(pattern string) *regexp.Regexp { return regexp.MustCompile("^" + pattern) }

// bare returns a statement without its comments.
func bare(text string) string {
	return strings.TrimSpace(placeComment.ReplaceAllString(comments.ReplaceAllString(text, ""), ""))
}

var placeComment = regexp.MustCompile(`(?s)/\*.*?\*/`)

func kindOf(s statement) string {
	for _, k := range kinds {
		if k.pattern.MatchString(bare(s.text)) {
			return k.name
		}
	}
	return "SELECT"
}

// refusing is a server that refuses one statement, and then others of its kind, clean's too if it is for good.
// If dies is set, nothing arrives after it.
type refusing struct {
	*fakeServer
	kind    string
	nth     int // of its kind, from 1
	x       enginetest.Refusal
	dies    bool
	count   map[string]int
	refused bool
	ended   bool     // the run has
	unnamed []string // what is neither of a kind nor a query
}

func (r *refusing) refuse(s statement) error {
	if r.refused && r.dies && !r.ended {
		return explain(oracleError(3113))
	}
	kind := kindOf(s)
	r.count[kind]++
	if kind == "SELECT" && !strings.HasPrefix(bare(s.text), kind) {
		r.unnamed = append(r.unnamed, s.text)
	}
	again := r.refused && r.x.Always && (kind != "SELECT" || strings.Contains(s.text, " sys.")) // the account's own views it may read
	if kind != r.kind || r.count[kind] < r.nth || r.ended && !again {
		return nil
	}
	if r.refused = true; s.section == "copy-export" { // it has begun to write
		r.dumps[dumped.FindString(s.text)] = true
	}
	return explain(oracleError(r.x.Number))
}

func (r *refusing) exec(ctx context.Context, s statement) error {
	if err := r.refuse(s); err != nil {
		return err
	}
	return r.fakeServer.exec(ctx, s)
}

func (r *refusing) rows(ctx context.Context, s statement) (all [][]any, err error) {
	if err = r.refuse(s); err == nil {
		all, err = r.fakeServer.rows(ctx, s)
	}
	return all, err
}

// TestLeavesNothing: every statement of a build's life, from its creation to its drop, is refused in every way that the
// vendor documents of it, and the run goes on, or dies. Then clean with the same account leaves nothing, or names the
// statement that a DBA has to give; and nothing was altered unchecked. By default the first and the last statement of each
// kind in a life are.
func TestLeavesNothing(t *testing.T) {
	refusals, used := enginetest.ReadRefusals(t, "testdata/refusals.txt"), map[string]bool{}
	for _, indexes := range []string{filewise.IndexesTogether, filewise.IndexesApart, aCopy, ourDump, setUp} {
		rehearsed := &refusing{fakeServer: newFake(), count: map[string]int{}}
		if err := rehearsed.live(t, indexes); err != nil || len(rehearsed.unnamed) > 0 {
			t.Fatalf("%v, of no kind: %q", err, rehearsed.unnamed)
		}
		for kind, n := range rehearsed.count {
			used[kind] = true
			if refusals[kind] == nil {
				t.Errorf("how %s is refused is in no table", kind)
			}
			for _, x := range refusals[kind] {
				for i := range 2 * n {
					if nth := i/2 + 1; !longtest.Wanted() && nth > 1 && nth < n {
						continue
					}
					synctest.Test(t, func(t *testing.T) {
						r := &refusing{fakeServer: newFake(), kind: kind, nth: i/2 + 1, x: x, dies: i%2 > 0, count: map[string]int{}}
						err := r.live(t, indexes)
						what := fmt.Sprintf("indexes %s: ORA-%05d at %s %d, dies: %v: %v", indexes, x.Number, kind, r.nth, r.dies, err)
						if err == nil && kind != "SELECT" {
							t.Errorf("%s is not told", what)
						}
						r.ended = true
						r.left(t, what, cleanAll(t, r))
					})
				}
			}
		}
	}
	for kind := range refusals {
		if !used[kind] {
			t.Errorf("no life says %s", kind)
		}
	}
}

// live goes through the life of a build.
func (r *refusing) live(t *testing.T, indexes string) error {
	b, err := r.build(t, indexes, r, &server{control: r, about: about{account: r.account}})
	if err != nil {
		t.Fatal(err)
	}
	return r.pass(t, b)
}

// build returns a build that is not there yet.
func (r *refusing) build(t *testing.T, indexes string, c client, s *server) (*build, error) {
	l, program := smallfile(3), testProgram(t, small)
	l.Indexes, l.AddedLater = indexes, filewise.LaterRebuilt
	if from := map[string]string{aCopy: copyFrom, ourDump: "datapump:dumps?schema=shop"}[indexes]; from != "" {
		l.Indexes, l.AddedLater, program = filewise.IndexesTogether, "", copyProgram(t, from)
	}
	if indexes == setUp || indexes == tablesOnly {
		l.Indexes, l.AddedLater, program = filewise.IndexesTogether, "", setUpProgram(t, indexes == setUp)
	}
	d, err := newDesign(serverTarget(), l, program, newNames(indexes == filewise.IndexesApart), usualBlock)
	s.taken.name(&d.dump)
	r.add(t, "USERS", false, "BOB.ACCOUNTS")
	r.before = func(s statement) {
		if s.section != "files" {
			return
		}
		files := d.files
		if d.apart() && s.args[0] == d.names.Index {
			files = d.index
		}
		r.answers["files"] = nil
		for i, file := range files {
			r.answers["files"] = append(r.answers["files"], []any{"/u02/x", int64(i), file.bytes / d.block, "YES", int64(1), int64(0), int64(0)})
		}
	}
	return &build{server: s, design: d, conn: held{client: c, close: func() error { return nil }}, markers: markers{c, r.account}}, err
}

// setUpProgram returns custom SQL whose set-up has all that one may have, or only tables.
func setUpProgram(t *testing.T, all bool) filewise.Program {
	t.Helper()
	if all {
		return bank(t, nil)
	}
	p := bank(t, map[string]workload.Script{"pay": {"": {{Text: "UPDATE accounts SET place = :id WHERE id = :id", File: "x", Line: 1}}}})
	p.Custom.Setup = slices.DeleteFunc(slices.Clone(p.Custom.Setup), func(x filewise.CustomText) bool {
		return regexp.MustCompile("CREATE (?:OR REPLACE )?(?:VIEW|SEQUENCE|PROCEDURE)").MatchString(x.Text)
	})
	return p
}

// pass takes a build from its creation to its drop.
func (r *refusing) pass(t *testing.T, b *build, more ...func(context.Context) error) (err error) {
	observe := func(ctx context.Context) error { _, err := b.Observe(ctx); return err }
	steps := []func(context.Context) error{b.create, b.Extend, b.Settle, observe}
	if b.design.layout.AddedLater == "" {
		steps = slices.Delete(steps, 1, 2)
	}
	for _, step := range append(steps, more...) {
		if err = step(t.Context()); err != nil {
			break
		}
	}
	return errors.Join(err, b.Drop(t.Context()), b.server.taken.remove(t.Context(), b.markers))
}

// left makes sure that clean has left nothing that it did not name, and that what is others' is as it was.
func (r *refusing) left(t *testing.T, what, told string) {
	t.Helper()
	named := func(kind, name string) bool {
		return strings.Contains(told, "DROP "+kind+` "`+name+`"`) || strings.Contains(told, "GRANT SELECT ON SYS.")
	}
	for name := range r.tablespaces {
		if name != "USERS" && !named("TABLESPACE", name) {
			t.Errorf("%s: left is tablespace %s, of which clean says: %s", what, name, told)
		}
	}
	for name, kind := range r.programs {
		if !named(kind, name) && !named("TABLESPACE", name[:27]) {
			t.Errorf("%s: left is %s %s, of which clean says: %s", what, kind, name, told)
		}
	}
	for name := range r.users {
		if !named("USER", name) {
			t.Errorf("%s: left is user %s, of which clean says: %s", what, name, told)
		}
	}
	for name := range r.dumps {
		if !strings.Contains(what, "dump "+strings.Trim(name, "'")) {
			t.Errorf("%s: left is %s, of which nothing is said", what, name)
		}
	}
	if len(r.unchecked) > 0 || r.tablespaces["USERS"] == nil || r.tablespaces["USERS"].offline {
		t.Errorf("%s: altered unchecked: %q, others': %+v", what, r.unchecked, r.tablespaces["USERS"])
	}
}

// cleanAll returns what clean does once Filewise has ended, and its messages.
func cleanAll(t *testing.T, r *refusing) (told string) {
	t.Helper()
	for name := range r.comments {
		r.died(t, name)
	}
	m := markers{r, r.account}
	for range 2 { // an index tablespace may go with its build
		found, err := leftovers(t.Context(), m)
		if err != nil {
			told += err.Error() + "; " + filewise.RemedyOf(err) + "\n"
		}
		for _, left := range found {
			told += left.Kept + "\n"
			if err := external.Remove(t.Context(), m, left); err != nil {
				told += err.Error() + "; " + filewise.RemedyOf(err) + "\n"
			}
		}
	}
	return told
}
