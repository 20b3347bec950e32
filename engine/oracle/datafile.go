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
	// leastBigBlocks is the least size of a bigfile's datafile in blocks: its header
	// and space maps are larger (published at 8 KiB: 6265 KB; see SCENARIOS.md, dml).
	leastBigBlocks = 1024
	// Limits of the server: files of a smallfile tablespace, blocks of a file
	// (Oracle Database Reference, "Physical Database Limits").
	maxFiles       = 1022
	maxSmallBlocks = int64(1)<<22 - 1
	maxBigBlocks   = int64(1)<<32 - 1
)

// datafile is a file as it should come about.
type datafile struct {
	role       filewise.Role
	tablespace string
	number     int // within the tablespace, from 0
	volume     string
	place      dialect.Place
	path       string // empty: the server names it
	bytes      int64  // at first
	full       bool   // preallocated; it grows when the work is more than expected
	next, max  int64  // bytes; next 0: the server's default, one block
}

// clause returns what stands behind DATAFILE.
func (f datafile) clause() (string, error) {
	return f.place.Clause(f.path, f.bytes, f.next, f.max)
}

// asked returns the file as a plan shows it.
func (f datafile) asked() filewise.File {
	path := f.path
	if path == "" {
		path = f.place.Shown(f.tablespace, f.number)
	}
	return filewise.File{Role: f.role, Volume: f.volume, Path: path, Bytes: f.bytes}
}

// leastSmall returns the least size of a smallfile datafile that is requested: 8 blocks for
// header and space map, and an extent, which has 64 KiB and 5 blocks at least (a smaller
// file is ORA-03214).
func leastSmall(block int64) int64 {
	return roundUp(8*block) + roundUp(5*block)
}

func roundUp(n int64) int64 { return (n + unit - 1) / unit * unit }
