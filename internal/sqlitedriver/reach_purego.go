//go:build !cgo

package sqlitedriver

import (
	"fmt"
	"sync"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// The driver offers neither sqlite3_file_control for the chunk size, without which
// a checkpoint cuts a preallocated file, nor sqlite3_get_autocommit. So each
// connection gets two SQL functions that call them, by SQLite's own means for
// that (https://www.sqlite.org/c3ref/auto_extension.html).
const (
	chunkSizeFunction  = "filewise_chunk_size"
	autoCommitFunction = "filewise_autocommit"
)

// reach gives the functions to every connection that is opened from then on.
var reach = sync.OnceValue(func() error {
	tls := libc.NewTLS()
	defer tls.Close()
	init := *(*uintptr)(unsafe.Pointer(&struct {
		f func(tls *libc.TLS, db, message, api uintptr) int32
	}{extend}))
	if code := lib.Xsqlite3_auto_extension(tls, init); code != lib.SQLITE_OK {
		return fmt.Errorf("extending SQLite's connections: result %d", code)
	}
	return nil
})

// function is the form in which SQLite calls an application's functions.
type function func(tls *libc.TLS, context uintptr, n int32, args uintptr)

// extend adds the functions to a new connection.
func extend(tls *libc.TLS, db, _, _ uintptr) int32 {
	for _, f := range []struct {
		name string
		args int32
		call function
	}{{chunkSizeFunction, 2, setChunkSize}, {autoCommitFunction, 0, autoCommit}} {
		name, err := libc.CString(f.name)
		if err != nil {
			return lib.SQLITE_NOMEM
		}
		call := *(*uintptr)(unsafe.Pointer(&struct{ f function }{f.call}))
		code := lib.Xsqlite3_create_function_v2(tls, db, name, f.args, lib.SQLITE_UTF8|lib.SQLITE_DIRECTONLY, 0, call, 0, 0, 0)
		libc.Xfree(tls, name)
		if code != lib.SQLITE_OK {
			return code
		}
	}
	return lib.SQLITE_OK
}

// setChunkSize implements filewise_chunk_size(schema, bytes), which returns SQLite's result code.
func setChunkSize(tls *libc.TLS, context uintptr, _ int32, args uintptr) {
	schema, size := libc.AtomicLoadPUintptr(args), libc.AtomicLoadPUintptr(args+unsafe.Sizeof(args))
	bytes := tls.Alloc(4)
	defer tls.Free(4)
	libc.AtomicStorePInt32(bytes, lib.Xsqlite3_value_int(tls, size))
	db := lib.Xsqlite3_context_db_handle(tls, context)
	code := lib.Xsqlite3_file_control(tls, db, lib.Xsqlite3_value_text(tls, schema), lib.SQLITE_FCNTL_CHUNK_SIZE, bytes)
	lib.Xsqlite3_result_int(tls, context, code)
}

// autoCommit implements filewise_autocommit(), which returns 0 within a transaction.
func autoCommit(tls *libc.TLS, context uintptr, _ int32, _ uintptr) {
	lib.Xsqlite3_result_int(tls, context, lib.Xsqlite3_get_autocommit(tls, lib.Xsqlite3_context_db_handle(tls, context)))
}
