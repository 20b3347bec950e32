package dialect

import (
	"context"
	"database/sql"
	"strings"
)

// Queryer is a pool or one connection of it.
type Queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Scan reads the values of a row, as sql.Rows.Scan.
type Scan = func(into ...any) error

// Each has every row of a query read.
func Each(ctx context.Context, db Queryer, row func(Scan) error, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Column reads the one text of each row of a query.
func Column(ctx context.Context, db Queryer, query string, args ...any) (all []string, err error) {
	err = Each(ctx, db, func(scan Scan) error {
		var text string
		err := scan(&text)
		all = append(all, text)
		return err
	}, query, args...)
	return all, err
}

// Pairs reads names with their values.
func Pairs(ctx context.Context, db Queryer, query string, args ...any) (map[string]string, error) {
	all := map[string]string{}
	return all, Each(ctx, db, func(scan Scan) error {
		var name string
		var value sql.NullString
		err := scan(&name, &value)
		all[name] = value.String
		return err
	}, query, args...)
}

// Variables are the global settings of those names, or all; what the server does
// not have is absent.
func Variables(ctx context.Context, db Queryer, names ...string) (map[string]string, error) {
	return show(ctx, db, "SHOW GLOBAL VARIABLES", names)
}

// Status are the status values of those names, or all; what the server does not
// have is absent.
func Status(ctx context.Context, db Queryer, names ...string) (map[string]string, error) {
	return show(ctx, db, "SHOW GLOBAL STATUS", names)
}

func show(ctx context.Context, db Queryer, what string, names []string) (map[string]string, error) {
	args := make([]any, len(names))
	for i, n := range names {
		args[i] = n
	}
	if len(names) > 0 {
		what += " WHERE Variable_name IN (?" + strings.Repeat(", ?", len(names)-1) + ")"
	}
	return Pairs(ctx, db, what, args...)
}

// TableFile is a file of a table or partition as InnoDB's catalogue has it.
type TableFile struct {
	Name             string // “sales/orders#P#p0”
	Path             string
	Bytes, Allocated int64
}

// TableFiles are those for which the condition holds, which may speak of t.NAME and
// t.FILE_SIZE; they need the right PROCESS.
func (p *Product) TableFiles(ctx context.Context, db Queryer, condition string, args ...any) (all []TableFile, err error) {
	err = Each(ctx, db, func(scan Scan) error {
		var f TableFile
		err := scan(&f.Name, &f.Path, &f.Bytes, &f.Allocated)
		all = append(all, f)
		return err
	}, p.Files.Of+" WHERE "+condition, args...)
	return all, err
}
