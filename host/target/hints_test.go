package target

import (
	"strings"
	"testing"

	"filewise"
)

// SQL Server's own tools write instances and ports otherwise than URLs do.
func TestHintsAboutServers(t *testing.T) {
	for text, remedy := range map[string]string{
		"sqlserver://h:1433;databaseName=shop": "DATABASE?OPTION", "jdbc:mysql://h:3306/shop": "jdbc: and",
		"host=h dbname=shop":    "postgres://USER",
		`sqlserver://sa@h\INST`: "HOST/INSTANCE", "sqlserver://sa@h%5CINST": "HOST/INSTANCE", "sqlserver://sa@h,1433": "HOST:PORT",
		"postgres://ada@h1,h2": "the one that is to be measured", "sqlserver://sa@h,": "the one that is to be measured",
	} {
		_, err := Parse(text, []string{"sqlserver", "postgres"})
		if filewise.CodeOf(err) != filewise.CodeUsage || !strings.Contains(filewise.RemedyOf(err), remedy) {
			t.Errorf("%s: %v; %s", text, err, filewise.RemedyOf(err))
		}
	}
}
