package capture

import (
	"context"
	"regexp"
	"slices"
	"strconv"

	"filewise"
	"filewise/engine/customsql"
)

// ofPostgres watches a database of PostgreSQL. Its session finds tables where the clients' sessions do.
type ofPostgres struct {
	asking
	schema   string // of the extension pg_stat_statements; "" if the database does not have it
	settings map[string]string
}

func watchPostgres(ctx context.Context, in asking) (Watcher, error) {
	w := &ofPostgres{asking: in, settings: map[string]string{}}
	rows, err := w.ask(ctx, "extension", nil)
	if err != nil {
		return nil, err
	}
	w.schema = firstOf(rows).Text(0)
	rows, err = w.ask(ctx, "settings", nil)
	for _, r := range rows {
		w.settings[r.Text(0)] = r.Text(1)
	}
	return w, err
}

// Server returns the product and version.
func (w *ofPostgres) Server() string { return w.About().Server }

// Settings returns the settings that the database or its clients' roles change and on which statements depend.
func (w *ofPostgres) Settings(context.Context, map[string]string) (map[string]string, error) {
	return w.settings, nil
}

const orLog = "; or log the statements (log_min_duration_statement = 0) and give the file by --log"

// Counted reads pg_stat_statements.
func (w *ofPostgres) Counted(ctx context.Context) ([]filewise.CountedStatement, error) {
	if w.schema == "" {
		return nil, filewise.Errorf(filewise.CodeUsage, "as a superuser: CREATE EXTENSION pg_stat_statements in that database, with "+
			"shared_preload_libraries = 'pg_stat_statements' and a restart of the server if it is not loaded yet"+orLog,
			"database %s has no extension pg_stat_statements, which counts what the statements do", w.database)
	}
	vars := map[string]any{"Schema": w.schema, "Took": "total_exec_time + total_plan_time", "Top": "toplevel"}
	if w.About().Version[0] < 130000 {
		vars["Took"] = "total_time"
	}
	if w.About().Version[0] < 140000 {
		vars["Top"] = "true"
	}
	rows, err := w.ask(ctx, "counted", vars)
	switch w.code(err) {
	case "55000": // object_not_in_prerequisite_state
		return nil, filewise.Errorf(filewise.CodeUsage, "set shared_preload_libraries = 'pg_stat_statements' and restart the server"+orLog,
			"pg_stat_statements is not loaded: %w", err)
	case "42501": // insufficient_privilege
		return nil, filewise.Errorf(filewise.CodeUsage, "as a superuser: GRANT pg_read_all_stats TO "+w.About().Account,
			"the account may not read pg_stat_statements: %w", err)
	}
	var all []filewise.CountedStatement // one for each user
	for _, r := range rows {
		s := filewise.CountedStatement{ID: r.Text(0), Text: r.Text(1)}
		s.Calls, _ = r.Real(2)
		s.Seconds, _ = r.Real(3)
		s.Rows, _ = r.Real(4)
		if s.Text == "<insufficient privilege>" {
			s.ID, s.Text = "hidden", ""
			s.Hidden = "texts of other roles are hidden: GRANT pg_read_all_stats TO " + w.About().Account
		}
		if query := declared(s.Text); query != "" { // each cursor has its own name
			s.Text = query
			s.ID = w.rules.Key(query)
		}
		s.Key = w.rules.Key(s.Text) // the server keeps the values of utility statements: CREATE ROLE … PASSWORD
		all = append(all, s)
	}
	return customsql.Summed(all), err
}

// Sessions counts the sessions of the database.
func (w *ofPostgres) Sessions(ctx context.Context) (active, connected int, err error) {
	rows, err := w.ask(ctx, "sessions", nil)
	return int(firstOf(rows).Int(0)), int(firstOf(rows).Int(1)), err
}

// Shape has the server parse a statement whose values are taken out, so that the server reports the values' types.
func (w *ofPostgres) Shape(ctx context.Context, statement string, constants []string) (filewise.Shape, error) {
	ctx, cancel := context.WithTimeout(ctx, filewise.AskPatience)
	defer cancel()
	s, err := w.rules.Shape(statement, "", func(table string) ([]string, error) {
		quoted, err := w.quoted(ctx, table)
		if err != nil {
			return nil, err
		}
		return w.names(ctx, quoted)
	})
	if err != nil {
		return s, err
	}
	s.Keep(constants)
	err = w.typed(ctx, &s)
	for _, cast := range []func(*filewise.Shape) bool{ofNumbers, ofLiterals, ofArrays("integer"), ofArrays("text"), ofArrays("uuid")} {
		if !slices.Contains([]string{codeAmbiguous, codeUndefined, codeMismatch}, w.code(err)) {
			break
		}
		tried := s
		tried.Pieces, tried.Values = slices.Clone(s.Pieces), slices.Clone(s.Values)
		if !cast(&tried) {
			continue
		}
		if again := w.typed(ctx, &tried); again == nil {
			return tried, nil
		}
	}
	return s, err
}

// typed asks the server for the types of a statement's values.
func (w *ofPostgres) typed(ctx context.Context, s *filewise.Shape) error {
	tried, number := "", 0
	numbers := make([]int, len(s.Values))
	for i, v := range s.Values {
		tried += s.Pieces[i]
		switch {
		case v.Use == filewise.UseLimit, v.Use == filewise.UseOffset:
			tried += "1"
		case v.Use == filewise.UseSpan:
			tried += "'1 day'"
		case v.Column == "" && v.Literal != "":
			tried += v.Literal
		default:
			number++
			numbers[i] = number
			tried += "$" + strconv.Itoa(number)
		}
	}
	types, _, err := w.prepare(ctx, tried+s.Pieces[len(s.Values)])
	for i, n := range numbers {
		v := &s.Values[i]
		if err != nil || n == 0 {
			continue
		}
		var rows []filewise.Row
		rows, err = w.ask(ctx, "type", nil, types[n-1])
		name := firstOf(rows).Text(0)
		if v.Type = postgresKinds.Of(name); v.Type == filewise.TypeUnknown {
			v.Said = firstOf(rows).Text(1)
		}
		if err == nil && name == "regclass" && ofSequence.MatchString(s.Pieces[i]) { // the name of any sequence will do
			rows, err = w.ask(ctx, "sequence", nil)
			v.Literal = firstOf(rows).Text(0)
		}
	}
	return err
}

// ofSequence matches text that ends right before the name of a sequence.
var ofSequence = regexp.MustCompile(`(?i)\b(?:next|curr)val\s*\(\s*$`)

const codeAmbiguous, codeUndefined, codeMismatch = "42725", "42883", "42804" // of functions (operators included) and of types
