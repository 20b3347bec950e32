package capture

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/innodb/dialect"
)

// inTable matches the name of a table that a digest shows as a keyword.
var inTable = regexp.MustCompile(`\b(FROM|JOIN|INTO|UPDATE) ([A-Z][A-Z0-9_]*)\b`)

// unit matches a unit of time in MariaDB's digests. A digest has INTERVAL ? SQL_TSI_DAY, which only TIMESTAMPADD
// accepts, for INTERVAL ? DAY.
var unit = regexp.MustCompile(`\bSQL_TSI_([A-Z]+)\b`)

// alias matches another name of a table that a digest shows as a keyword.
var alias = regexp.MustCompile(`\bAS ([A-Z][A-Z0-9_]*)\b`)

// aliased restores another name, as in VALUES (…) AS new ON DUPLICATE KEY UPDATE a = new.a, of which a digest has AS NEW and `new`.`a`.
func aliased(text string) string {
	return alias.ReplaceAllStringFunc(text, func(found string) string {
		if m := regexp.MustCompile("(?i)`" + found[3:] + "` ?\\.").FindString(text); m != "" {
			return "AS " + strings.TrimRight(m, " .")
		}
		return found
	})
}

// named restores names in digests. If a table's name is a keyword, as in `status`, a digest shows STATUS, which is
// another table where case counts. MySQL's digests also do not double the backticks in a name.
func (w *ofInnoDB) named(ctx context.Context, all []filewise.CountedStatement) error {
	tables, err := w.tables(ctx)
	if err != nil {
		return err
	}
	ticked, err := w.texts(ctx, "backticks", w.database)
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
		capitals[t] = t // a name with capitals is meant as it is
	}
	slices.SortFunc(ticked, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // one name can contain another
	for i := range all {
		all[i].Text = aliased(all[i].Text)
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

// doubtful matches a digest that leaves out values in two places.
var doubtful = regexp.MustCompile(`(?s), \.\.\. .*, \.\.\.`)

// sampled replaces a digest that leaves out values in two places by a full statement that the server has stored for it.
// The statement shows how many values there were. MariaDB stores none, and a truncated one is not used.
func (w *ofInnoDB) sampled(ctx context.Context, all []filewise.CountedStatement) {
	if w.engine != "mysql" {
		return
	}
	for i := range all {
		s := &all[i]
		if s.Hidden != "" || !doubtful.MatchString(s.Text) {
			continue
		}
		found, err := w.texts(ctx, "full-text", w.database, s.ID)
		if err != nil {
			s.Hidden = "its digest leaves out values in two places, and the server's sample of it could not be read"
		}
		if len(found) == 1 && found[0] != "" && !strings.HasSuffix(found[0], "...") {
			s.Text = found[0]
		}
	}
}

// shortest is the minimum length of a digest that is searched for in routines. Shorter ones, such as BEGIN, occur in
// most routines.
const shortest = 20

// outer leaves out statements that triggers and routines execute, because the time of the calling statements includes
// them. Their digests contain the routines' variable names.
func (w *ofInnoDB) outer(ctx context.Context, all []filewise.CountedStatement) []filewise.CountedStatement {
	bodies, err := w.texts(ctx, "bodies", w.database, w.database)
	if err != nil { // such statements drop out later: no server prepares variables
		return all
	}
	for i, text := range bodies {
		bodies[i] = tight(w.rules.Key(text))
	}
	return slices.DeleteFunc(all, func(s filewise.CountedStatement) bool {
		text := tight(s.Text)
		return len(text) > shortest && slices.ContainsFunc(bodies, func(body string) bool { return strings.Contains(body, text) })
	})
}

// tight returns a text without what a digest writes differently.
func tight(text string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "\t", "", "\n", "", "\r", "", "`", "").Replace(text))
}
