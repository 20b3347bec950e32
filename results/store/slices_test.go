package store

import (
	"slices"
	"testing"
)

func FuzzSlices(f *testing.F) {
	f.Add([]byte{})
	f.Add(packSlices([]int64{0, 1, -1, 1 << 62}))
	f.Add([]byte{0x80})
	f.Fuzz(func(t *testing.T, b []byte) {
		values, err := unpackSlices(b)
		if err != nil {
			return
		}
		again, err := unpackSlices(packSlices(values))
		if err != nil || !slices.Equal(values, again) {
			t.Errorf("%v became %v (%v)", values, again, err)
		}
	})
}
