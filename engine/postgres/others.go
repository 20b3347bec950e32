package postgres

import (
	"context"
	"fmt"

	"filewise/internal/marker"
)

// othersIn describes what a database contains that Filewise has not made; "" if nothing. Without a marker, all contents
// count. If, by the marker, custom SQL filled the database, nothing counts, because custom SQL can use any name.
func (s *externalServer) othersIn(ctx context.Context, database, comment string) (string, error) {
	m, err := marker.Parse(database, comment)
	marked := err == nil
	if marked && m.Custom {
		return "", nil
	}
	inside := s.link.To(database)
	defer inside.Close()
	var n int64
	var what string
	if err := inside.Scan(ctx, queries.Text("others"), []any{marked}, &n, &what); err != nil || n == 0 {
		return "", err
	}
	if more := n - 3; more > 0 {
		what += fmt.Sprintf(", and %d more", more)
	}
	return what, nil
}
