package dialect

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"os"
)

// Offsets in the header page of a tablespace and in its later descriptor pages:
// MariaDB 10.11, storage/innobase/include/fsp0fsp.h, unchanged since MySQL 5.1.
const (
	fspHeader    = 38 // FIL_PAGE_DATA
	fspSize      = fspHeader + 8
	fspFreeLimit = fspHeader + 12
	xdesArray    = fspHeader + 112
	xdesBitmap   = 24 // within a descriptor
)

// Use says how a tablespace uses its files.
type Use struct {
	Used []int64 // bytes of pages in use, by file
	Size int64   // bytes of the tablespace by its own account
}

// ReadUse reads which pages of a tablespace of one or several files are in use,
// from its extent descriptors on the storage: true once everything is flushed.
// The files are in the tablespace's order.
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
	for first := int64(0); first < limit; first += pageSize { // one descriptor page describes as many pages as a page has bytes
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

// extentPages is the number of pages of an extent: 1 MiB, but at least 64 pages.
func extentPages(pageSize int64) int64 { return max(MiB/pageSize, 64) }

// usedPages counts the pages of extent i of a descriptor page that are in use:
// two bits a page, the first of them set when the page is free.
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
	ends     []int64 // of each file, in pages from the tablespace's start
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

// fileOf is the index of the file that holds a page; the last for pages beyond.
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
