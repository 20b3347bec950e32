package capture

import (
	"encoding/csv"
	"fmt"
	"strings"
)

// audited reads a record of pgaudit, with the values of parameters as in a detail. The text is empty if a statement around
// this one, or this one, was logged before.
func audited(message string) (text, values string, is bool) {
	of, is := strings.CutPrefix(message, "AUDIT: ")
	if !is {
		return "", "", false
	}
	const nested, statement, parameters, fields = 2, 7, 8, 9
	f, err := csv.NewReader(strings.NewReader(of)).Read()
	if err != nil || len(f) < fields || f[nested] != "1" || strings.HasPrefix(f[statement], "<") {
		return "", "", true
	}
	all, _ := csv.NewReader(strings.NewReader(f[parameters])).Read() // none if it cannot be read
	for i, value := range all {
		if strings.HasPrefix(f[parameters], "<") {
			break
		}
		if value = "'" + strings.ReplaceAll(value, "'", "''") + "'"; value == "''" { // pgaudit writes NULL like an empty text
			value = "NULL"
		}
		values += fmt.Sprintf("$%d = %s, ", i+1, value)
	}
	return f[statement], values, true
}
