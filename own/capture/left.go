package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"filewise"
)

// shape keeps the transaction types that a study can repeat, and divides their statements from the values.
func (t *taking) shape(ctx context.Context, kinds []kind) ([]kind, error) {
	var kept []kind
	bytes := 0
	for n, k := range kinds {
		why := k.hidden
		switch {
		case why != "":
		case len(k.texts) == 1 && k.texts[0] == rolledBack:
			why = "transactions that were rolled back have left nothing"
		case len(k.texts) == 1 && k.texts[0] == undone:
			why = "it was rolled back to a savepoint, and has left nothing: the rest of its transaction is in the study"
		case len(k.texts) == 1 && k.texts[0] == notEnded:
			why = "transactions that were open when the log ends: how they end is not known"
		case len(k.texts) == 1 && k.texts[0] == unreadable:
			why = "records of the log that are cut or damaged, as where two files meet: what they held is not known"
		case len(k.texts) == 1 && firstWord(k.texts[0]) == "SET":
			why = "settings of sessions: a study's sessions have Filewise's"
		case len(k.texts) == 1 && strings.Contains(k.texts[0], filewiseOwn):
			why = "it is Filewise's own look at the columns"
		case len(k.texts) == 1 && strings.Contains(k.texts[0], foreignKey):
			why = "the server checks foreign keys by itself, of the study's rows as well"
		case k.control() && slices.Contains(cursors, firstWord(k.texts[0])):
			why = "it reads on from a cursor, whose query is in the study whole"
		case len(k.texts) == 1 && slices.Contains(prepares, firstWord(k.texts[0])):
			why = "it prepares a statement, or forgets one: what was executed of it is in the study"
		case k.control():
			why = "transactions are begun and ended by the study itself, so that it covers these as it covers the rest; which statements " +
				"stand in one, a log shows (--log)"
		case len(kept) == mostTypes:
			why = fmt.Sprintf("a study has %d types of transactions at most", mostTypes)
		case n >= mostLooked:
			why = fmt.Sprintf("only the first %d types are looked at", mostLooked)
		case bytes+size(k) > mostBytes:
			why = "a study file has no space for it"
		default:
			var err error
			if why, err = t.shapeOne(ctx, &k); err != nil {
				return nil, err
			}
		}
		if why != "" {
			t.leave(k, why)
			continue
		}
		kept, bytes = append(kept, k), bytes+size(k)
	}
	return kept, nil
}

// control reports whether the kind begins or ends a transaction. A study does so by itself.
func (k kind) control() bool {
	return len(k.texts) == 1 && k.texts[0] != rolledBack && k.texts[0] != undone && slices.Contains(controls, firstWord(k.texts[0]))
}

func size(k kind) (n int) {
	for _, text := range k.texts {
		n += len(text)
	}
	return n
}

// shapeOne divides a type's statements from their values. why is the reason to leave the type out, empty if there is
// none.
func (t *taking) shapeOne(ctx context.Context, k *kind) (why string, err error) {
	for i, text := range k.texts {
		if word := firstWord(text); !slices.Contains(works, word) {
			return cmp.Or(notRepeated[word], "it is no work on rows"), nil
		}
		s, err := t.watcher.Shape(ctx, text, k.constant(i))
		if n := len(s.Values); n > mostValues {
			return fmt.Sprintf("it has %d values: a study draws %d for a statement at most", n, mostValues), nil
		}
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if errors.Is(err, filewise.ErrNoAnswer) {
			if _, _, silent := t.watcher.Sessions(ctx); silent != nil {
				return "", err
			}
			return "the server is silent if it is to prepare it, and answers other questions", nil
		}
		ofServer := func(table string) bool {
			return slices.ContainsFunc(catalogues, func(c string) bool { return strings.HasPrefix(strings.ToLower(table), c) })
		}
		if slices.ContainsFunc(s.Tables, ofServer) || len(s.Tables) == 0 && serverFunction.MatchString(text) {
			return "it queries the server's own catalogue", nil
		}
		if t.Log == nil && following.MatchString(text) {
			return "it needs what a statement before it has left in its session; a log shows which (--log)", nil
		}
		if code := strings.Join(s.Pieces, "?"); variable.MatchString(code) && !strings.Contains(code, ":=") {
			return "it reads a variable that a statement before it has set in its session: a study's sessions have none", nil
		}
		if waiting.MatchString(text) {
			return "it waits: a value that is drawn would say for how long", nil
		}
		if errors.Is(err, filewise.ErrUnsupported) {
			return brief(strings.TrimSuffix(err.Error(), ": "+filewise.ErrUnsupported.Error())), nil
		}
		if err != nil {
			return "the server does not take it without its values: " + brief(err.Error()), nil
		}
		k.shapes = append(k.shapes, s)
	}
	return "", nil
}

// leave adds a transaction type to the parts that are left out for this reason.
func (t *taking) leave(k kind, why string) {
	what := brief(strings.Join(k.keys, "; "))
	n := slices.IndexFunc(t.Left, func(l Left) bool { return l.Why == why })
	if n < 0 {
		n = len(t.Left)
		t.Left = append(t.Left, Left{Why: why, What: what, Covered: k.control()})
	}
	t.Left[n].Share += share(k.calls, t.Calls)
	t.Left[n].TimeShare += share(k.seconds, t.Time)
}
