package dialect

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filewise"
	"filewise/internal/marker"
)

func TestDataFiles(t *testing.T) {
	files := []DataFile{{Path: "/v1/a b", Bytes: 3 * MiB}, {Path: "/v2/c#", Bytes: 1024 * MiB, Grows: true}}
	spec, err := FormatDataFiles(files)
	if want := "/v1/a b:3M;/v2/c#:1024M:autoextend"; err != nil || spec != want {
		t.Fatalf("%q, want %q: %v", spec, want, err)
	}
	back, err := ParseDataFiles(spec, "/home")
	if diff := cmp.Diff(files, back); diff != "" || err != nil {
		t.Error(diff, err)
	}
	back, err = ParseDataFiles("ibdata1:12M:autoextend:max:500M;x:2g;y:65536K;z:7", "/home")
	want := []DataFile{{"/home/ibdata1", 12 * MiB, true}, {"/home/x", 2048 * MiB, false}, {"/home/y", 64 * MiB, false}, {"/home/z", 7, false}}
	if diff := cmp.Diff(want, back); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, spec := range []string{"", "a", "a:", "a:x", "a:-1M", "a:1M;", "a:99999999999999999999G", "a:9223372036854775807G"} {
		if files, err := ParseDataFiles(spec, "/"); err == nil {
			t.Errorf("%q is %v", spec, files)
		}
	}
	many := func(n int, name string) []DataFile {
		all := make([]DataFile, n)
		for i := range all {
			all[i] = DataFile{Path: name, Bytes: MiB}
		}
		return all
	}
	for name, bad := range map[string][]DataFile{
		"none": nil, "1,000": many(1000, "/x"), "colon": many(1, "/a:b"), "semicolon": many(1, "/a;b"),
		"newline": many(1, "/a\nb"), "paths too long": many(999, "/"+strings.Repeat("x", 150)),
		"half a MiB": {{Path: "/x", Bytes: MiB / 2}}, "a growing one before the last": {{Path: "/x", Bytes: MiB, Grows: true},
			{Path: "/y", Bytes: MiB}},
	} {
		if _, err := FormatDataFiles(bad); !errors.Is(err, filewise.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := FormatDataFiles(many(MaxSystemFiles, "/x")); err != nil {
		t.Error(err)
	}
}

func TestReserved(t *testing.T) {
	for _, name := range []string{"datadir", "data-dir", "DATADIR", "datadi", "loose_datadir", "loose-data", "socket", "port", "bind-address",
		"bind_addr",
		"skip-networking", "skip_networking", "networking", "disable-skip-networking", "user", "pid_file", "init_file", "tmpdir", "plugin_dir",
		"plugin-load-add",
		"log_error", "general_log", "log-bin", "innodb_data_file_path", "innodb-data-file", "innodb_file_per_table",
		"innodb_flush_log_at_trx_commit",
		"innodb_log_group_home_dir", "skip-grant-tables", "secure_file_priv", "innodb_undo_directory", "defaults-file",
		"innodb_buffer_pool_load_at_startup", "chroot", "basedir"} {
		err := CheckSettings(map[string]string{name: "x"})
		refused := err != nil && filewise.CodeOf(err) == filewise.CodeUsage && strings.Contains(err.Error(), name)
		if want := name != "data-dir"; refused != want { // no option of that name exists
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"innodb_buffer_pool_size", "innodb-flush-method", "innodb_io_capacity", "innodb_doublewrite",
		"skip-innodb-doublewrite",
		"innodb_log_file_size", "innodb_page_size", "innodb_undo_tablespaces", "performance_schema", "thread_handling", "max_connections",
		"innodb_use_native_aio"} {
		if err := CheckSettings(map[string]string{name: "1"}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, value := range map[string]string{"": "1", "a b": "1", "a=b": "1", "[mysqld]": "1", "x\ny": "1",
		"innodb_io_capacity": "1\n[mysqld]\ndatadir=/", "sort_buffer_size": "1\x00"} {
		if err := CheckSettings(map[string]string{name: value}); filewise.CodeOf(err) != filewise.CodeUsage {
			t.Errorf("%q=%q: %v", name, value, err)
		}
	}
}

// A tablespace made by hand: two files of 2 MiB with pages of 16 KiB; of its
// first three extents the first is full, of the second five pages are in use.
func TestReadUse(t *testing.T) {
	const pageSize = 16 << 10
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "1"), filepath.Join(dir, "2")}
	page := make([]byte, pageSize)
	binary.BigEndian.PutUint32(page[46:], 256)
	binary.BigEndian.PutUint32(page[50:], 192)
	for extent, inUse := range []int{64, 5, 64} {
		bitmap := page[150+extent*40+24:][:16]
		for i := inUse; i < 64; i++ {
			bitmap[i/4] |= 1 << (i % 4 * 2)
		}
	}
	if err := os.WriteFile(paths[0], append(page, make([]byte, 2*MiB-pageSize)...), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(paths[1], make([]byte, 2*MiB), 0o600); err != nil {
		t.Fatal(err)
	}
	use, err := ReadUse(paths, pageSize)
	want := Use{Used: []int64{69 * pageSize, 64 * pageSize}, Size: 4 * MiB}
	if diff := cmp.Diff(want, use); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for name, bad := range map[string]func() (Use, error){
		"page size": func() (Use, error) { return ReadUse(paths, 5000) },
		"no file":   func() (Use, error) { return ReadUse([]string{filepath.Join(dir, "3")}, pageSize) },
		"cut short": func() (Use, error) {
			if err := os.Truncate(paths[0], 100); err != nil {
				t.Fatal(err)
			}
			return ReadUse(paths[:1], pageSize)
		},
	} {
		if use, err := bad(); err == nil {
			t.Errorf("%s: %v", name, use)
		}
	}
}

// Whatever a damaged header page holds: an error or a figure, never a panic.
func FuzzReadUse(f *testing.F) {
	f.Add([]byte("x"), uint32(1), uint32(1))
	f.Add(make([]byte, 4096), uint32(1<<31), uint32(1<<32-1))
	f.Fuzz(func(t *testing.T, text []byte, size, limit uint32) {
		path := filepath.Join(t.TempDir(), "f")
		page := make([]byte, 4096)
		copy(page, text)
		binary.BigEndian.PutUint32(page[46:], size)
		binary.BigEndian.PutUint32(page[50:], limit)
		if err := os.WriteFile(path, page, 0o600); err != nil {
			t.Fatal(err)
		}
		if use, err := ReadUse([]string{path}, 4096); err == nil && (len(use.Used) != 1 || use.Used[0] < 0) {
			t.Errorf("%+v", use)
		}
	})
}

func TestRows(t *testing.T) {
	small := Rows{PageSize: 16 << 10, Payload: 200, Keys: Ascending}
	random := small
	random.Keys = Random
	large := Rows{PageSize: 16 << 10, Payload: 20000, Keys: Ascending}
	for name, ok := range map[string]bool{
		"ascending keys take more than the row and less than half as much again": small.BytesPerRow() > 228 && small.BytesPerRow() < 1.5*228,
		"random keys take more":         random.BytesPerRow() > 1.2*small.BytesPerRow(),
		"a large row has its own pages": large.BytesPerRow() > 2*16<<10 && large.BytesPerRow() < 2.1*(16<<10),
		"no room, no rows":              small.Whole(-1) == 0 && small.Whole(0) == 0,
		"rows are whole":                small.Whole(1e6) == int64(1e6/small.BytesPerRow()),
		"room is never negative":        Capacity(0, 3*MiB, 2000) == 0,
		"room grows with the tablespace": Capacity(64*MiB, 3*MiB, 1) > Capacity(32*MiB, 3*MiB, 1) &&
			Capacity(64*MiB, 3*MiB, 1) > Capacity(64*MiB, 3*MiB, 16),
	} {
		if !ok {
			t.Error(name)
		}
	}
}

// What carries the sum of its definition is Filewise's; a copy, and what was changed, is not.
func TestSigned(t *testing.T) {
	s := ordersSchema(t, false)
	s.Signed = true
	all, err := s.Create()
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range all {
		if !strings.Contains(statement, "COMMENT") {
			t.Errorf("unsigned: %s", statement)
		}
	}
	at := slices.IndexFunc(all, func(s string) bool {
		return strings.Contains(s, "fw_new_order` (") || strings.Contains(s, "fw_new_order (")
	})
	columns := []string{"no_w_id int", "no_d_id tinyint", "no_o_id int", "primary key (no_w_id, no_d_id, no_o_id)"}
	comment := regexp.MustCompile("Filewise 2: [a-z2-7]+").FindString(all[at])
	other := slices.Concat(columns[:2], []string{"no_o_id int null"}, columns[3:])
	before := signature1 + marker.Sum("table", s.Database, "fw_new_order", "no_w_id", "no_d_id", "no_o_id") // of 0.8
	for _, c := range []struct {
		Thing
		own bool
	}{
		{Thing{"table", "fw_new_order", comment, columns, ""}, true},
		{Thing{"table", "FW_NEW_ORDER", comment, columns, ""}, true},
		{Thing{"table", "fw_new_order", before, other, ""}, true},
		{Thing{"table", "fw_new_order2", comment, columns, ""}, false},
		{Thing{"table", "fw_new_order", comment, append(columns[:3:3], "mine", columns[3]), ""}, false},
		{Thing{"table", "fw_new_order", comment, other, ""}, false},
		{Thing{"table", "fw_new_order", comment, columns[:3], ""}, false},
		{Thing{"table", "fw_new_order", before, append(columns, "mine"), ""}, false},
		{Thing{"table", "fw_new_order", "", columns, ""}, false},
		{Thing{"view", "fw_new_order", comment, columns, ""}, false},
	} {
		if c.Own(s.Database) != c.own || c.Own("filewise_another") {
			t.Errorf("%+v", c)
		}
	}
}
