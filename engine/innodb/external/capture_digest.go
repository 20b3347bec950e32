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

// named gives names in digests as statements have them: a digest has a table `status`, whose name is a keyword,
// as STATUS, which is another table where case counts; and MySQL's does not double the backticks in a name.
func (w *watcher) named(ctx context.Context, all []filewise.CountedStatement) error {
	ofDatabase := func(column, view, like string) ([]string, error) {
		return dialect.Column(ctx, w.db, "SELECT "+column+" FROM information_schema."+view+" WHERE TABLE_SCHEMA = ? AND "+column+" LIKE ?",
			w.database, like)
	}
	tables, err := ofDatabase("TABLE_NAME", "TABLES", "%")
	if err != nil {
		return err
	}
	ticked, err := ofDatabase("COLUMN_NAME", "COLUMNS", "%`%")
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
