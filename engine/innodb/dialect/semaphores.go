package dialect

import (
	"context"
	"database/sql"

	"filewise"
)

// readSemaphores is the number of times that a thread had to sleep for one of
// InnoDB's read-write latches, of all kinds together: MySQL counts them always,
// MariaDB not since 10.6. SHOW ENGINE INNODB STATUS has the same numbers, and is
// not read: it holds the transactions up while it lists them.
const readSemaphores = "SELECT SUM(COUNT) FROM information_schema.INNODB_METRICS" +
	" WHERE NAME IN ('innodb_rwlock_s_os_waits', 'innodb_rwlock_x_os_waits', 'innodb_rwlock_sx_os_waits')"

// semaphores are absent where the server or the account has none.
func semaphores(ctx context.Context, db *sql.DB) ([]filewise.Counter, error) {
	var waits sql.NullFloat64
	err := db.QueryRowContext(ctx, readSemaphores).Scan(&waits)
	if is(err, accessDenied) {
		return nil, nil
	}
	if err != nil || !waits.Valid {
		return nil, err
	}
	return []filewise.Counter{{Name: "read-write latches", Unit: "waits", Value: waits.Float64, Class: filewise.WaitLatch}}, nil
}
