package capture

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"filewise"
)

// A text column's values are shown if they are few and short, and each occurs in many rows, as a state does. A name, an
// address or a token occurs in few.
const (
	leastRows = 5  // rows in which a shown value occurs
	longest   = 40 // mean length of shown texts, in letters
)

// These withhold a column's values by its statistics alone.
const (
	single = "each value stands in one row"
	rare   = "its values are many, or stand in under 5 rows each" // leastRows
)

// secretWords lists the words in a column's name that keep its values from ever being read, whatever the statistics.
// They name secrets, and a person's figures and days: the range of such a column gives two of them away.
var secretWords = []string{"password", "passwd", "pwd", "secret", "token", "salt", "hash", "otp", "cvv", "pin", "iban", "ssn", "passport",
	"email", "mail", "phone", "telephone", "tel", "mobile", "fax", "birth", "birthday", "birthdate", "dob", "geburtsdatum", "geburtstag",
	"salary", "income", "gehalt", "lat", "latitude", "lng", "lon", "longitude", "ip", "card", "diagnosis", "religion", "nationality"}

// taxNumber matches the name of a person's number, while a tax alone is an amount.
var taxNumber = regexp.MustCompile(`(?i)\btax(?:payer)?_?(?:id|no|nr|num|number|code|ref)`)

// words divides a name such as customer_name or customerName into its words.
var words = regexp.MustCompile(`[A-ZÄÖÜ]?[^A-ZÄÖÜ_\s\d-]+|[A-ZÄÖÜ]+`)

// secret reports whether a column's name suggests values that are secret or personal.
func secret(column string) bool {
	return taxNumber.MatchString(column) || slices.ContainsFunc(words.FindAllString(column, -1), func(w string) bool {
		return slices.Contains(secretWords, strings.ToLower(w))
	})
}

// refers reports whether a column's name looks like a key's, such as order_id or orderId.
func refers(column string) bool {
	all := words.FindAllString(column, -1)
	return len(all) > 0 && strings.EqualFold(all[len(all)-1], "id")
}

// personalValue matches values that look personal whatever their column is called: an address, or a long number within
// a text.
var personalValue = regexp.MustCompile(`@|\d{6,}|^\+?\d[\d /-]{6,}$`)

// rawBytes matches the types whose values no study file can hold.
var rawBytes = regexp.MustCompile(`(?i)^(var)?binary|blob|^bytea|^(long )?raw`)

// Column is a column whose values the study shows, or withholds.
type Column struct {
	Name string `json:"name"` // TABLE.COLUMN
	Why  string `json:"why,omitempty"`
}

// judge returns why no value of a column may be shown. An empty text means the values may be shown. For a text column,
// judge then leaves only the values in c that occur in many rows.
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
	case secret(c.Name) && (c.Type != filewise.TypeWhole || c.Parent == ""): // mail_server_id is a key
		return "by its name"
	case c.Type == filewise.TypeUUID && c.Name != t.Key && (c.Unique || !refers(c.Name)):
		return "a UUID that is no key may be a token"
	case text && slices.ContainsFunc(c.Common, personalValue.MatchString):
		return "addresses or long numbers are in it"
	case text && c.Width > longest:
		return "long texts"
	case text && c.Unique:
		return single
	case !text:
		return ""
	}
	frequent(c, t.Rows)
	if len(c.Common) == 0 {
		return rare
	}
	return ""
}

// frequent leaves in c the values that occur in many rows, if they are few and make up nearly all rows. Otherwise it
// leaves none.
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

// listed reports whether a user's list has the column, as COLUMN or TABLE.COLUMN.
func (o Options) listed(names []string, t filewise.TableFacts, column string) bool {
	return slices.Contains(names, column) || slices.Contains(names, t.Table+"."+column) || slices.Contains(names, t.Name+"."+column)
}

// asked reports, by a column's name alone, whether its values are never to be read.
func (o Options) asked(column string) bool {
	allowed := o.Values || slices.ContainsFunc(o.Tell, func(name string) bool { return name == column || strings.HasSuffix(name, "."+column) })
	return slices.Contains(o.Withhold, column) || secret(column) && !refers(column) && !allowed
}

// withhold judges all columns of a table, and removes the values that must not be shown.
func (t *taking) withhold(f *filewise.TableFacts) {
	for i := range f.Columns {
		c := &f.Columns[i]
		why := t.Options.judge(*f, c)
		if why == "" {
			continue
		}
		c.Common, c.Shares, c.Low, c.High, c.From, c.To = nil, nil, "", "", "", ""
		t.why[f.Name+"."+c.Name] = why
	}
}
