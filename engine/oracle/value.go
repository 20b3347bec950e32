package oracle

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// text returns a column's value as text, or "" for NULL.
func text(v any) string {
	if v == nil {
		return ""
	}
	return strings.TrimSpace(fmt.Sprint(v))
}

// number returns a column's value as a whole number; ok is false for NULL and for other values. The driver returns
// NUMBER as int64, float64 or text.
func number(v any) (n int64, ok bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case float64:
		if v != float64(int64(v)) {
			return 0, false
		}
		return int64(v), true
	case nil:
		return 0, false
	}
	n, err := strconv.ParseInt(text(v), 10, 64)
	return n, err == nil
}

// only returns the single value in a single row.
func only(rows [][]any) any {
	if len(rows) == 1 && len(rows[0]) > 0 {
		return rows[0][0]
	}
	return nil
}

// row reads a section of server.sql that returns one row.
func row(ctx context.Context, c client, columns int, section string, args ...any) ([]any, error) {
	found, err := rows(ctx, c, columns, section, nil, args...)
	if err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, errNoRows
	}
	return found[0], nil
}

// count reads a section of server.sql that returns one whole number; ok is false for NULL.
func count(ctx context.Context, c client, section string, v vars, args ...any) (n int64, ok bool, err error) {
	found, err := rows(ctx, c, 1, section, v, args...)
	n, ok = number(only(found))
	return n, ok, err
}

// wide returns an error if rows have fewer than the expected columns.
func wide(rows [][]any, columns int) error {
	for _, r := range rows {
		if len(r) < columns {
			return fmt.Errorf("a row of %d columns, expected %d", len(r), columns)
		}
	}
	return nil
}
