package run

import (
	"strings"
	"testing"

	"filewise"
	"filewise/results/store"
)

// What must be the same in a run is compared; what may change, or an older Filewise did not store, is not.
func TestChanges(t *testing.T) {
	facts := func(pairs ...string) (out []filewise.Fact) {
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, filewise.Fact{Name: pairs[i], Value: pairs[i+1]})
		}
		return out
	}
	before := store.Run{Machine: facts("cores", "2 logical", "kernel", "6.1", "volume data: device", "sdb", "volume data: mount point", "/a",
		"volume data: file system", "ext4", "volume data: free", "1 GiB", "volume data: size", "100 GiB", "volume log: size", "100 GiB",
		"volume data: mount options", "rw,size=1g", "client: memory", "8 GiB", "volume log: device", "loop0", "volume log: device identity", "a",
		"volume temp: device", "sdc", "volume temp: device identity", "b"),
		Server: facts("version", "17.1", "shared_buffers", "1 MB", "data_directory", "/a", "durability full", "x", "port", "1",
			"database", "shop, 1 MiB", "max server memory (MB)", "1024")}
	now := store.Run{Machine: facts("cores", "4 logical", "kernel", "6.2", "volume data: device", "sda", "volume data: mount point", "/",
		"volume data: file system", "ext4", "volume data: free", "2 GiB", "volume data: size", "199 GiB", "volume log: size", "200 GiB",
		"volume data: mount options", "rw,size=2g", "client: memory", "4 GiB", "volume log: device", "loop1", "volume log: device identity", "a",
		"volume temp: device", "sdc", "volume temp: device identity", "c"),
		Server: facts("version", "17.2", "shared_buffers", "2 MB", "data_directory", "/b", "durability full", "y", "port", "2",
			"database", "shop, 9 MiB", "max server memory (MB)", "2048")}
	want := "cores was 2 logical, and is 4 logical; volume data: device was sdb, and is sda; volume log: size was 100 GiB, and is 200 GiB; " +
		"client: memory was 8 GiB, and is 4 GiB; server: version was 17.1, and is 17.2; server: shared_buffers was 1 MB, and is 2 MB; " +
		"server: max server memory (MB) was 1024, and is 2048; volume data: mount point was /a, and is /; " +
		"volume temp: device identity was b, and is c"
	if got := strings.Join(changes(before, now), "; "); got != want {
		t.Errorf("%q", got)
	}
	if got := changes(before, before); got != nil {
		t.Errorf("the same: %q", got)
	}
	if got := changes(before, store.Run{}); got != nil {
		t.Errorf("nothing is known: %q", got)
	}
}
