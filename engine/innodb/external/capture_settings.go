package external

import (
	"context"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/innodb/dialect"
)

// Settings are the modes of SQL that decide which values are taken, and whether names of tables are folded.
func (w *watcher) Settings(context.Context) (map[string]string, error) {
	modes := slices.DeleteFunc(dialect.Modes(w.vars["sql_mode"]), func(mode string) bool {
		return !dialect.Harmless(mode) || mode == "NO_AUTO_CREATE_USER" // which MySQL 8 has no more
	})
	all := map[string]string{"sql_mode": strings.Join(modes, ",")}
	if w.folds() {
		all["lower_case_table_names"] = "1"
	}
	return all, nil
}

// folds tells that names of tables are the same whatever their case.
func (w *watcher) folds() bool {
	v, ok := w.vars["lower_case_table_names"]
	return ok && v != "0"
}

// tables are the names of the database's, which are read once.
func (w *watcher) tables(ctx context.Context) (_ []string, err error) {
	if w.listed == nil {
		w.listed, err = dialect.Column(ctx, w.db, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ?", w.database)
	}
	return w.listed, err
}

// fold gives a statement's tables the names that the catalogue has.
func (w *watcher) fold(ctx context.Context, s *filewise.Shape) error {
	if !w.folds() {
		return nil
	}
	all, err := w.tables(ctx)
	of := func(name string) string {
		if i := slices.IndexFunc(all, func(n string) bool { return strings.EqualFold(n, name) }); i >= 0 {
			return all[i]
		}
		return name
	}
	for i, name := range s.Tables {
		s.Tables[i] = of(name)
	}
	s.Into = of(s.Into)
	for i := range s.Values {
		if v := &s.Values[i]; v.Table != "" {
			v.Table = of(v.Table)
		}
	}
	return err
}
