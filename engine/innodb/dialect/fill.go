package dialect

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"os"
)

// Rows describes the rows of a table, to compute how much space they take.
type Rows struct {
	PageSize int64
	Payload  int64 // bytes of the only column other than a BIGINT key
	Keys     Keys
}

// Keys is the order in which the keys of a tree arrive.
type Keys int

// The orders of keys.
const (
	Random     Keys = iota
	Overtaking      // ascending from several connections, which overtake each other
	Ascending       // from one connection
	InStep          // ascending from two connections, which seldom overtake each other
)

// fillOf is the share of a tablespace's pages that rows fill. Measured on MariaDB 10.11 with 200 to 3000 bytes and 1 to
// 16 connections. Random keys fill 0.60 to 0.64. If connections overtake each other and pages also split in the middle,
// rows fill 0.58 to 0.73. Ascending keys fill 0.97 of what InnoDB lets rows fill, and two connections at best all of
// it.
var fillOf = map[Keys]float64{Random: 0.62, Overtaking: 0.67, Ascending: 0.97, InStep: 1}

// If a page holds fewer than fewRows rows, connections that overtake each other leave more of it empty. From 16
// connections, rows of 2000 bytes fill 0.63 to 0.70, and rows of 3000 bytes 0.62 to 0.65 (measured on MySQL 8.0.31).
// Files have a reserve for rows that take more.
const (
	fewRows = 10
	fewFill = 0.64
)

// BytesPerRow returns the space of one row in the tablespace, with its share of all overhead. COMPACT and DYNAMIC
// records have 5 bytes of header, 1 or 2 of length, key, transaction and roll pointer. A payload beyond about half a
// page lies in separate pages.
func (r Rows) BytesPerRow() float64 {
	const key, system, slot, pageOverhead, blobOverhead, pointer = 8, 6 + 7, 0.4, 128, 54, 20
	length := int64(1)
	if r.Payload > 127 {
		length = 2
	}
	record := float64(5 + length + key + system + r.Payload)
	page := float64(r.PageSize)
	var external float64
	if record > (page-pageOverhead-4)/2 {
		blobs := (r.Payload + r.PageSize - blobOverhead - 1) / (r.PageSize - blobOverhead)
		external = float64(blobs) * page
		record = 5 + float64(length) + key + system + pointer
	}
	usable := page - pageOverhead
	if r.Keys == Random || r.Keys == Overtaking {
		fill := fillOf[r.Keys]
		if r.Keys == Overtaking && usable/(record+slot) < fewRows {
			fill = fewFill
		}
		return (record+slot)*page/usable/fill + external
	}
	// InnoDB leaves 1/16 of a page free for rows to grow (dict_index_get_space_reserve).
	perPage := math.Floor((usable - page/16) / (record + slot))
	return page/max(perPage, 1)/fillOf[r.Keys] + external
}

// Whole returns how many rows fit into so many bytes.
func (r Rows) Whole(bytes float64) int64 {
	if bytes <= 0 {
		return 0
	}
	n := bytes / r.BytesPerRow()
	if n >= 1<<62 {
		return 1 << 62
	}
	return int64(n)
}

// SystemBase returns what a new instance itself takes of its system tablespace, in bytes. It counts the instance's own
// part and the segments of its tables, some 48 KiB for each except the first (measured on MariaDB 10.11).
func SystemBase(own int64, tables int) int64 { return own + int64(tables)*64<<10 }

// Capacity returns how many bytes of rows a system tablespace holds when its first bytes are filled, give or take some MiB.
// InnoDB takes the rest for itself, and reserves some of each table's extents without filling them. Measured on MariaDB
// 10.11.
func Capacity(bytes, own int64, tables int) int64 {
	return max(bytes-SystemBase(own, tables)-3*MiB-int64(tables-1)*MiB/3, 0)
}

// Offsets in a tablespace's header page and in its later descriptor pages. From MariaDB 10.11,
// storage/innobase/include/fsp0fsp.h; unchanged since MySQL 5.1.
const (
	fspHeader    = 38 // FIL_PAGE_DATA
	fspSize      = fspHeader + 8
	fspFreeLimit = fspHeader + 12
	xdesArray    = fspHeader + 112
	xdesBitmap   = 24 // within a descriptor
)

// Use holds how much of a tablespace's files is in use.
type Use struct {
	Used []int64 // bytes of used pages, for each file
	Size int64   // bytes of the tablespace, as its header states
}

// ReadUse reads from the extent descriptors on the storage which pages of a tablespace are in use. The result is
// correct once everything is flushed. The files must be in the tablespace's order.
func ReadUse(files []string, pageSize int64) (Use, error) {
	r, err := openSpace(files, pageSize)
	if err != nil {
		return Use{}, err
	}
	defer r.close()
	head, err := r.page(0)
	if err != nil {
		return Use{}, err
	}
	limit := int64(binary.BigEndian.Uint32(head[fspFreeLimit:]))
	use := Use{Used: make([]int64, len(files)), Size: int64(binary.BigEndian.Uint32(head[fspSize:])) * pageSize}
	extent := extentPages(pageSize)
	for first := int64(0); first < limit; first += pageSize { // a descriptor page describes as many pages as a page has bytes
		desc, err := r.page(first)
		if err != nil {
			return Use{}, err
		}
		for i := int64(0); i < pageSize/extent && first+i*extent < limit; i++ {
			n := usedPages(desc, i, extent)
			file := r.fileOf(first + i*extent)
			use.Used[file] += n * pageSize
		}
	}
	return use, nil
}

// extentPages returns the number of pages of an extent: 1 MiB, but at least 64 pages.
func extentPages(pageSize int64) int64 { return max(MiB/pageSize, 64) }

// usedPages counts the used pages of extent i of a descriptor page. A page has two bits, the first of which is set if
// the page is free.
func usedPages(desc []byte, i, extent int64) int64 {
	bitmap := extent / 4
	at := xdesArray + i*(xdesBitmap+bitmap) + xdesBitmap
	free := 0
	for _, b := range desc[at : at+bitmap] {
		free += bits.OnesCount8(b & 0x55)
	}
	return extent - int64(free)
}

// space is a tablespace's files, opened for reading.
type space struct {
	files    []*os.File
	ends     []int64 // the end of each file, in pages from the tablespace's start
	pageSize int64
}

func openSpace(paths []string, pageSize int64) (*space, error) {
	if pageSize < 4096 || pageSize > 65536 || pageSize&(pageSize-1) != 0 {
		return nil, fmt.Errorf("%d bytes is no page size of InnoDB", pageSize)
	}
	s := &space{pageSize: pageSize}
	var end int64
	for _, p := range paths {
		f, err := os.Open(p)
		if err != nil {
			s.close()
			return nil, err
		}
		s.files = append(s.files, f)
		info, err := f.Stat()
		if err != nil {
			s.close()
			return nil, err
		}
		end += info.Size() / pageSize
		s.ends = append(s.ends, end)
	}
	return s, nil
}

func (s *space) close() {
	for _, f := range s.files {
		f.Close()
	}
}

// fileOf returns the index of the file that holds a page, or the last file's for pages beyond the end.
func (s *space) fileOf(page int64) int {
	for i, end := range s.ends {
		if page < end {
			return i
		}
	}
	return len(s.ends) - 1
}

func (s *space) page(n int64) ([]byte, error) {
	i := s.fileOf(n)
	start := int64(0)
	if i > 0 {
		start = s.ends[i-1]
	}
	b := make([]byte, s.pageSize)
	if _, err := s.files[i].ReadAt(b, (n-start)*s.pageSize); err != nil {
		return nil, fmt.Errorf("page %d in %s: %w", n, s.files[i].Name(), err)
	}
	return b, nil
}
