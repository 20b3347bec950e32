package sqlserver

import (
	"strings"
	"testing"
)

func TestParseDir(t *testing.T) {
	for _, c := range []struct {
		given, want string
		os          serverOS
	}{
		{`D:\data`, `D:\data`, windows}, {`d:\data\`, `d:\data`, windows}, {`D:\`, `D:\`, windows}, {`D:/a//b/`, `D:\a\b`, windows},
		{`\\files\share`, `\\files\share`, windows}, {`\\files\share$\a b`, `\\files\share$\a b`, windows},
		{`//files/share/x`, "/files/share/x", linux},
		{`D:\Ünïcode ' [x]`, `D:\Ünïcode ' [x]`, windows}, {`E:\.hidden`, `E:\.hidden`, windows},
		{`E:\COMMON\nullable`, `E:\COMMON\nullable`, windows},
		{"/", "/", linux}, {"/var/opt/mssql/data/", "/var/opt/mssql/data", linux}, {"/a//b", "/a/b", linux}, {`/a\b:c*`, `/a\b:c*`, linux},
		{"/con/nul", "/con/nul", linux},
	} {
		d, err := parseDir(c.given)
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
		if d, err := parseDir(bad); err == nil {
			t.Errorf("ParseDir(%q) = %q", bad, d)
		}
	}
}

func TestJoin(t *testing.T) {
	for dir, want := range map[string]string{`D:\`: `D:\f.mdf`, `D:\data`: `D:\data\f.mdf`, `\\s\t`: `\\s\t\f.mdf`, "/": "/f.mdf",
		"/d": "/d/f.mdf"} {
		d, err := parseDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := d.Join("f.mdf"); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", dir, got, err, want)
		}
	}
	d, err := parseDir("/" + strings.Repeat("x", 255))
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
		d, err := parseDir(c.dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Within(c.mount); got != c.want {
			t.Errorf("%q within %q: %v", c.dir, c.mount, got)
		}
	}
	w, l := serverDir{windows, `D:\`}, serverDir{linux, "/"}
	if !w.Same(`D:\A`, `d:\a`) || l.Same("/A", "/a") || !l.Same("/a", "/a") {
		t.Error("letter case is not taken by the system's rules")
	}
}

func FuzzParseDir(f *testing.F) {
	for _, s := range []string{`D:\data`, `\\s\t\x`, "/var/opt/mssql", `D:/a//b/`, `C:\con.x`, "/.."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		d, err := parseDir(path)
		if err != nil {
			return
		}
		again, err := parseDir(d.String())
		if err != nil || again != d {
			t.Fatalf("%q gives %q, which gives %q, %v", path, d, again, err)
		}
		file, err := d.Join("f.mdf")
		if err == nil && (!strings.HasSuffix(file, "f.mdf") || strings.ContainsAny(file, "\x00\n\r") || utf16Units(file) > maxPath) {
			t.Fatalf("%q with a file is %q", path, file)
		}
		if !d.Within(d.String()) {
			t.Fatalf("%q is not within itself", d)
		}
	})
}
