package capture

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"filewise"
)

// Of texts, values are shown if they are of a kind: few, short, and each stands in many rows, as a state does. A
// name, an address or a token stands in few.
const (
	leastRows = 5  // in which a value that is shown stands
	longest   = 40 // mean length, in letters, of texts that are shown
)

// secretWords are words within names of columns whose values are never read, whatever the statistics: secrets, and
// figures and days that are a person's, of which each range gives two away.
var secretWords = []string{"password", "passwd", "pwd", "secret", "token", "salt", "hash", "otp", "cvv", "pin", "iban", "ssn", "passport",
	"email", "mail", "phone", "telephone", "tel", "mobile", "fax", "birth", "birthday", "birthdate", "dob", "geburtsdatum", "geburtstag",
	"salary", "income", "gehalt", "lat", "latitude", "lng", "lon", "longitude", "ip", "card", "tax", "diagnosis", "religion", "nationality"}

// words divides names: customer_name, customerName.
var words = regexp.MustCompile(`[A-ZÄÖÜ]?[^A-ZÄÖÜ_\s\d-]+|[A-ZÄÖÜ]+`)

// secret reports whether a column's name reports that its values are secret, or a person's.
func secret(column string) bool {
	return slices.ContainsFunc(words.FindAllString(column, -1), func(w string) bool {
		return slices.Contains(secretWords, strings.ToLower(w))
	})
}

// refers reports whether a column's name is one of a key's: order_id, orderId.
func refers(column string) bool {
	all := words.FindAllString(column, -1)
	return len(all) > 0 && strings.EqualFold(all[len(all)-1], "id")
}

// personalValue is one that looks personal whatever its column is called: an address, or
// a long number within a text.
var personalValue = regexp.MustCompile(`@|\d{6,}|^\+?\d[\d /-]{6,}$`)

// rawBytes are the types of values that no study file can hold.
var rawBytes = regexp.MustCompile(`(?i)^(var)?binary|blob|^bytea|^(long )?raw`)

// Column is a column whose values the study shows, or withholds.
type Column struct {
	Name string `json:"name"` // TABLE.COLUMN
	Why  string `json:"why,omitempty"`
}

// judge reports why no value of a column may be shown. Empty means they may be. Of a text's values it leaves the ones
// that stand in many rows.
func (o Options) judge(t filewise.TableFacts, c *filewise.ColumnFacts) string {
	text := c.Type == filewise.TypeText
	switch {
	case c.Closed || c.Type == filewise.TypeBool:
		return ""
	case rawBytes.MatchString(c.Said):
		return "bytes, which may be a token, and which no study file holds"
	case o.listed(o.Withhold, t, c.Name):
		return "--withhold"
	case o.Values || o.listed(o.Tell, t, c.Name):
		return ""
	case secret(c.Name):
		return "by its name"
	case c.Type == filewise.TypeUUID && c.Name != t.Key && (c.Unique || !refers(c.Name)):
		return "a UUID that is no key may be a token"
	case text && slices.ContainsFunc(c.Common, personalValue.MatchString):
		return "addresses or long numbers are in it"
	case text && c.Width > longest:
		return "long texts"
	case text && c.Unique:
		return "each value stands in one row"
	case !text:
		return ""
	}
	frequent(c, t.Rows)
	if len(c.Common) == 0 {
		return fmt.Sprintf("its values are many, or stand in under %d rows each", leastRows)
	}
	return ""
}

// frequent leaves the values of a column that stand in many rows, if they are few and of nearly all rows; else none.
func frequent(c *filewise.ColumnFacts, rows float64) {
	var common []string
	var shares []float64
	sum := 0.0
	for i, v := range c.Common {
		if i < len(c.Shares) && math.Round(c.Shares[i]*rows) >= leastRows {
			common, shares, sum = append(common, v), append(shares, c.Shares[i]), sum+c.Shares[i]
		}
	}
	if sum <= 0.9 || len(common) > few || c.Distinct > 2*few {
		common, shares = nil, nil
	}
	c.Common, c.Shares, c.Distinct = common, shares, float64(len(common))
}

// listed reports whether a column is in a list of the user's, as COLUMN or TABLE.COLUMN.
func (o Options) listed(names []string, t filewise.TableFacts, column string) bool {
	return slices.Contains(names, column) || slices.Contains(names, t.Table+"."+column) || slices.Contains(names, t.Name+"."+column)
}

// asked decides by its name whether a column's values are never read, before anything of it is known.
func (o Options) asked(column string) bool {
	told := o.Values || slices.ContainsFunc(o.Tell, func(name string) bool { return name == column || strings.HasSuffix(name, "."+column) })
	return slices.Contains(o.Withhold, column) || secret(column) && !told
}

// withhold judges all columns of a table, and takes out what must not be shown.
func (t *taking) withhold(f *filewise.TableFacts) {
	for i := range f.Columns {
		c := &f.Columns[i]
		why := t.Options.judge(*f, c)
		if why == "" {
			continue
		}
		c.Common, c.Shares, c.Low, c.High = nil, nil, "", ""
		t.why[f.Name+"."+c.Name] = why
	}
}
