package run

import (
	"slices"
	"strings"
	"testing"

	"filewise"
)

// What must be the same in a run is compared; what may change, or an older Filewise did not store, is not.
func TestChanges(t *testing.T) {
	before := []filewise.Fact{{Name: "cores", Value: "2 logical"}, {Name: "kernel", Value: "6.1"}, {Name: "volume data: device", Value: "sdb"},
		{Name: "volume data: file system", Value: "ext4"}, {Name: "volume data: free", Value: "1 GiB"}, {Name: "client: memory", Value: "8 GiB"}}
	after := []filewise.Fact{{Name: "cores", Value: "4 logical"}, {Name: "kernel", Value: "6.2"}, {Name: "volume data: device", Value: "sda"},
		{Name: "volume data: file system", Value: "ext4"}, {Name: "volume data: free", Value: "2 GiB"}, {Name: "client: memory", Value: "4 GiB"}}
	got := changes(before, after, sameHere)
	want := []string{"cores was 2 logical, and is 4 logical", "volume data: device was sdb, and is sda",
		"client: memory was 8 GiB, and is 4 GiB"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	server := func(version, buffers, dir string) []filewise.Fact {
		return []filewise.Fact{{Name: "version", Value: version}, {Name: "shared_buffers", Value: buffers}, {Name: "data_directory", Value: dir},
			{Name: "durability full", Value: version}}
	}
	if got := strings.Join(changes(server("17.1", "1 MB", "/a"), server("17.2", "2 MB", "/b"), sameThere), "; "); got !=
		"version was 17.1, and is 17.2; shared_buffers was 1 MB, and is 2 MB" {
		t.Errorf("%q", got)
	}
}
