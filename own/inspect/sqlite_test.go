package inspect

import "testing"

func FuzzParseHeader(f *testing.F) {
	f.Add([]byte(headerMagic))
	f.Add(append([]byte(headerMagic), make([]byte, 84)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, err := parseHeader(b); err == nil && (h.page < 512 || h.page > 65536 || h.free < 0 || h.pages < 0) {
			t.Errorf("%+v", h)
		}
	})
}
