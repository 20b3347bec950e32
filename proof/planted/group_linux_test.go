package planted

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Both versions of cgroups are found, and give the same.
func TestPlaces(t *testing.T) {
	root := t.TempDir()
	for file, text := range map[string]string{"two/cgroup.controllers": "cpu io memory\n", "two/cgroup.subtree_control": "cpu\n",
		"two/user.slice/x": "", "one/jobs/filewise-planted/x": "", "none/cgroup.controllers": "hugetlb\n"} {
		path := filepath.Join(root, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(root, name) }
	one := mount{dir: at("one"), kind: "cgroup", options: []string{"rw", "blkio"}}
	two, none := mount{dir: at("two"), kind: "cgroup2"}, mount{dir: at("none"), kind: "cgroup2"}
	for name, x := range map[string]struct {
		mounts []mount
		own    string
		want   place
	}{
		"version 1":            {[]mount{two, one}, "7:cpu,blkio:/jobs/filewise-planted\n0::/\n", place{at("one/jobs"), at("one/jobs"), false}},
		"version 2":            {[]mount{none, two}, "0::/user.slice\n", place{at("two/user.slice"), at("two"), true}},
		"version 2, container": {[]mount{two}, "0::/../elsewhere\n", place{at("two"), at("two"), true}},
	} {
		if got, err := placeAmong(x.mounts, x.own); err != nil || got != x.want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, x.want)
		}
	}
	if p, err := placeAmong([]mount{none}, "0::/\n"); err == nil {
		t.Errorf("found without a controller: %+v", p)
	}
	p := place{parent: at("two"), unified: true}
	if err := p.enable(); err != nil {
		t.Fatal(err)
	}
	if has, err := lists(at("two/cgroup.subtree_control"), "+io"); !has || err != nil {
		t.Errorf("the controller is not enabled: %v", err)
	}
	if got := p.limits("7:1", Speed{Bytes: 1 << 20, Reads: true})["io.max"]; got != "7:1 rbps=1048576 riops=max wbps=1048576 wiops=max" {
		t.Errorf("io.max %q", got)
	}
	if got := (place{}).limits("7:1", Speed{Requests: 50}); got["blkio.throttle.write_bps_device"] != "7:1 0" ||
		got["blkio.throttle.read_iops_device"] != "7:1 0" ||
		got["blkio.throttle.write_iops_device"] != "7:1 50" {
		t.Errorf("blkio %q", got)
	}
}
