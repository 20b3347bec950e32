package postgres

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"filewise/engine/internal/mark"
	"filewise/engine/postgres/internal/client"
	"filewise/workload"
)

// readOthers describes what else is in a database than what a new one has and, with $1,
// than what Filewise makes.
var readOthers = sync.OnceValue(func() string {
	statement, err := queries.Statement("others", map[string]string{"Declared": loadedColumns()})
	if err != nil {
		panic(err) // embedded: the programmer's
	}
	return statement
})

// loadedColumns are the tables that workloads load with their columns, as the server
// names these, for IN.
func loadedColumns() string {
	typed := strings.NewReplacer(` NOT NULL`, "", ` COLLATE "C"`, "", "varchar", "character varying", " char(", " character(",
		"\n", "", "  ", " ")
	var all []string
	for _, p := range workload.Loading() {
		var tables []table
		named := map[string]table{}
		for _, t := range p.Tables {
			named[t.Name] = table{Name: t.Name, Leaves: []leaf{{Name: t.Name}}}
			tables = append(tables, named[t.Name])
		}
		create, err := sections[p.SQL()].Statements(sectionTables, map[string]any{"Named": named, "Tables": tables})
		if err != nil {
			panic(err) // embedded: the programmer's
		}
		for _, statement := range create {
			name, columns, _ := strings.Cut(strings.TrimSuffix(statement, ")"), "(")
			name = strings.Trim(strings.TrimPrefix(name, "CREATE TABLE "), ` "`)
			all = append(all, fmt.Sprintf("(%s, %s)", client.Literal(name), client.Literal(strings.TrimSpace(typed.Replace(columns)))))
		}
	}
	return strings.Join(all, ", ")
}

// othersIn describes what is in a database that Filewise has not made; empty:
// nothing. Of one without a mark, nothing in it is Filewise's; what custom SQL makes
// has any name.
func (s *externalServer) othersIn(ctx context.Context, database, comment string) (string, error) {
	m, err := mark.Parse(database, comment)
	marked := err == nil
	if marked && m.Custom {
		return "", nil
	}
	inside := s.link.To(database)
	defer inside.Close()
	var n int64
	var what string
	if err := inside.Scan(ctx, readOthers(), []any{marked}, &n, &what); err != nil || n == 0 {
		return "", err
	}
	if more := n - 3; more > 0 {
		what += fmt.Sprintf(", and %d more", more)
	}
	return what, nil
}
