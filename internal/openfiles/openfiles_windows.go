package openfiles

// Limits returns none: Windows has no such limit.
func Limits() (soft, hard uint64, known bool) { return 0, 0, false }

// Raise does nothing: Windows has no such limit.
func Raise() (limit uint64, known bool) { return 0, false }
