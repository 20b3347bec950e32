package machine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"filewise"
)

// fakeSys is a /sys of an LVM volume on an encrypted partition and a whole disk,
// and of plain disks with partitions, laid out as the kernel does it.
func fakeSys(t *testing.T) roots {
	t.Helper()
	root := t.TempDir()
	mkdir := func(path string) {
		if err := os.MkdirAll(filepath.Join(root, path), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	file := func(path, text string) {
		mkdir(filepath.Dir(path))
		if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	device := func(path, number string) {
		mkdir(path)
		for _, link := range []string{"dev/block/" + number, "class/block/" + filepath.Base(path)} {
			mkdir(filepath.Dir(link))
			if err := os.Symlink(filepath.Join(root, path), filepath.Join(root, link)); err != nil {
				t.Fatal(err)
			}
		}
	}
	device("devices/pci0/block/sda", "8:0")
	device("devices/pci0/block/sda/sda1", "8:1")
	file("devices/pci0/block/sda/sda1/partition", "1\n")
	device("devices/pci0/block/sda/sda2", "8:2")
	file("devices/pci0/block/sda/sda2/partition", "2\n")
	device("devices/pci0/block/sdb", "8:16")
	device("devices/virtual/block/dm-0", "253:0") // encryption on sda2
	mkdir("devices/virtual/block/dm-0/slaves/sda2")
	device("devices/virtual/block/dm-1", "253:1") // logical volume on dm-0 and sdb
	mkdir("devices/virtual/block/dm-1/slaves/dm-0")
	mkdir("devices/virtual/block/dm-1/slaves/sdb")
	device("devices/virtual/block/dm-9", "253:9") // a loop that must not hang
	mkdir("devices/virtual/block/dm-9/slaves/dm-9")
	file("devices/pci0/block/sda/device/vendor", "ATA     \n")
	file("devices/pci0/block/sda/device/model", "Samsung SSD 860 \n")
	device("devices/pci0/virtio1/block/vda", "254:0")
	file("devices/pci0/virtio1/block/vda/device/vendor", "0x1af4\n")
	file("devices/pci0/virtio1/block/vda/queue/rotational", "1\n")
	file("devices/pci0/block/sda/size", "2097152\n")
	file("devices/pci0/block/sda/queue/rotational", "0\n")
	file("devices/pci0/block/sda/queue/scheduler", "none [mq-deadline] kyber\n")
	file("devices/pci0/block/sda/queue/write_cache", "write back\n")
	return roots{sys: root, mountinfo: filepath.Join(root, "mountinfo")}
}

func TestBlockDevices(t *testing.T) {
	r := fakeSys(t)
	tests := []struct {
		number, name string
		disks        []string
	}{
		{"8:0", "sda", []string{"sda"}},
		{"8:1", "sda", []string{"sda"}},
		{"8:16", "sdb", []string{"sdb"}},
		{"253:0", "dm-0", []string{"sda"}},
		{"253:1", "dm-1", []string{"sda", "sdb"}},
		{"253:9", "dm-9", []string{"dm-9"}},
		{"0:45", "", nil},
		{"../../etc", "", nil},
	}
	for _, tt := range tests {
		name := r.blockDevice(tt.number, "overlay")
		if name != tt.name {
			t.Errorf("%s: device %q, want %q", tt.number, name, tt.name)
		}
		if name == "" {
			continue
		}
		if d := cmp.Diff(tt.disks, r.disks(name)); d != "" {
			t.Errorf("%s: disks (−want +got):\n%s", tt.number, d)
		}
	}
	if got, want := r.disk("sda"), "ATA Samsung SSD 860, 1.0 GiB, not rotational, scheduler mq-deadline, write cache: write "+
		"back"; got != want {
		t.Errorf("disk: %q, want %q", got, want)
	}
	if got, want := r.disk("vda"), "virtual disk, reported as rotational"; got != want {
		t.Errorf("disk: %q, want %q", got, want)
	}
	if got := r.disk("sdb"); got != "" {
		t.Errorf("a disk of which nothing is known: %q", got)
	}
}

// A device is the same under another name, and another one of the same name is not.
func TestIdentity(t *testing.T) {
	r := fakeSys(t)
	put := func(name, file, text string) {
		path := filepath.Join(r.sys, "class/block", name, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	put("loop0", "loop/backing_file", "/a\n")
	put("loop1", "loop/backing_file", "/a\n")
	put("loop2", "loop/backing_file", "/b\n")
	at := func(name string, disks ...string) string { return r.identity(Device{Name: name, Disks: disks}) }
	if a := at("loop0"); len(a) != 8 || a != at("loop1") || a == at("loop2") || a != at("md7", "loop1") {
		t.Errorf("%q %q %q %q", a, at("loop1"), at("loop2"), at("md7", "loop1"))
	}
	nfs := func(source string) string { return r.identity(Device{Mount: Mount{Type: "nfs4", Source: source}}) }
	if nfs("h:/a") == nfs("h:/b") {
		t.Error("two exports are one")
	}
	for _, d := range []Device{{Name: "sdb", Disks: []string{"sdb"}}, {Name: "dm-9", Disks: []string{"loop0", "sdb"}},
		{Mount: Mount{Type: "tmpfs", Source: "mine"}}, {Mount: Mount{Type: "overlay", Source: "overlay"}}} {
		if got := r.identity(d); got != "" {
			t.Errorf("%+v: %q", d, got)
		}
	}
}

func TestSame(t *testing.T) {
	sda1 := Device{Name: "sda", Disks: []string{"sda"}, number: "8:1"}
	sda2 := Device{Name: "sda", Disks: []string{"sda"}, number: "8:2"}
	sdb := Device{Name: "sdb", Disks: []string{"sdb"}, number: "8:16"}
	lvm := Device{Name: "dm-1", Disks: []string{"sda", "sdb"}, number: "253:1"}
	overlay := Device{number: "0:45"}
	other := Device{number: "0:46"}
	for _, tt := range []struct {
		a, b Device
		want bool
	}{
		{sda1, sda1, true}, {sda1, sda2, true}, {sda1, sdb, false}, {lvm, sdb, true}, {lvm, sda2, true},
		{overlay, overlay, true}, {overlay, other, false}, {overlay, sda1, false},
	} {
		if tt.a.Same(tt.b) != tt.want || tt.b.Same(tt.a) != tt.want {
			t.Errorf("%v and %v: one device %v, want %v", tt.a, tt.b, !tt.want, tt.want)
		}
	}
}

// On the real machine: the device of a directory is its file system's, and tmpfs is recognized as memory.
func TestDeviceOfRealDirectories(t *testing.T) {
	dir := t.TempDir()
	d, err := DeviceOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		t.Fatal(err)
	}
	if d.number != deviceNumber(uint64(st.Dev)) || d.Mount.Type == "" {
		t.Errorf("device %+v", d)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("/proc", link); err != nil {
		t.Fatal(err)
	}
	if d, err := DeviceOf(link); err != nil || d.Mount.Type != "proc" || d.Name != "" {
		t.Errorf("through a link to /proc: %+v, %v", d, err)
	}
	const shm = "/dev/shm"
	var fs unix.Statfs_t
	if unix.Statfs(shm, &fs) != nil || fs.Type != unix.TMPFS_MAGIC {
		t.Skip("this machine has no tmpfs at /dev/shm")
	}
	if d, err := DeviceOf(shm); err != nil || !d.InMemory() {
		t.Errorf("%s in memory: %+v, %v", shm, d, err)
	}
}

func TestFree(t *testing.T) {
	free, err := Free(t.TempDir())
	if err != nil || free <= 0 {
		t.Errorf("%d bytes free, %v", free, err)
	}
}

func TestNoSuchDirectory(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	_, errFree := Free(missing)
	_, errDevice := DeviceOf(missing)
	for _, err := range []error{errFree, errDevice} {
		if !errors.Is(err, fs.ErrNotExist) || filewise.CodeOf(err) != filewise.CodePreflight || filewise.RemedyOf(err) == "" {
			t.Errorf("error %v", err)
		}
	}
}

func TestWarnings(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for _, d := range []string{a, b} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	codes := func(vs ...filewise.Volume) (out []string) {
		for _, w := range Warnings(vs) {
			if w.Message == "" || w.Remedy == "" {
				t.Errorf("warning %+v", w)
			}
			out = append(out, w.Code)
		}
		return out
	}
	one, two := filewise.Volume{Name: "a", Dir: a}, filewise.Volume{Name: "b", Dir: b}
	if d, err := DeviceOf(dir); err != nil || d.InMemory() {
		t.Skipf("temporary files lie in memory here (%v)", err)
	}
	if got := codes(one); len(got) > 0 {
		t.Errorf("one volume: %v", got)
	}
	if got := codes(one, two); len(got) != 1 || got[0] != WarnOneDevice {
		t.Errorf("two directories of one file system: %v", got)
	}
	if got := codes(one, filewise.Volume{Name: "gone", Dir: filepath.Join(dir, "gone")}); len(got) > 0 {
		t.Errorf("a missing volume: %v", got)
	}
	if d, _ := DeviceOf("/dev/shm"); d.InMemory() {
		if got := codes(filewise.Volume{Name: "m", Dir: "/dev/shm"}, filewise.Volume{Name: "n", Dir: "/dev/shm"}); len(got) != 2 ||
			got[0] != WarnInMemory {
			t.Errorf("two volumes in memory: %v", got)
		}
	}
}
