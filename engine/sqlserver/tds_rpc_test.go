package sqlserver

import (
	"encoding/binary"
	"fmt"
	"math"
)

// procedures that are called by number (MS-TDS 2.2.6.6).
var procedures = map[int]string{10: "sp_executesql", 11: "sp_prepare", 12: "sp_execute", 13: "sp_prepexec", 15: "sp_unprepare"}

// parseRPC reads a call: the procedure and its arguments.
func parseRPC(body []byte) (procedure string, args []any, err error) {
	r := &reader{rest: body}
	r.headers()
	if n := r.u16(); n == 0xFFFF {
		id := r.u16()
		if procedure = procedures[id]; procedure == "" {
			procedure = fmt.Sprintf("procedure %d", id)
		}
	} else {
		procedure = fromUCS2(r.take(2 * n))
	}
	r.u16() // options
	for len(r.rest) > 0 && r.err == nil {
		r.take(2 * r.u8()) // the argument's name
		r.u8()             // by reference
		args = append(args, argument(r))
	}
	return procedure, args, r.err
}

// argument reads a type and a value.
func argument(r *reader) any {
	switch t := r.u8(); t {
	case 0x1F: // NULL
		return nil
	case 0x26, 0x68, 0x6D: // INTN, BITN, FLTN
		r.u8()
		n := r.u8()
		if n == 0 {
			return nil
		}
		b := append(append([]byte{}, r.take(n)...), make([]byte, 8)...)[:8]
		bits := binary.LittleEndian.Uint64(b)
		switch {
		case t == 0x6D && n == 8:
			return math.Float64frombits(bits)
		case t == 0x68:
			return bits != 0
		case n == 4:
			return int64(int32(bits))
		}
		return int64(bits)
	case 0xE7, 0xA7: // NVARCHAR, VARCHAR
		size := r.u16()
		r.take(5)
		b, null := r.bytes(size)
		switch {
		case null:
			return nil
		case t == 0xE7:
			return fromUCS2(b)
		}
		return string(b)
	case 0xA5: // VARBINARY
		b, null := r.bytes(r.u16())
		if null {
			return nil
		}
		return b
	default:
		r.err = fmt.Errorf("an argument of type %#x, which this server does not know", t)
		return nil
	}
}

// bytes returns a value with its length before it, or in chunks (size FFFF).
func (r *reader) bytes(size int) (b []byte, null bool) {
	if size != 0xFFFF {
		n := r.u16()
		if n == 0xFFFF {
			return nil, true
		}
		return r.take(n), false
	}
	if r.u64() == -1 {
		return nil, true
	}
	for r.err == nil {
		n := r.u32()
		if n == 0 {
			break
		}
		b = append(b, r.take(n)...)
	}
	return b, false
}
