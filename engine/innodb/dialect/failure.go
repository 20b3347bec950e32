package dialect

import (
	"database/sql"
	"errors"
	"strconv"

	"github.com/go-sql-driver/mysql"

	"filewise"
	"filewise/engine/internal/external"
)

// Numbers of server errors on which engines act. They are the same on both servers (errmsg-utf8.txt of MariaDB,
// messages_to_clients.txt of MySQL).
const (
	ErrDiskFull    = 1021 // ER_DISK_FULL
	ErrTooMany     = 1040 // ER_CON_COUNT_ERROR
	ErrNoThread    = 1094 // ER_NO_SUCH_THREAD
	ErrTableFull   = 1114 // ER_RECORD_FILE_FULL
	ErrInterrupted = 1317 // ER_QUERY_INTERRUPTED
	accessDenied   = 1227 // ER_SPECIFIC_ACCESS_DENIED_ERROR: the account lacks PROCESS
	errDuplicate   = 1062 // ER_DUP_ENTRY
	errNotPrepared = 1295 // ER_UNSUPPORTED_PS
	errNoKey       = 1503 // ER_UNIQUE_KEY_NEED_ALL_FIELDS_IN_PF; its SQLSTATE is HY000, like the next one's
	errNoType      = 4161 // MariaDB: ER_UNKNOWN_DATA_TYPE
)

// classes maps the numbers of server errors to classes.
var classes = map[uint16]filewise.Class{
	1213: filewise.ClassDeadlock,      // ER_LOCK_DEADLOCK
	1020: filewise.ClassSerialization, // ER_CHECKREAD: MariaDB's innodb_snapshot_isolation
	1205: filewise.ClassLockTimeout,   // ER_LOCK_WAIT_TIMEOUT
	3572: filewise.ClassLockTimeout,   // MySQL: ER_LOCK_NOWAIT

	ErrDiskFull: filewise.ClassSpace, ErrTableFull: filewise.ClassSpace,

	1022:         filewise.ClassDuplicate,  // ER_DUP_KEY
	1048:         filewise.ClassConstraint, // ER_BAD_NULL_ERROR
	errDuplicate: filewise.ClassDuplicate,
	1216:         filewise.ClassConstraint, // ER_NO_REFERENCED_ROW
	1217:         filewise.ClassConstraint, // ER_ROW_IS_REFERENCED
	1451:         filewise.ClassConstraint, // ER_ROW_IS_REFERENCED_2
	1452:         filewise.ClassConstraint, // ER_NO_REFERENCED_ROW_2
	1586:         filewise.ClassDuplicate,  // ER_DUP_ENTRY_WITH_KEY_NAME
	3819:         filewise.ClassConstraint, // MySQL: ER_CHECK_CONSTRAINT_VIOLATED
	4025:         filewise.ClassConstraint, // MariaDB: ER_CONSTRAINT_FAILED

	ErrTooMany: filewise.ClassConnection,
	1053:       filewise.ClassConnection, // ER_SERVER_SHUTDOWN
	1152:       filewise.ClassConnection, // ER_ABORTING_CONNECTION
	1184:       filewise.ClassConnection, // ER_NEW_ABORTING_CONNECTION
	1203:       filewise.ClassConnection, // ER_TOO_MANY_USER_CONNECTIONS
	1226:       filewise.ClassConnection, // ER_USER_LIMIT_REACHED
	1927:       filewise.ClassConnection, // MariaDB: ER_CONNECTION_KILLED
	3169:       filewise.ClassConnection, // MySQL: ER_SESSION_WAS_KILLED
}

// TooMany reports whether an error number is about the server's limits on connections.
func TooMany(number uint16) bool { return number == ErrTooMany || number == 1203 || number == 1226 }

// Number returns the number of an error that the server sent; ok is false for any other error.
func Number(err error) (n uint16, ok bool) {
	var e *mysql.MySQLError
	if !errors.As(err, &e) {
		return 0, false
	}
	return e.Number, true
}

// Code returns the number of a server's error as text, or "" for any other error.
func Code(err error) string {
	if n, ok := Number(err); ok {
		return strconv.Itoa(int(n))
	}
	return ""
}

// Classify adds a class to the error of a failed operation. An error without a class, or with one already, is returned
// unchanged.
func Classify(err error) error {
	if err == nil || filewise.ClassOf(err) != filewise.ClassOther {
		return err
	}
	return external.Classed(classOf(err), err)
}

func classOf(err error) filewise.Class {
	var e *mysql.MySQLError
	switch {
	case !errors.As(err, &e):
		if external.Broken(err) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, mysql.ErrInvalidConn) {
			return filewise.ClassConnection
		}
	case classes[e.Number] != "":
		return classes[e.Number]
	// The SQLSTATE shows wrong SQL: class 42 is syntax, names and rights, and 21S01 is a wrong number of values.
	case string(e.SQLState[:2]) == "42", string(e.SQLState[:]) == "21S01", e.Number == errNoKey, e.Number == errNoType:
		return filewise.ClassMistake
	}
	return filewise.ClassOther
}

// interrupted reports whether the server ended a statement by request.
func interrupted(err error) bool { return is(err, ErrInterrupted) }

// is reports whether an error of the server has a number.
func is(err error, number uint16) bool {
	n, _ := Number(err)
	return n == number
}
