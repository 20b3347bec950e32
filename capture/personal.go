package capture

import (
	"regexp"
	"strings"
)

// personalParts are what names of columns hold whose values are a person's: of which no
// value is asked for. It is better to withhold one too many.
var personalParts = []string{"name", "mail", "phone", "tel", "mobile", "fax", "street", "strasse", "straße", "address", "adresse", "city",
	"ort", "zip", "postal", "postcode", "plz", "birth", "geb", "dob", "gender", "sex", "ssn", "social", "passport", "tax", "iban", "bic",
	"account_n", "card", "cvv", "password", "passwd", "pwd", "secret",
	"token", "hash", "salt", "login", "user", "owner", "author", "contact", "person",
	"salary", "income", "lat", "lng", "lon", "geo", "ip", "agent", "device", "note", "comment", "remark", "message", "body", "title", "text",
	"descr", "subject", "nationality", "religion", "health", "diagnos", "vorname", "nachname", "photo", "url"}

// words divides names: customer_name, customerName.
var words = regexp.MustCompile(`[A-ZÄÖÜ]?[^A-ZÄÖÜ_\s-]+|[A-ZÄÖÜ]+`)

// personal tells whether a column looks as if its values were a person's. Keys such as
// user_id are numbers that name nobody.
func personal(column string) bool {
	lower := strings.ToLower(column)
	if lower == "id" || strings.HasSuffix(lower, "_id") || strings.HasSuffix(column, "Id") || strings.HasSuffix(column, "ID") {
		return strings.Contains(lower, "tax") || strings.Contains(lower, "national") || strings.Contains(lower, "passport")
	}
	for _, part := range personalParts {
		if len(part) > 3 && strings.Contains(lower, part) {
			return true
		}
		for _, w := range words.FindAllString(column, -1) {
			if strings.EqualFold(w, part) {
				return true
			}
		}
	}
	return false
}

// personalValue is one that looks personal whatever its column is called: an address, or
// a long number within a text.
var personalValue = regexp.MustCompile(`@|\d{6,}|^\+?\d[\d /-]{6,}$`)
