package store

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"
)

func TestJsonsizeCheck(t *testing.T) {
	l := limits{Depth: 8, Memory: 1 << 20, String: 1000}
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"plain":        {`{"a": [1, 2, {"b": "x\"{[[[[[[[[[["}], "c": null}`, true},
		"depth":        {strings.Repeat("[", 9), false},
		"depth in all": {strings.Repeat("[]", 1000), true},
		"objects":      {"[" + strings.Repeat("{},", 2000) + "{}]", false},
		"elements":     {"[" + strings.Repeat("1,", 50_000) + "1]", false},
		"blanks":       {strings.Repeat(" ", 5000) + "1", false},
		"string":       {`"` + strings.Repeat("x", 1001) + `"`, false},
		"strings":      {`["` + strings.Repeat("x", 900) + `","` + strings.Repeat("x", 900) + `"]`, true},
		"bytes":        {strings.Repeat("1", 2<<20), false},
	} {
		if _, err := checkJSONSize([]byte(c.text), l); c.ok != (err == nil) || err != nil && !errors.Is(err, errJSONTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
		if err := iotest.TestReader(newReader(iotest.OneByteReader(strings.NewReader(c.text)), l), []byte(c.text)); c.ok && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
