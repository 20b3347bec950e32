package capture

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"filewise"
)

// drawing holds what decides how one parameter's values are generated.
type drawing struct {
	filewise.ColumnFacts
	use      filewise.Use
	known    bool    // the column is known
	withheld string  // why the column's values are not shown. Empty means they are
	paired   bool    // the parameter is one bound of a range with two
	part     float64 // share of the rows that a bound without its other one leaves
}

// unknown returns a generator of a value that most statements accept, for a parameter whose column is not known.
func (d drawing) unknown() string {
	switch d.Type {
	case filewise.TypeText:
		return `{choice: [""]}`
	case filewise.TypeTime:
		return `{choice: ["2026-01-01 00:00:00"]}`
	case filewise.TypeBool:
		return "{choice: [true]}"
	case filewise.TypeUUID:
		return `{choice: ["00000000-0000-0000-0000-000000000000"]}`
	case filewise.TypeJSON:
		return `{choice: ["{}"]}`
	}
	return "{choice: [1]}"
}

// few limits how many values of a column are listed.
const few = 50

// draw returns the parameter's generator, and a note on it for the reader.
func (d drawing) draw() (text, note string) {
	if d.withheld != "" {
		note = "looks personal (" + d.withheld + "), so that no value of it is given"
	}
	if text, ok := d.chosen(); ok {
		return text, note
	}
	if !d.known && d.use != filewise.UseWords {
		return d.unknown(), "fill it in: the server does not report what stood there"
	}
	said := ""
	switch d.Type {
	case filewise.TypeWhole, filewise.TypeUnknown:
		text, said = d.number()
	case filewise.TypeNumber:
		text, said = d.real()
	case filewise.TypeTime:
		text, said = d.moment()
	case filewise.TypeBool:
		text = "{choice: [true, false]}"
	case filewise.TypeUUID:
		if text = "uuid"; d.Parent == "" && d.use != filewise.UseInsert && d.use != filewise.UseSet {
			said = "finds no row"
		}
	case filewise.TypeJSON:
		text = `{choice: ["{}"]}`
	default:
		text, said = d.letters()
	}
	if note != "" && said != "" {
		note += "; "
	}
	return text, note + said
}

// chosen lists a column's values if they are few, or if they may be shown.
func (d drawing) chosen() (string, bool) {
	listed := d.use == filewise.UseEqual || d.use == filewise.UseOther || d.use == filewise.UseSet || d.use == filewise.UseInsert
	if len(d.Common) == 0 || !d.Closed && (!listed || d.withheld != "" || d.Unique && d.use == filewise.UseInsert) {
		return "", false
	}
	sum := 0.0
	for _, s := range d.Shares {
		sum += s
	}
	all := len(d.Common) <= few && sum > 0.9 && (d.Distinct == 0 || d.Distinct <= few)
	text := d.Type == filewise.TypeText
	if !all && !d.Closed && d.Type != filewise.TypeUUID && !text { // a text's values are only the ones that may be shown
		return "", false
	}
	var items []string
	for i, v := range d.Common[:min(len(d.Common), few)] {
		switch {
		case d.Type == filewise.TypeBool:
			v = map[string]string{"t": "true", "f": "false"}[v]
		case d.Type == filewise.TypeTime:
			if _, ok := momentOf(v); !ok {
				return "", false
			}
		}
		weight := 1.0
		if i < len(d.Shares) {
			weight = max(math.Round(10000*d.Shares[i]), 1)
		}
		items = append(items, fmt.Sprintf("%s: %.0f", quoted(v), weight))
	}
	return "{choice: {" + strings.Join(items, ", ") + "}}", true
}

// breaks reports whether a new row's value is made up for a column with a CHECK, which may refuse such a value.
func (d drawing) breaks() bool {
	_, listed := d.chosen()
	return d.Checked && !listed && (d.use == filewise.UseInsert || d.use == filewise.UseSet) && (d.Low == "" || d.Type == filewise.TypeText)
}

// broken returns why a statement with such a value is left out.
func (d drawing) broken(of string) string {
	why := "the column's are not known"
	if d.withheld != "" {
		why = fmt.Sprintf("the column's are withheld (%s; --values takes them)", d.withheld)
	}
	return fmt.Sprintf("column %s has a CHECK, which made-up values may break, and %s", of, why)
}

// quoted returns a text as a YAML string, with nothing in it that a terminal would obey.
func quoted(text string) string { return strconv.Quote(text) }

// whole returns the lowest and the highest value of a column of whole numbers. ok is false if they are not known or
// too far apart.
func whole(c filewise.ColumnFacts) (low, high int64, ok bool) {
	low, err := strconv.ParseInt(c.Low, 10, 64)
	high, err2 := strconv.ParseInt(c.High, 10, 64)
	return low, high, err == nil && err2 == nil && low <= high && uint64(high)-uint64(low) < 1<<61
}

func (d drawing) number() (text, note string) {
	low, high, ok := whole(d.ColumnFacts)
	made := "{int: {from: 1, to: 1000}}"
	if strings.HasPrefix(d.Said, "tinyint") || strings.HasPrefix(d.Said, "year") {
		made = "{int: {from: 1, to: 69}}"
	}
	if strings.HasPrefix(d.Said, "bit(") {
		made = "{int: {from: 0, to: 1}}"
	}
	switch {
	case d.use == filewise.UseAdd:
		return "{int: {from: 1, to: 10}}", ""
	case d.use == filewise.UseInsert && d.Unique && d.Composite && ok:
		return fmt.Sprintf("{int: {from: %d, to: %d}}", high+1, max(2*(d.fresh(low, high)-1)-high, high+1)), "new with the key's other columns"
	case d.use == filewise.UseInsert && d.Unique && ok:
		return fmt.Sprintf("{sequential: {from: %d}}", d.fresh(low, high)), "with space for rows that come until the copy is taken"
	case d.use == filewise.UseInsert && d.Unique:
		return "{sequential: {from: 1000000000}}", ""
	case !ok && d.View && d.withheld == "":
		return made, "it is a view's, of which the server has no statistics: write a range of its values"
	case !ok && d.known && d.withheld == "":
		return made, "the server has no statistics of it: have them made (ANALYZE, UPDATE STATISTICS), and capture again"
	case !ok:
		return made, ""
	}
	if d.From != "" {
		low, high, _ = whole(filewise.ColumnFacts{Low: d.From, High: d.To})
	}
	if d.use == filewise.UseLower || d.use == filewise.UseUpper {
		low, high = d.bound(low, high)
		return fmt.Sprintf("{int: {from: %d, to: %d}}", low, high), ""
	}
	if theta := d.skew(); theta >= 0.2 {
		return fmt.Sprintf("{zipf: {from: %d, to: %d, theta: %.2f}}", low, high, theta), "as skewed as its values; the likeliest are the lowest"
	}
	return fmt.Sprintf("{int: {from: %d, to: %d}}", low, high), ""
}

// digitsOf matches how many digits a number has.
var digitsOf = regexp.MustCompile(`(?i)^(?:decimal|numeric|number)\((\d+)`)

// fresh returns the first of the new keys. It is above the greatest key, with a distance for the keys that clients add
// before a copy is taken, as far as the type allows.
func (d drawing) fresh(low, high int64) int64 {
	most := int64(math.MaxInt32)
	for text, its := range map[string]int64{"tinyint": math.MaxInt8, "smallint": math.MaxInt16, "mediumint": 1<<23 - 1, "bigint": 1 << 62} {
		if strings.HasPrefix(d.Said, text) {
			most = its
		}
	}
	if m := digitsOf.FindStringSubmatch(d.Said); m != nil {
		n, _ := strconv.Atoi(m[1]) // digits
		most = int64(min(math.Pow10(n)-1, 1<<62))
	}
	return high + 1 + min(max(high-low, 1_000_000), max(most-high, 0)/2)
}

// bound returns the range for a bound without its other one, so that the bound leaves a part of the rows.
func (d drawing) bound(low, high int64) (int64, int64) {
	span := int64(float64(high-low) * d.part)
	switch {
	case d.part >= 1:
	case d.use == filewise.UseLower:
		low = high - span
	default:
		high = low + span
	}
	return low, high
}

// skew returns the exponent of the Zipf distribution through the first and the middle one of the frequent values. 0
// means both are equally frequent.
func (d drawing) skew() float64 {
	n := min(len(d.Shares), 20)
	if n < 4 || d.Shares[n-1] <= 0 {
		return 0
	}
	theta := math.Log(d.Shares[0]/d.Shares[n/2]) / math.Log(float64(n/2+1))
	return min(theta, 2)
}

func (d drawing) real() (text, note string) {
	low, err := strconv.ParseFloat(d.Low, 64)
	high, err2 := strconv.ParseFloat(d.High, 64)
	switch {
	case d.use == filewise.UseAdd:
		low, high = 1, 10
	case err != nil || err2 != nil:
		low, high = 0, 1000
	case low >= high:
		high = low + 1
	}
	return fmt.Sprintf("{float: {from: %s, to: %s}}", decimal(low), decimal(high)), ""
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// momentOf parses a moment as servers write it.
func momentOf(text string) (time.Time, bool) {
	for _, layout := range []string{time.DateTime, time.RFC3339, time.DateOnly} {
		cut := text[:min(len(text), len(layout))]
		if layout == time.RFC3339 {
			cut = text
		}
		if t, err := time.Parse(layout, cut); err == nil {
			return t, t.Year() >= 1 && t.Year() <= 9990
		}
	}
	return time.Time{}, false
}

func (d drawing) moment() (text, note string) {
	low, ok := momentOf(d.Low)
	high, ok2 := momentOf(d.High)
	if !ok || !ok2 || high.Before(low) {
		low, high = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		if d.withheld == "" {
			note = "its bounds are not known: write a range of its values"
		}
	}
	span := high.Sub(low)
	part := func(from, to float64) {
		low, high = low.Add(time.Duration(from*float64(span))), low.Add(time.Duration(to*float64(span)))
	}
	switch {
	case d.use == filewise.UseInsert && d.Unique:
		low, high = high, high.Add(mostDays*24*time.Hour)
		if last := time.Date(2037, 1, 1, 0, 0, 0, 0, time.UTC); strings.HasPrefix(d.Said, "timestamp") && high.After(last) && low.Before(last) {
			high = last // MySQL's greatest
		}
		note = cmp.Or(note, "new with the key's other columns")
	case d.use == filewise.UseInsert || d.use == filewise.UseSet:
		low, high = high, high.Add(24*time.Hour)
	case d.paired && d.use == filewise.UseLower:
		part(0.9, 0.95)
		note = cmp.Or(note, "a range of the latest")
	case d.paired:
		part(0.95, 1)
	case d.use == filewise.UseLower && d.part < 1:
		part(1-d.part, 1)
		note = cmp.Or(note, "one of the latest, so that as many rows follow as were read")
	case d.use == filewise.UseUpper && d.part < 1:
		part(0, d.part)
	}
	if !high.After(low.Add(2 * time.Second)) {
		high = low.Add(24 * time.Hour)
	}
	return timestamps(low, high), note
}

func (d drawing) letters() (text, note string) {
	width := max(int(math.Round(d.Width)), 1)
	if d.Width == 0 {
		width = 10
	}
	low, high := max(width/2, 1), width+width/2
	if d.Unique {
		low, high = max(low, 16), max(high, 16)
	}
	if d.Most > 0 {
		low, high = min(low, d.Most), min(high, d.Most)
	}
	if d.use == filewise.UseEqual || d.use == filewise.UseOther {
		note = "random letters, which find no row"
	}
	if d.use == filewise.UsePattern || d.use == filewise.UseWords {
		return fmt.Sprintf("{word: {from: %d, to: %d}}", low, high), "random letters, which find no row"
	}
	return fmt.Sprintf("{text: {from: %d, to: %d}}", low, high), note
}
