package capture

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"filewise"
)

// logged holds what a log shows of one value over a kind's calls.
type logged struct {
	text   string             // the same in all calls. Empty means the value varies or is not known
	seen   map[string]float64 // calls by text, if the value varies. Nil means it does not, or is not known
	others float64            // calls with texts that are not in seen
	as     []at               // earlier values of the transaction that were equal to it in all calls
}

// at is a value's place: the number of its statement in the transaction, and the value's number in the statement.
type at struct{ statement, value int }

// callValues holds the values of a statement, flattened from their lists.
type callValues struct {
	lists []int // their lengths
	of    []logged
}

// mostSeen limits the texts of a value that are kept, and mostCompared the values with which later ones are compared.
const mostSeen, mostCompared = 50, 100

// leastNew is the number of calls with a value each from which on values are taken for new ones.
const leastNew = 20

// callValuesOf returns the values of a kind's first call.
func callValuesOf(statements [][][]string) []callValues {
	all := make([]callValues, len(statements))
	earlier := map[string][]at{}
	compared := 0
	for i, lists := range statements {
		for _, list := range lists {
			all[i].lists = append(all[i].lists, len(list))
			for _, v := range list {
				here := at{i, len(all[i].of)}
				all[i].of = append(all[i].of, logged{text: v, as: slices.Clone(earlier[bare(v)])})
				if compared++; v != "" && compared <= mostCompared {
					earlier[bare(v)] = append(earlier[bare(v)], here)
				}
			}
		}
	}
	return all
}

// bare returns a value's text without quotes, so that a quoted parameter equals the bare number.
func bare(text string) string { return strings.Trim(text, "'") }

// fit flattens a call's lists, with each value in the place of the first call's. The values of a list with another
// length are left empty.
func (t callValues) fit(lists [][]string) []string {
	var flat []string
	for j, n := range t.lists {
		list := make([]string, n)
		if j < len(lists) && len(lists) == len(t.lists) && len(lists[j]) == n {
			list = lists[j]
		}
		flat = append(flat, list...)
	}
	return flat
}

// vary adds the values of another call, and returns the bytes that it keeps of them.
func (k *kind) vary(values [][][]string) (held int) {
	flat := make([][]string, len(k.values))
	for i, t := range k.values {
		var of [][]string
		if i < len(values) {
			of = values[i]
		}
		flat[i] = t.fit(of)
	}
	for i, t := range k.values {
		for n := range t.of {
			l, v := &t.of[n], flat[i][n]
			l.as = slices.DeleteFunc(l.as, func(a at) bool { return v == "" || bare(flat[a.statement][a.value]) != bare(v) })
			held += l.add(v, k.calls)
		}
	}
	return held
}

// add adds a value of another call, after calls earlier ones.
func (l *logged) add(v string, calls float64) (held int) {
	switch {
	case v == "" || v != l.text && l.text == "" && l.seen == nil:
		*l = logged{}
		return 0
	case v == l.text:
		return 0
	case l.seen == nil:
		l.seen = map[string]float64{l.text: calls}
		l.text, held = "", len(l.text)+overhead
	}
	if _, is := l.seen[v]; !is && (len(l.seen) >= mostSeen || len(v) > 4*longest) {
		l.others++
		return held
	} else if !is {
		held += len(v) + overhead/8
	}
	l.seen[v]++
	return held
}

// draw returns a generator of the texts that a log has of a value, whose type on the server is kind. ok is false if the
// log has too little, or the texts may be personal.
func (l logged) draw(kind filewise.ColumnType) (text string, ok bool) {
	var values []string
	plain := map[string]float64{}
	all := l.others
	for v, n := range l.seen {
		of := v
		if strings.HasPrefix(v, "'") {
			of = strings.ReplaceAll(strings.TrimSuffix(v[1:], "'"), "''", "'")
		} else if _, err := strconv.ParseFloat(v, 64); err != nil {
			return "", false // no generator has its form
		}
		if strings.ContainsRune(of, '\\') {
			return "", false
		}
		plain[of] += n
		all += n
	}
	for v := range plain {
		values = append(values, v)
	}
	slices.Sort(values)
	if len(values) == 0 {
		return "", false
	}
	if text := ranged(values, kind); text != "" && l.others > 0 {
		return text, true
	}
	items, listed := []string{}, 0.0
	for _, v := range values {
		if plainlyKind(v) || plain[v] >= leastWords && len(v) <= 2*longest && !personalValue.MatchString(v) {
			items, listed = append(items, fmt.Sprintf("%s: %.0f", quoted(v), plain[v])), listed+plain[v]
		}
	}
	every := func(of func(string) bool) bool {
		return !slices.ContainsFunc(values, func(v string) bool { return !of(v) })
	}
	switch {
	case every(uuid) && l.once():
		return "uuid", true
	case listed < 0.9*all && !every(plainlyKind):
		return "", false
	}
	return "{choice: {" + strings.Join(items, ", ") + "}}", true
}

// once reports whether a value was another one in each of many calls: it is a new key by itself.
func (l logged) once() bool {
	if len(l.seen) < leastNew {
		return false
	}
	for _, n := range l.seen {
		if n > 1 {
			return false
		}
	}
	return true
}

// words reports whether a value varies, and is a text in all calls, as random letters are.
func (l logged) words() bool {
	for v := range l.seen {
		if !strings.HasPrefix(v, "'") || plainlyKind(bare(v)) {
			return false
		}
	}
	return l.seen != nil
}

// plainlyKind reports whether a value is clearly a number, a moment or a key, and not a word.
func plainlyKind(v string) bool {
	_, err := strconv.ParseFloat(v, 64)
	_, moment := momentOf(v)
	return err == nil && len(v) < 16 || moment || uuid(v) || plainValue.MatchString(v)
}

// plainValue matches an interval, an array of numbers, and an area.
var plainValue = regexp.MustCompile(`^(?:(?:MULTI)?POLYGON ?\([-\d., ()]+\)|` +
	`-?\d+ (?:year|month|week|day|hour|min|minute|sec|second)s?|\{-?\d+(?:, ?-?\d+)*\})$`)

func uuid(v string) bool {
	dashes := strings.Count(v, "-")
	return (len(v) == 36 && dashes == 4 || len(v) == 32 && dashes == 0) && strings.Trim(v, "0123456789abcdefABCDEF-") == ""
}

// ranged returns a generator between the least and the greatest of numbers or moments. It is empty if the values are
// neither.
func ranged(values []string, kind filewise.ColumnType) string {
	var numbers []float64
	var moments []time.Time
	whole := kind != filewise.TypeNumber
	for _, v := range values {
		if x, err := strconv.ParseFloat(v, 64); err == nil {
			numbers = append(numbers, x)
			whole = whole && x == float64(int64(x)) && !strings.Contains(v, ".")
		} else if m, ok := momentOf(v); ok {
			moments = append(moments, m)
		}
	}
	switch {
	case len(numbers) == len(values) && whole:
		return fmt.Sprintf("{int: {from: %.0f, to: %.0f}}", slices.Min(numbers), slices.Max(numbers))
	case len(numbers) == len(values):
		return fmt.Sprintf("{float: {from: %s, to: %s}}", decimal(slices.Min(numbers)), decimal(slices.Max(numbers)))
	case len(moments) == len(values):
		return timestamps(slices.MinFunc(moments, time.Time.Compare), slices.MaxFunc(moments, time.Time.Compare))
	}
	return ""
}

func timestamps(low, high time.Time) string {
	return fmt.Sprintf("{timestamp: {from: %s, to: %s}}", low.UTC().Format(time.RFC3339), high.UTC().Format(time.RFC3339))
}

// link holds the text of a value that later values of its transaction can repeat.
type link struct {
	text  string // :NAME
	kind  filewise.ColumnType
	fresh bool // it is a new row's key
}

// of returns what the log shows of the present value.
func (s *statement) of() logged {
	if s.at.statement >= len(s.kind.values) || s.at.value >= len(s.kind.values[s.at.statement].of) {
		return logged{}
	}
	return s.kind.values[s.at.statement].of[s.at.value]
}

// again returns the text of an earlier value of the transaction, if the present one was equal to it in all calls. So a
// row is read and then changed, and a new order's lines belong to that order.
func (s *statement) again(v filewise.ValueUse, t filewise.TableFacts, c filewise.ColumnFacts, known bool) (text string, ok bool) {
	l := s.of()
	if s.kind.calls < leastCalls || l.seen == nil || v.Use == filewise.UseAdd {
		return "", false
	}
	for _, a := range l.as {
		is, reported := s.linked[a]
		if !reported || known && is.kind != c.Type || known && s.fresh(v, c) && !is.fresh {
			continue
		}
		if text = is.text; v.Use == filewise.UseInsert || v.Use == filewise.UseSet {
			composite := slices.ContainsFunc(t.Foreign, func(f filewise.ForeignKey) bool { return slices.Contains(f.Columns, c.Name) })
			if !is.fresh || composite {
				text = s.existing(t, c, text)
			}
		}
		return text, true
	}
	return "", false
}

// fresh reports whether a value is by itself the key of a new row.
func (s *statement) fresh(v filewise.ValueUse, c filewise.ColumnFacts) bool {
	return v.Use == filewise.UseInsert && c.Unique && !c.Composite
}

// renewed reports whether another value of the statement repeats a new row's key. A key that contains it is then new,
// whatever its other columns have.
func (s *statement) renewed() bool {
	if s.kind.calls < leastCalls || s.at.statement >= len(s.kind.values) {
		return false
	}
	return slices.ContainsFunc(s.kind.values[s.at.statement].of, func(l logged) bool {
		return l.seen != nil && slices.ContainsFunc(l.as, func(a at) bool { return a.statement < s.at.statement && s.linked[a].fresh })
	})
}

// referred reports whether a later value of the transaction was equal to the present one in all calls.
func (s *statement) referred() bool {
	return s.kind.calls >= leastCalls && slices.ContainsFunc(s.kind.values, func(t callValues) bool {
		return slices.ContainsFunc(t.of, func(l logged) bool { return l.seen != nil && slices.Contains(l.as, s.at) })
	})
}

// logged returns a generator of a log's own texts, for a value that is compared with no column, is searched for, or has
// a type without a generator, or a CHECK that made-up values may break.
func (s *statement) logged(d drawing) (text string, ok bool) {
	search := d.use == filewise.UsePattern || d.use == filewise.UseWords
	if d.known && !search && d.Type != filewise.TypeUnknown && !d.breaks() || d.withheld != "" {
		return "", false
	}
	return s.of().draw(d.Type)
}
