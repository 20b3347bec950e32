package oracle

import (
	"filewise"
	"filewise/engine/oracle/dialect"
)

const (
	kib = int64(1) << 10
	mib = int64(1) << 20
	// unit divides sizes: 64 KiB is a multiple of every block size and the smallest
	// extent of AUTOALLOCATE.
	unit = 64 * kib
	// leastBigBlocks is the minimum size of a bigfile's datafile, in blocks. Its header and space maps are larger
	// (published at 8 KiB: 6265 KB; see SCENARIOS.md, dml).
	leastBigBlocks = 1024
	// Limits of the server: files of a smallfile tablespace, and blocks of a file (Oracle Database Reference, "Physical
	// Database Limits").
	maxFiles       = 1022
	maxSmallBlocks = int64(1)<<22 - 1
	maxBigBlocks   = int64(1)<<32 - 1
)

// datafile is a file that the layout demands.
type datafile struct {
	role       filewise.Role
	tablespace string
	number     int // within the tablespace, from 0
	volume     string
	place      dialect.Place
	path       string // empty if the server names it
	bytes      int64  // initial size
	full       bool   // preallocated; it grows if the work is more than expected
	next, max  int64  // bytes; if next is 0, the server's default of one block
}

// clause returns the text after DATAFILE.
func (f datafile) clause() (string, error) {
	return f.place.Clause(f.path, f.bytes, f.next, f.max)
}

// asked returns the file for a plan.
func (f datafile) asked() filewise.File {
	path := f.path
	if path == "" {
		path = f.place.Shown(f.tablespace, f.number)
	}
	return filewise.File{Role: f.role, Volume: f.volume, Path: path, Bytes: f.bytes}
}

// leastSmall returns the minimum size that is requested for a smallfile datafile: 8 blocks for header and space map,
// and one extent. An extent has at least 64 KiB and at least 5 blocks (a smaller file is ORA-03214).
func leastSmall(block int64) int64 {
	return roundUp(8*block) + roundUp(5*block)
}

func roundUp(n int64) int64 { return (n + unit - 1) / unit * unit }
