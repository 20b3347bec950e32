package external

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/innodb/dialect"
)

// inTable is a table's name that a digest gives as a keyword.
var inTable = regexp.MustCompile(`\b(FROM|JOIN|INTO|UPDATE) ([A-Z][A-Z0-9_]*)\b`)

// unit is one of time in MariaDB's digests: INTERVAL ? SQL_TSI_DAY, which only TIMESTAMPADD takes, stands for INTERVAL ? DAY.
var unit = regexp.MustCompile(`\bSQL_TSI_([A-Z]+)\b`)

// named gives names in digests as statements have them: a digest has a table `status`, whose name is a keyword,
// as STATUS, which is another table where case counts; and MySQL's does not double the backticks in a name.
func (w *watcher) named(ctx context.Context, all []filewise.CountedStatement) error {
	tables, err := w.tables(ctx)
	if err != nil {
		return err
	}
	ticked, err := dialect.Column(ctx, w.db, "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND "+
		"COLUMN_NAME LIKE '%`%'", w.database)
	if err != nil {
		return err
	}
	capitals := map[string]string{}
	for _, t := range tables {
		capitals[strings.ToUpper(t)] = t
		if strings.Contains(t, "`") {
			ticked = append(ticked, t)
		}
	}
	for _, t := range tables {
		capitals[t] = t // one that has capitals is meant as it is
	}
	slices.SortFunc(ticked, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // one may be in another
	for i := range all {
		for _, name := range ticked {
			all[i].Text = strings.ReplaceAll(all[i].Text, "`"+name+"`", dialect.Ident(name))
		}
		all[i].Text = inTable.ReplaceAllStringFunc(all[i].Text, func(found string) string {
			before, word, _ := strings.Cut(found, " ")
			if name, is := capitals[word]; is {
				return before + " " + dialect.Ident(name)
			}
			return found
		})
	}
	return nil
}

// doubtful is a digest that leaves out values in two places.
var doubtful = regexp.MustCompile(`(?s), \.\.\. .*, \.\.\.`)

const readSample = "SELECT COALESCE(QUERY_SAMPLE_TEXT, '') FROM performance_schema.events_statements_summary_by_digest " +
	"WHERE SCHEMA_NAME = ? AND DIGEST = ?"

// sampled takes, in the place of a digest that leaves out values in two places, a statement that the server keeps of it:
// that describes how many there were in each. MariaDB keeps none, nor one that is cut.
func (w *watcher) sampled(ctx context.Context, all []filewise.CountedStatement) {
	if w.product != dialect.MySQL {
		return
	}
	for i := range all {
		s := &all[i]
		if s.Hidden != "" || !doubtful.MatchString(s.Text) {
			continue
		}
		found, err := dialect.Column(ctx, w.db, readSample, w.database, s.ID)
		if err != nil {
			s.Hidden = "its digest leaves out values in two places, and the server's sample of it could not be read"
		}
		if len(found) == 1 && found[0] != "" && !strings.HasSuffix(found[0], "...") {
			s.Text = found[0]
		}
	}
}

const readBodies = "SELECT ACTION_STATEMENT FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = ? UNION ALL " +
	"SELECT COALESCE(ROUTINE_DEFINITION, '') FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = ?"

// shortest holds what a digest has at least that is looked for in routines: BEGIN stands in most.
const shortest = 20

// outer leaves out what triggers and routines execute, which is within the time of the statements that call them. A digest
// of it has their variables' names.
func (w *watcher) outer(ctx context.Context, all []filewise.CountedStatement) []filewise.CountedStatement {
	bodies, err := dialect.Column(ctx, w.db, readBodies, w.database, w.database)
	if err != nil { // they are left out by themselves: no server prepares variables
		return all
	}
	for i, text := range bodies {
		bodies[i] = tight(dialect.CustomRules.Key(text))
	}
	return slices.DeleteFunc(all, func(s filewise.CountedStatement) bool {
		text := tight(s.Text)
		return len(text) > shortest && slices.ContainsFunc(bodies, func(body string) bool { return strings.Contains(body, text) })
	})
}

// tight returns a text without what a digest writes in another way.
func tight(text string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "\t", "", "\n", "", "\r", "", "`", "").Replace(text))
}
