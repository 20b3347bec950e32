package managed

import (
	"errors"
	"testing"

	"filewise"
)

// A fixed file has the size of the server's account; the last can be larger for
// a moment, while it grows.
func TestVerifyEngine(t *testing.T) {
	file := func(bytes, engine int64) filewise.File {
		return filewise.File{Path: "f", Bytes: bytes, EngineBytes: &engine}
	}
	for name, c := range map[string]struct {
		files []filewise.File
		ok    bool
	}{
		"as told":             {[]filewise.File{file(4, 4), file(8, 8)}, true},
		"the last grows":      {[]filewise.File{file(4, 4), file(9, 8)}, true},
		"a fixed one is more": {[]filewise.File{file(5, 4), file(8, 8)}, false},
		"the last is less":    {[]filewise.File{file(4, 4), file(7, 8)}, false},
	} {
		if err := verifyEngine(c.files); (err == nil) != c.ok || err != nil && !errors.Is(err, filewise.ErrLayout) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
