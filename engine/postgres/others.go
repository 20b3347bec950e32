package postgres

import (
	"context"
	"fmt"

	"filewise/internal/mark"
)

// othersIn describes what is in a database that Filewise has not made. If empty,
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
	if err := inside.Scan(ctx, queries.Text("others"), []any{marked}, &n, &what); err != nil || n == 0 {
		return "", err
	}
	if more := n - 3; more > 0 {
		what += fmt.Sprintf(", and %d more", more)
	}
	return what, nil
}
