package filesystem

import "testing"

func TestDeviceNames(t *testing.T) {
	for _, name := range []string{"aux", "AUX.html", `D:\x\nul.db`, "con.tar.gz", "COM1", "lpt9.txt", "com¹.x",
		"D:aux", "aux .html", "NUL:", "CONOUT$"} {
		if !deviceNames.MatchString(name) {
			t.Errorf("%q is a device", name)
		}
	}
	for _, name := range []string{"auxiliary.html", "my-aux.html", `D:\aux\x.html`, "com10.txt", "com", "console.db", "x.con", "nulls", "-"} {
		if deviceNames.MatchString(name) {
			t.Errorf("%q is none", name)
		}
	}
}
