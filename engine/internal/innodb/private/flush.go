package private

import (
	"context"
	"database/sql"
	"strings"
	"time"
)

// FlushByLimit has the page cleaner write every dirty page at full speed, and
// restores its settings. It is for private servers alone.
func FlushByLimit(ctx context.Context, control *sql.DB) error {
	return WithoutDirty(ctx, control, func() (bool, error) {
		status, err := Status(ctx, control, "Innodb_buffer_pool_pages_dirty")
		return status["Innodb_buffer_pool_pages_dirty"] == "0", err
	})
}

// WithoutDirty lowers the limit of dirty pages to nothing until clean.
func WithoutDirty(ctx context.Context, control *sql.DB, clean func() (bool, error)) (err error) {
	names := []string{"innodb_io_capacity_max", "innodb_io_capacity", "innodb_max_dirty_pages_pct_lwm", "innodb_max_dirty_pages_pct"}
	wanted := []string{"1000000", "1000000", "0", "0"}
	before, err := Variables(ctx, control, names...)
	if err != nil {
		return err
	}
	defer func() {
		for n := len(names) - 1; n >= 0; n-- {
			if _, e := control.ExecContext(context.WithoutCancel(ctx), "SET GLOBAL "+names[n]+" = "+before[names[n]]); e != nil && err == nil {
				err = e
			}
		}
	}()
	for n, name := range names {
		if _, err := control.ExecContext(ctx, "SET GLOBAL "+name+" = "+wanted[n]); err != nil {
			return err
		}
	}
	if _, err := control.ExecContext(ctx, "FLUSH ENGINE LOGS"); err != nil {
		return err
	}
	for {
		if ok, err := clean(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Variables are the global settings of those names; what the server does not
// have is absent.
func Variables(ctx context.Context, control *sql.DB, names ...string) (map[string]string, error) {
	return show(ctx, control, "SHOW GLOBAL VARIABLES", names)
}

// Status are the status values of those names; what the server does not have is
// absent.
func Status(ctx context.Context, control *sql.DB, names ...string) (map[string]string, error) {
	return show(ctx, control, "SHOW GLOBAL STATUS", names)
}

func show(ctx context.Context, control *sql.DB, what string, names []string) (map[string]string, error) {
	args := make([]any, len(names))
	for i, n := range names {
		args[i] = n
	}
	if len(names) > 0 {
		what += " WHERE Variable_name IN (?" + strings.Repeat(", ?", len(names)-1) + ")"
	}
	rows, err := control.QueryContext(ctx, what, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	values := map[string]string{}
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return nil, err
		}
		values[name] = value
	}
	return values, rows.Err()
}
