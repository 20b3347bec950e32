package serverpath

import (
	"strings"
	"testing"
)

func TestParseDir(t *testing.T) {
	for _, c := range []struct {
		given, want string
		os          OS
	}{
		{`D:\data`, `D:\data`, Windows}, {`d:\data\`, `d:\data`, Windows}, {`D:\`, `D:\`, Windows}, {`D:/a//b/`, `D:\a\b`, Windows},
		{`\\files\share`, `\\files\share`, Windows}, {`\\files\share$\a b`, `\\files\share$\a b`, Windows},
		{`//files/share/x`, "/files/share/x", Linux},
		{`D:\Ünïcode ' [x]`, `D:\Ünïcode ' [x]`, Windows}, {`E:\.hidden`, `E:\.hidden`, Windows},
		{`E:\COMMON\nullable`, `E:\COMMON\nullable`, Windows},
		{"/", "/", Linux}, {"/var/opt/mssql/data/", "/var/opt/mssql/data", Linux}, {"/a//b", "/a/b", Linux}, {`/a\b:c*`, `/a\b:c*`, Linux},
		{"/con/nul", "/con/nul", Linux},
	} {
		d, err := ParseDir(c.given)
		if err != nil || d.String() != c.want || d.System != c.os {
			t.Errorf("ParseDir(%q) = %q on %s, %v", c.given, d, d.System, err)
		}
	}
	for _, bad := range []string{
		"", "data", `data\x`, "D:", "D:data", `\data`, `\\files`, `\\files\`, `\\?\D:\x`, `\\.\C:\x`, `1:\x`, `ÄD:\x`,
		`D:\a\..\b`, `D:\.`, "/a/../b", "/./a", `D:\a|b`, `D:\a:stream`, `D:\a*`, `D:\a?`, `D:\<a>`, `D:\"a"`, `D:\ends.`, `D:\ends `,
		`D:\NUL`, `D:\con.txt`, `D:\lpt1\x`, `D:\Com9 .x`, "D:\\a\x00b", "/a\nb", "/a\x00", "/a\xff", "/" + strings.Repeat("x", 300), `D:\` +
			strings.Repeat("€", 259),
	} {
		if d, err := ParseDir(bad); err == nil {
			t.Errorf("ParseDir(%q) = %q", bad, d)
		}
	}
}

func TestJoin(t *testing.T) {
	for dir, want := range map[string]string{`D:\`: `D:\f.mdf`, `D:\data`: `D:\data\f.mdf`, `\\s\t`: `\\s\t\f.mdf`, "/": "/f.mdf",
		"/d": "/d/f.mdf"} {
		d, err := ParseDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := d.Join("f.mdf"); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", dir, got, err, want)
		}
	}
	d, err := ParseDir("/" + strings.Repeat("x", 255))
	if err != nil {
		t.Fatal(err)
	}
	if path, err := d.Join("filewise.mdf"); err == nil {
		t.Errorf("a path of %d characters passes", len(path))
	}
}

func TestSameAndWithin(t *testing.T) {
	for _, c := range []struct {
		dir, mount string
		want       bool
	}{
		{`D:\data`, `d:\`, true}, {`D:\data`, `D:\DATA`, true}, {`D:\database`, `D:\data`, false}, {`D:\data`, `E:\`, false},
		{`\\s\t\x`, `\\S\T\`, true},
		{"/var/opt", "/", true}, {"/var/opt", "/var/opt/", true}, {"/var/opt", "/VAR", false}, {"/variable", "/var", false},
		{"/var", `C:\`, false}, {"/var", "", false},
	} {
		d, err := ParseDir(c.dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Within(c.mount); got != c.want {
			t.Errorf("%q within %q: %v", c.dir, c.mount, got)
		}
	}
	w, l := Dir{Windows, `D:\`}, Dir{Linux, "/"}
	if !w.Same(`D:\A`, `d:\a`) || l.Same("/A", "/a") || !l.Same("/a", "/a") {
		t.Error("letter case is not taken by the system's rules")
	}
}

func FuzzParseDir(f *testing.F) {
	for _, s := range []string{`D:\data`, `\\s\t\x`, "/var/opt/mssql", `D:/a//b/`, `C:\con.x`, "/.."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		d, err := ParseDir(path)
		if err != nil {
			return
		}
		again, err := ParseDir(d.String())
		if err != nil || again != d {
			t.Fatalf("%q gives %q, which gives %q, %v", path, d, again, err)
		}
		file, err := d.Join("f.mdf")
		if err == nil && (!strings.HasSuffix(file, "f.mdf") || strings.ContainsAny(file, "\x00\n\r") || units(file) > MaxPath) {
			t.Fatalf("%q with a file is %q", path, file)
		}
		if !d.Within(d.String()) {
			t.Fatalf("%q is not within itself", d)
		}
	})
}
