package sqlserver

import (
	"encoding/binary"
	"fmt"
)

// transactions holds what begins and ends one, and what the server reports that
// (ENVCHANGE, MS-TDS 2.2.7.9).
var transactions = map[string]byte{"BEGIN TRANSACTION": 8, "COMMIT TRANSACTION": 9, "ROLLBACK TRANSACTION": 10}

// changed notifies the client of its transaction.
func (r *Reply) changed(statement string) {
	now, before := append([]byte{8}, binary.LittleEndian.AppendUint64(nil, 77)...), []byte{0}
	if statement != "BEGIN TRANSACTION" {
		now, before = before, now
	}
	r.envChange(transactions[statement], now, before)
}

// BulkRows reads the rows of a bulk load: whole numbers are int64, texts strings.
func BulkRows(body []byte) (rows [][]any, err error) {
	r := &reader{rest: body}
	if r.u8() != 0x81 {
		return nil, fmt.Errorf("a bulk load without the types of its columns")
	}
	kinds := make([]int, r.u16())
	for i := range kinds {
		r.take(6) // user type and flags
		switch kinds[i] = r.u8(); kinds[i] {
		case 0x26:
			r.u8()
		case 0xA7:
			r.take(2 + 5)
		default:
			return nil, fmt.Errorf("a column of type %#x, which this server does not know", kinds[i])
		}
		r.take(2 * r.u8()) // its name
	}
	for r.err == nil && len(r.rest) > 0 && r.rest[0] == 0xD1 {
		r.u8()
		row := make([]any, len(kinds))
		for i, kind := range kinds {
			row[i] = r.bulkValue(kind)
		}
		rows = append(rows, row)
	}
	if r.err == nil && r.u8() != 0xFD {
		return nil, fmt.Errorf("a bulk load that does not end")
	}
	return rows, r.err
}

func (r *reader) bulkValue(kind int) any {
	if kind == 0xA7 {
		if b, null := r.bytes(0); !null {
			return string(b)
		}
		return nil
	}
	switch n := r.u8(); n {
	case 0:
		return nil
	case 4:
		return int64(int32(r.u32()))
	case 8:
		return r.u64()
	default:
		r.err = fmt.Errorf("a whole number of %d bytes", n)
		return nil
	}
}
