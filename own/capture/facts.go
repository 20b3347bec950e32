package capture

import (
	"cmp"
	"context"
	"slices"

	"filewise"
)

// facts reads the facts of the tables that the statements name.
func (t *taking) facts(ctx context.Context, kinds []kind) error {
	var names []string
	for _, k := range kinds {
		for _, s := range k.shapes {
			for _, name := range s.Tables {
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	t.tables = map[string]filewise.TableFacts{}
	var all []filewise.TableFacts
	sum := int64(0)
	for _, name := range names {
		f, err := t.table(ctx, name)
		if err != nil {
			return err
		}
		if f.Name != "" {
			t.tables[f.Name], all = f, append(all, f)
			sum += f.Bytes
		}
	}
	if err := t.parentsOf(ctx, all); err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b filewise.TableFacts) int { return cmp.Compare(b.Bytes, a.Bytes) })
	for _, f := range all {
		if f.Bytes*10 < sum {
			continue // small tables are not worth spreading
		}
		x := Table{f.Table, f.Key, f.Bytes, f.Rows, f.Whole, f.Alone}
		if slices.ContainsFunc(t.Tables, func(o Table) bool { return o.Name == x.Name && o.Whole == x.Whole }) {
			continue // named twice: with its schema, and without
		}
		if filewise.Printable(f.Table) != f.Table {
			x.Whole, x.Alone = cmp.Or(x.Whole, "control characters are in its name"), ""
		}
		if f.Key == "" {
			x.Whole = cmp.Or(x.Whole, "it has no primary key")
			if len(f.Columns) > 0 {
				x.Key = f.Columns[0].Name // of no effect, since the table stays whole
			}
		}
		t.Tables = append(t.Tables, x)
	}
	t.setUp(all)
	return nil
}

// table reads a table's facts. If the server does not return them, it notes the table as unread: the statements are
// useful without them.
func (t *taking) table(ctx context.Context, name string) (filewise.TableFacts, error) {
	f, err := t.watcher.Table(ctx, name, t.Options.asked)
	if err != nil {
		return filewise.TableFacts{}, t.unread(ctx, "table "+name, err)
	}
	t.withhold(&f)
	return f, nil
}

// unread notes a question that failed. It returns an error only if the capture was interrupted.
func (t *taking) unread(ctx context.Context, what string, why error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if c := (Column{Name: what, Why: brief(why.Error())}); !slices.Contains(t.Unread, c) {
		t.Unread = append(t.Unread, c)
	}
	return nil
}

// once corrects calls that the server counts several times: an INSERT counts once more for each rule of its table.
func (t *taking) once(kinds []kind) {
	for i := range kinds {
		k := &kinds[i]
		if t.Log != nil || len(k.shapes) != 1 {
			continue
		}
		if n := t.tables[k.shapes[0].Into].Rules; n > 0 {
			more := k.calls * float64(n) / float64(n+1)
			k.calls -= more
			t.Calls -= more
		}
	}
}

// parentsOf reads the tables that a unique column refers to: their keys are the only values that the column's new rows
// can have.
func (t *taking) parentsOf(ctx context.Context, all []filewise.TableFacts) error {
	t.parents = map[string]filewise.TableFacts{}
	for _, f := range all {
		for _, c := range f.Columns {
			if _, known := t.parents[c.ParentTable]; known || !c.Unique || c.ParentTable == "" {
				continue
			}
			parent, err := t.table(ctx, c.ParentTable)
			if err != nil {
				return err
			}
			t.parents[c.ParentTable] = parent
		}
	}
	return nil
}

// setUp adds the statements that make the tables, for studies whose builds no dump fills.
func (t *taking) setUp(all []filewise.TableFacts) {
	made := map[string]bool{}
	for _, f := range all {
		if f.Create == nil || made[f.Table] {
			continue
		}
		made[f.Table] = true
		spread := ""
		if slices.ContainsFunc(t.Tables, func(x Table) bool { return x.Name == f.Table && x.Whole == "" }) {
			spread = "{{spread " + quoted(f.Table) + "}}"
		}
		t.Setup = append(t.Setup, f.Create(spread, func(c filewise.ColumnFacts) bool {
			return t.why[f.Name+"."+c.Name] == ""
		})...)
	}
}
