package innodb

import "math/bits"

// FillTarget is the share of a tablespace's room that the default work fills:
// enough that the last file takes its part, and short of the end, where InnoDB
// refuses more (it keeps 1 % and two extents back, fsp_reserve_free_extents).
const FillTarget = 0.88

// Rows says how much room the rows of a table take.
type Rows struct {
	PageSize int64
	Payload  int64 // bytes of the one column besides a BIGINT key
	Random   bool  // keys come in random order
}

// The share of a leaf page that is filled, measured on MariaDB 10.11 with 16
// connections (TestFillModel repeats it). InnoDB leaves 1/16 free when keys
// ascend, and pages split in the middle are 69 % (ln 2) full on average.
const (
	fillAscending = 0.92
	fillRandom    = 0.70
)

// BytesPerRow is the room of one row in the tablespace, its share of the page's
// and the tree's overhead included (COMPACT and DYNAMIC records: 5 bytes of
// header, 1 or 2 of length, key, transaction and roll pointer; a payload beyond
// about half a page lies in pages of its own).
func (r Rows) BytesPerRow() float64 {
	const system, slot, pageOverhead, blobOverhead = 8 + 6 + 7, 0.4, 128, 54
	length := int64(1)
	if r.Payload > 127 {
		length = 2
	}
	record := 5 + length + system + r.Payload
	var external float64
	if record > (r.PageSize-pageOverhead-4)/2 {
		blob := (r.Payload + r.PageSize - blobOverhead - 1) / (r.PageSize - blobOverhead)
		external = float64(blob * r.PageSize)
		record = 5 + length + system + 20
	}
	fill := fillAscending
	if r.Random {
		fill = fillRandom
	}
	room := float64(r.PageSize-pageOverhead) * fill
	inline := (float64(record) + slot) * float64(r.PageSize) / room
	return inline*1.005 + external // 0.5 %: the levels above the leaves
}

// Whole is how many rows fit into room bytes.
func (r Rows) Whole(room float64) int64 {
	if room <= 0 {
		return 0
	}
	n := room / r.BytesPerRow()
	if n >= 1<<62 {
		return 1 << 62
	}
	return int64(n)
}

// SystemBase is what a new instance itself takes of its system tablespace, in
// bytes: dictionary, rollback segments, doublewrite buffer and the segments of
// tables tables. Measured: 6.6 MiB on MariaDB 10.11.
func SystemBase(tables int) int64 { return 7*MiB + int64(tables)*64<<10 }

// Room is what the tables' rows can take of a system tablespace of so many
// bytes before InnoDB refuses more.
func Room(bytes int64, tables int) int64 {
	reserve := 2*MiB + bytes/100
	return max(bytes-SystemBase(tables)-reserve, 0)
}

// CeilPower2 is the smallest power of two that is at least n.
func CeilPower2(n int64) int64 {
	if n <= 1 {
		return 1
	}
	return 1 << bits.Len64(uint64(n-1))
}
