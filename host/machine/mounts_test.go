package machine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const mountText = `22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard,resuid=65534
40 27 8:1 / /data rw,noatime shared:1 - xfs /dev/sda1 rw,attr2,noquota
41 40 8:17 / /data/with\040space rw,relatime - ext4 /dev/sdb1 rw
42 27 8:33 / /data2 ro,relatime master:2 propagate_from:1 - ext4 /dev/sdc1 rw
43 27 0:44 / /tmp rw - tmpfs tmpfs rw,size=1024k
44 27 0:50 /@home /btr rw,relatime - btrfs /dev/sdd2 rw,space_cache
45 27 8:49 / /over rw - ext4 /dev/sdd1 rw
46 27 0:51 / /over rw - overlay overlay rw,lowerdir=/a,upperdir=/b
nonsense
47 27 8:49
`

func TestParseMounts(t *testing.T) {
	mounts := ParseMounts(mountText)
	if len(mounts) != 9 {
		t.Fatalf("%d mounts, want 9", len(mounts))
	}
	want := Mount{Number: "8:17", Point: "/data/with space", Type: "ext4", Source: "/dev/sdb1", Options: []string{"rw", "relatime"}}
	if d := cmp.Diff(want, mounts[3]); d != "" {
		t.Errorf("(−want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"ro", "relatime"}, mounts[4].Options); d != "" {
		t.Errorf("a read-only mount of a writable file system (−want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"rw", "noatime", "attr2", "noquota"}, mounts[2].Options); d != "" {
		t.Errorf("options of the file system (−want +got):\n%s", d)
	}
}

func TestMountOf(t *testing.T) {
	mounts := ParseMounts(mountText)
	tests := []struct{ path, number, point, kind string }{
		{"/", "", "/", "ext4"},
		{"/etc", "254:0", "/", "ext4"},
		{"/data", "8:1", "/data", "xfs"},
		{"/data/x", "8:1", "/data", "xfs"},
		{"/data2/x", "8:33", "/data2", "ext4"}, // not /data
		{"/data/with space/x", "8:17", "/data/with space", "ext4"},
		{"/data/with spaces", "8:1", "/data", "xfs"},
		{"/database", "", "/", "ext4"},                // not /data
		{"/btr/x", "0:77", "/btr", "btrfs"},           // btrfs: the directory has its own number
		{"/over/x", "", "/over", "overlay"},           // the last of two at one point
		{"/over/x", "8:49", "/over", "ext4"},          // the device decides
		{"/data/with space/x", "8:1", "/data", "xfs"}, // a mount hidden by a later one above it
	}
	for _, tt := range tests {
		m, ok := MountOf(mounts, tt.path, tt.number)
		if !ok || m.Point != tt.point || m.Type != tt.kind {
			t.Errorf("%s (%s): %s on %s, want %s on %s", tt.path, tt.number, m.Type, m.Point, tt.kind, tt.point)
		}
	}
	if _, ok := MountOf(nil, "/", ""); ok {
		t.Error("a mount was found in no mounts")
	}
}

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{
		`a\040b`: "a b", `\011\012\134`: "\t\n\\", `plain`: "plain", `\04`: `\04`, `\0409`: " 9", `\888`: `\888`,
		`\777`: `\777`, `\`: `\`, `\303\244`: "ä", `\\040`: `\ `,
	} {
		if got := unescape(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzParseMounts(f *testing.F) {
	f.Add(mountText, "/data/x", "8:1")
	f.Add(`1 2 3:4 / \040 - a`, " ", "")
	f.Fuzz(func(t *testing.T, text, path, number string) {
		mounts := ParseMounts(text)
		if len(mounts) > strings.Count(text, "\n")+1 {
			t.Errorf("%d mounts in %d lines", len(mounts), strings.Count(text, "\n")+1)
		}
		m, ok := MountOf(mounts, path, number)
		if ok && !strings.HasPrefix(path, m.Point) {
			t.Errorf("%q is not below %q", path, m.Point)
		}
	})
}
