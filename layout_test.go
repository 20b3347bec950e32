package filewise

import (
	"errors"
	"testing"
)

func TestVerify(t *testing.T) {
	held := func(n int64) *int64 { return &n }
	asked := []File{{Role: RoleData, Volume: "a", Path: "/1", Bytes: 100}, {Role: RoleData, Volume: "b", Path: "/2", Bytes: 100}}
	for _, c := range []struct {
		name       string
		allocation Allocation
		worked, ok bool
		change     func([]File) []File
	}{
		{"as asked", Preallocated, false, true, nil},
		{"a log besides", Preallocated, false, true, func(f []File) []File { return append(f, File{Role: RoleLog, Path: "/1-wal"}) }},
		{"held whole", Preallocated, false, true, func(f []File) []File { f[0].Allocated = held(4096); return f }},
		{"sparse", Preallocated, false, false, func(f []File) []File { f[0].Allocated = held(99); return f }},
		{"one less", Preallocated, false, false, func(f []File) []File { return f[:1] }},
		{"one more", Preallocated, false, false, func(f []File) []File { return append(f, File{Role: RoleData, Path: "/3"}) }},
		{"another path", Preallocated, false, false, func(f []File) []File { f[1].Path = "/9"; return f }},
		{"another volume", Preallocated, false, false, func(f []File) []File { f[1].Volume = "a"; return f }},
		{"too small", Preallocated, false, false, func(f []File) []File { f[1].Bytes = 99; return f }},
		{"too large", Preallocated, false, false, func(f []File) []File { f[1].Bytes = 101; return f }},
		{"grown by work", Preallocated, true, true, func(f []File) []File { f[1].Bytes = 200; return f }},
		{"shrunk by work", Preallocated, true, false, func(f []File) []File { f[1].Bytes = 50; return f }},
		{"the engine claims more", Preallocated, false, false, func(f []File) []File { f[0].EngineBytes = held(200); return f }},
		{"growing from less", Growing, false, true, func(f []File) []File { f[0].Bytes = 1; return f }},
		{"growing from more", Growing, false, false, func(f []File) []File { f[0].Bytes = 101; return f }},
		{"grown", Growing, true, true, func(f []File) []File { f[0].Bytes = 1000; return f }},
	} {
		found := append([]File(nil), asked...)
		if c.change != nil {
			found = c.change(found)
		}
		l := Layout{Data: Spread{Files: 2, Allocation: c.allocation}}
		err := l.Verify(asked, found, c.worked)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, ErrLayout) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
