package capture

import (
	"strings"
	"testing"

	"filewise"
)

// A set-up shows the range of a column's values only if the study may: a number that is withheld by TABLE.COLUMN has been read.
func TestSetUpShowsNoWithheldRange(t *testing.T) {
	for _, c := range []filewise.ColumnFacts{{Type: filewise.TypeWhole, Low: "4711", High: "4712"},
		{Type: filewise.TypeNumber, Low: "4711.5", High: "4712.5"},
		{Type: filewise.TypeTime, Low: "4711-01-01 00:00:00", High: "4712-01-01 00:00:00"}} {
		for _, reported := range []bool{false, true} {
			for _, text := range []string{(&oracleColumn{ColumnFacts: c}).expression(0, reported), sqlServerValue(c, 0, reported)} {
				if strings.Contains(text, "4711") != reported || strings.Contains(text, "4712") != reported {
					t.Errorf("%v, shown %v: %s", c.Type, reported, text)
				}
			}
		}
	}
}
