package sqlserver

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Reply is the answer to a request, as tokens (MS-TDS 2.2.7).
type Reply struct {
	b      []byte
	types  []Type
	rows   uint64
	open   bool // a result has begun
	flush  func([]byte) error
	ended  bool
	failed bool
}

// Type is a column's.
type Type byte

// The types of columns.
const (
	BigInt  Type = 0x26 // INTNTYPE of 8 bytes
	Int     Type = 0x27 // INTNTYPE of 4 bytes
	Text    Type = 0xE7 // nvarchar
	Long    Type = 0xE8 // nvarchar(max)
	VarChar Type = 0xA7
)

// Column is one of a result.
type Column struct {
	Name string
	Type Type
}

func (r *Reply) u16(n uint16) { r.b = binary.LittleEndian.AppendUint16(r.b, n) }
func (r *Reply) u32(n uint32) { r.b = binary.LittleEndian.AppendUint32(r.b, n) }
func (r *Reply) u64(n uint64) { r.b = binary.LittleEndian.AppendUint64(r.b, n) }

func ucs2prefixed(s string) []byte {
	b := ucs2(s)
	return append([]byte{byte(len(b) / 2)}, b...)
}

func (r *Reply) envChange(kind byte, now, before []byte) {
	r.b = append(r.b, 0xE3)
	r.u16(uint16(1 + len(now) + len(before)))
	r.b = append(append(append(r.b, kind), now...), before...)
}

var collation = []byte{0x09, 0x04, 0xD0, 0x00, 0x34}

// Result begins a result.
func (r *Reply) Result(columns ...Column) *Reply {
	r.endResult()
	r.open, r.rows, r.types = true, 0, nil
	r.b = append(r.b, 0x81)
	r.u16(uint16(len(columns)))
	for _, c := range columns {
		r.types = append(r.types, c.Type)
		r.u32(0)
		r.u16(1) // nullable
		switch c.Type {
		case BigInt:
			r.b = append(r.b, 0x26, 8)
		case Int:
			r.b = append(r.b, 0x26, 4)
		case VarChar:
			r.b = append(r.b, 0xA7)
			r.u16(8000)
			r.b = append(r.b, collation...)
		case Text, Long:
			r.b = append(r.b, 0xE7)
			if c.Type == Long {
				r.u16(0xFFFF)
			} else {
				r.u16(8000)
			}
			r.b = append(r.b, collation...)
		default:
			panic(fmt.Sprintf("type %#x", c.Type))
		}
		r.b = append(r.b, ucs2prefixed(c.Name)...)
	}
	return r
}

// Row adds a row; nil is NULL.
func (r *Reply) Row(values ...any) *Reply {
	if len(values) != len(r.types) {
		panic(fmt.Sprintf("%d values for %d columns", len(values), len(r.types)))
	}
	r.b = append(r.b, 0xD1)
	r.rows++
	for i, v := range values {
		r.value(r.types[i], v)
	}
	return r
}

func (r *Reply) value(t Type, v any) {
	switch t {
	case BigInt, Int:
		if v == nil {
			r.b = append(r.b, 0)
			return
		}
		n := whole(v)
		if t == BigInt {
			r.b = append(r.b, 8)
			r.u64(uint64(n))
			return
		}
		r.b = append(r.b, 4)
		r.u32(uint32(n))
	case VarChar:
		r.short([]byte(text(v)), v == nil)
	case Text:
		r.short(ucs2(text(v)), v == nil)
	case Long:
		if v == nil {
			r.u64(math.MaxUint64)
			return
		}
		b := ucs2(text(v))
		r.u64(uint64(len(b)))
		if len(b) > 0 {
			r.u32(uint32(len(b)))
			r.b = append(r.b, b...)
		}
		r.u32(0)
	}
}

func (r *Reply) short(b []byte, null bool) {
	if null {
		r.u16(0xFFFF)
		return
	}
	r.u16(uint16(len(b)))
	r.b = append(r.b, b...)
}

func whole(v any) int64 {
	switch v := v.(type) {
	case int:
		return int64(v)
	case int64:
		return v
	case bool:
		if v {
			return 1
		}
		return 0
	}
	panic(fmt.Sprintf("%T is no whole number", v))
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// Info returns a message of the server, such as the progress of a backup.
func (r *Reply) Info(number int32, message string) *Reply {
	return r.message(0xAB, number, 0, message)
}

// Error returns an error of the server; one answer may have several.
func (r *Reply) Error(number int32, class byte, message string) *Reply {
	r.failed = true
	return r.message(0xAA, number, class, message)
}

func (r *Reply) message(token byte, number int32, class byte, message string) *Reply {
	r.endResult()
	long := ucs2(message)
	tail := append(ucs2prefixed("tdstest"), ucs2prefixed("")...)
	r.b = append(r.b, token)
	r.u16(uint16(4 + 2 + 2 + len(long) + len(tail) + 4))
	r.u32(uint32(number))
	r.b = append(r.b, 1, class)
	r.u16(uint16(len(long) / 2))
	r.b = append(append(r.b, long...), tail...)
	r.u32(1)
	return r
}

// Affected returns the number of rows that a statement changed.
func (r *Reply) Affected(n int) *Reply {
	r.endResult()
	r.token(0xFD, 0x10|1, uint64(n))
	return r
}

func (r *Reply) endResult() {
	if r.open {
		r.open = false
		r.token(0xFD, 0x10|1, r.rows) // with a count, more to come
	}
}

func (r *Reply) token(token byte, status uint16, rows uint64) {
	r.b = append(r.b, token)
	r.u16(status)
	r.u16(0xC1)
	r.u64(rows)
}

// done ends the reply.
func (r *Reply) done(status uint16, rows uint64) {
	if !r.ended {
		r.endResult()
		if r.failed {
			status |= 2
		}
		r.token(0xFD, status, rows)
		r.ended = true
	}
}

// Flush sends what there is, while the statement goes on.
func (r *Reply) Flush() error {
	b := r.b
	r.b = nil
	if len(b) == 0 {
		return nil
	}
	return r.flush(b)
}
