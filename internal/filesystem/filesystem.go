// Package filesystem is what Filewise asks of a file system beyond package os, on
// each platform by its own means. What a platform cannot tell is absent (ok is
// false) or an error that wraps errors.ErrUnsupported.
package filesystem
