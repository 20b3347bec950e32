package capture

import (
	"context"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/innodb/dialect"
)

// zeroDates lists the modes that forbid zero dates.
var zeroDates = []string{"NO_ZERO_DATE", "NO_ZERO_IN_DATE"}

// Settings returns the SQL modes that decide which values are accepted, and whether names of tables are folded. If
// columns have zero dates as defaults, the modes that forbid these are left out.
func (w *ofInnoDB) Settings(ctx context.Context, sessions map[string]string) (map[string]string, error) {
	mode, own := sessions["sql_mode"]
	if !own {
		mode = w.vars["sql_mode"]
	}
	modes := dialect.Modes(mode)
	zero, err := w.texts(ctx, "zero-dates", w.database)
	if err != nil {
		return nil, err
	}
	modes = slices.DeleteFunc(modes, func(mode string) bool {
		return !dialect.Harmless(mode) || mode == "NO_AUTO_CREATE_USER" || // MySQL 8 no longer has it
			len(zero) > 0 && !own && slices.Contains(zeroDates, mode)
	})
	all := map[string]string{"sql_mode": strings.Join(modes, ",")}
	if w.vars["autocommit"] == "OFF" {
		all["autocommit"] = "0"
	}
	if w.folds() {
		all["lower_case_table_names"] = "1"
	}
	return all, nil
}

// folds reports whether names of tables are case-insensitive.
func (w *ofInnoDB) folds() bool {
	v, ok := w.vars["lower_case_table_names"]
	return ok && v != "0"
}

// tables returns the names of the database's tables. It reads them once.
func (w *ofInnoDB) tables(ctx context.Context) (_ []string, err error) {
	if w.listed == nil {
		w.listed, err = w.texts(ctx, "tables", w.database)
	}
	return w.listed, err
}

// fold replaces the names of a statement's tables by the names in the catalogue.
func (w *ofInnoDB) fold(ctx context.Context, s *filewise.Shape) error {
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
