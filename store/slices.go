package store

import (
	"encoding/binary"
	"errors"
)

// Slices are stored as one blob of zigzag varints per measure, not as rows: a
// trial has hundreds of them and they are only ever read together. A slice of
// 50 ms takes two or three bytes instead of some twenty for a row. nil is NULL.

func packSlices(values []int64) []byte {
	if values == nil {
		return nil
	}
	b := make([]byte, 0, 3*len(values))
	for _, v := range values {
		b = binary.AppendVarint(b, v)
	}
	return b
}

var errSlices = errors.New("the slices are damaged")

func unpackSlices(b []byte) ([]int64, error) {
	if b == nil {
		return nil, nil
	}
	values := make([]int64, 0, len(b)/2)
	for len(b) > 0 {
		v, n := binary.Varint(b)
		if n <= 0 {
			return nil, errSlices
		}
		values, b = append(values, v), b[n:]
	}
	return values, nil
}
