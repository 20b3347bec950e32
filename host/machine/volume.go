package machine

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/internal/filesystem"
)

// volume adds the facts of a volume's file system and disks.
func (f *facts) volume(v filewise.Volume) {
	name := func(what string) string { return "volume " + v.Name + ": " + what }
	f.add(name("directory"), v.Dir)
	d, err := DeviceOf(v.Dir)
	if err != nil {
		return
	}
	f.add(name("file system"), d.Mount.Type)
	f.add(name("mount point"), d.Mount.Point)
	f.add(name("mount options"), strings.Join(publicOptions(d.Mount.Options), ","))
	if size, err := filesystem.Size(v.Dir); err == nil && size > 0 && !d.InMemory() {
		f.add(name("size"), humanize.IBytes(uint64(size)))
	}
	if free, err := Free(v.Dir); err == nil {
		f.add(name("free"), humanize.IBytes(uint64(free)))
	}
	switch {
	case d.Name != "":
		f.add(name("device"), d.String())
	case d.InMemory():
		f.add(name("device"), "none: in memory")
	default:
		f.add(name("device"), "not visible from here")
	}
	f.add(name("device identity"), host.identity(d))
	for _, disk := range d.Disks {
		f.add(name("disk "+disk), host.disk(disk))
	}
}

// identity distinguishes a device from others, even though the kernel's name for it changes from mount to mount. It is
// a hash, since reports are shown to others. It is empty if the device is unknown or in memory.
func (r roots) identity(d Device) string {
	var ids []string
	switch of := d.Mount; {
	case d.InMemory():
	case d.Name != "" && r.blockID(d.Name) != "":
		ids = []string{r.blockID(d.Name)}
	case d.Name != "":
		ids = filewise.Each(d.Disks, r.blockID)
	case of.Source != of.Type && of.Source != "none": // of a network file system, or a pool
		ids = []string{of.Source}
	}
	if len(ids) == 0 || slices.Contains(ids, "") {
		return ""
	}
	return fmt.Sprintf("%.4x", sha256.Sum256([]byte(strings.Join(ids, "\n"))))
}

// blockID returns a block device's own identification: by device mapper, RAID, NVMe, SCSI, virtio, MMC, or a loop
// device's file.
func (r roots) blockID(name string) string {
	for _, file := range []string{"dm/uuid", "md/uuid", "wwid", "device/wwid", "serial", "device/serial", "device/cid", "loop/backing_file"} {
		if id := r.sysText(filepath.Join("class/block", name, file)); id != "" {
			return file + " " + id
		}
	}
	return ""
}

// secretOptions lists mount options that name hosts, users or secrets, or the paths of a container's layers.
var secretOptions = []string{"addr", "clientaddr", "mountaddr", "ip", "user", "username", "user_id", "uid", "gid",
	"domain", "pass", "password", "credentials", "cred", "secret", "secretfile", "key", "mon_addr", "fsid", "name",
	"lowerdir", "lowerdir+", "upperdir", "workdir", "source", "srcaddr"}

func publicOptions(options []string) []string {
	return slices.DeleteFunc(slices.Clone(options), func(o string) bool {
		key, _, assigned := strings.Cut(o, "=")
		return assigned && slices.Contains(secretOptions, strings.ToLower(key))
	})
}

// disk describes a disk by what the kernel reports under /sys/class/block.
func (r roots) disk(name string) string {
	at := func(file string) string { return r.sysText(filepath.Join("class/block", name, file)) }
	var parts []string
	add := func(s string) {
		if s != "" {
			parts = append(parts, s)
		}
	}
	vendor := at("device/vendor")
	if strings.HasPrefix(vendor, "0x") { // the number of a virtual disk's bus, no name
		vendor = ""
	}
	add(strings.Join(strings.Fields(vendor+" "+at("device/model")), " "))
	if strings.HasPrefix(name, "vd") || strings.HasPrefix(name, "xvd") {
		add("virtual disk")
	}
	// The kernel counts sizes in sectors of 512 bytes, whatever the disk's own sector size is.
	if n, ok := parseInt(at("size")); ok && n > 0 {
		add(humanize.IBytes(uint64(n) * 512))
	}
	add(map[string]string{"0": "not rotational", "1": "reported as rotational"}[at("queue/rotational")])
	if s := at("queue/scheduler"); s != "" {
		add("scheduler " + current(s))
	}
	if s := at("queue/write_cache"); s != "" {
		add("write cache: " + s)
	}
	if s := at("queue/physical_block_size"); s != "" {
		add("blocks of " + s + " bytes")
	}
	return strings.Join(parts, ", ")
}

// current returns the chosen item of a list such as "mq-deadline [none]".
func current(list string) string {
	if _, rest, ok := strings.Cut(list, "["); ok {
		if s, _, ok := strings.Cut(rest, "]"); ok {
			return s
		}
	}
	return list
}

// sysText returns the text of a file under /sys, or an empty text if there is no such file.
func (r roots) sysText(file string) string {
	b, err := os.ReadFile(filepath.Join(r.sys, file))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func parseInt(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// countList returns the number of members of a kernel list such as "0-3,8". It returns 0 if the text is no list.
func countList(s string) int64 {
	var n int64
	for part := range strings.SplitSeq(s, ",") {
		from, to, isRange := strings.Cut(part, "-")
		a, ok := parseInt(from)
		b, okTo := a, true
		if isRange {
			b, okTo = parseInt(to)
		}
		if !ok || !okTo || a < 0 || b < a || b >= 1<<32 {
			return 0
		}
		n += b - a + 1
	}
	return n
}

// Mount holds one line of /proc/self/mountinfo.
type Mount struct {
	Number  string // of the file system: "8:1"
	Point   string
	Type    string
	Source  string   // "/dev/sda1"
	Options []string // options of the mount and of the file system
}

// ParseMounts parses the text of /proc/self/mountinfo (man 5 proc_pid_mountinfo). It skips lines that are not as
// documented.
func ParseMounts(text string) []Mount {
	var mounts []Mount
	for line := range strings.Lines(text) {
		// 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
		left, right, ok := strings.Cut(strings.TrimRight(line, "\n"), " - ")
		mount, fs := strings.Fields(left), strings.Fields(right)
		if !ok || len(mount) < 6 || len(fs) < 1 {
			continue
		}
		m := Mount{Number: mount[2], Point: unescape(mount[4]), Type: unescape(fs[0]), Options: splitOptions(mount[5])}
		if len(fs) > 1 {
			m.Source = unescape(fs[1])
		}
		if len(fs) > 2 {
			m.Options = mergeOptions(m.Options, splitOptions(fs[2]))
		}
		mounts = append(mounts, m)
	}
	return mounts
}

// MountOf returns the mount that a path lies on: the longest one at or above the path and, among equal ones, the last
// mounted. Mounts of the path's actual device (number, "" if unknown) go first, since a later mount above can hide a
// mount.
func MountOf(mounts []Mount, path, number string) (Mount, bool) {
	var best Mount
	found, bestOnDevice := false, false
	for _, m := range mounts {
		if !below(path, m.Point) {
			continue
		}
		onDevice := number != "" && m.Number == number
		longer := len(m.Point) >= len(best.Point)
		if !found || onDevice && !bestOnDevice || onDevice == bestOnDevice && longer {
			best, found, bestOnDevice = m, true, onDevice
		}
	}
	return best, found
}

func below(path, point string) bool {
	rest, ok := strings.CutPrefix(path, point)
	return ok && point != "" && (rest == "" || strings.HasSuffix(point, "/") || rest[0] == '/')
}

// unescape resolves the octal escapes (\040 for a space) of mount tables.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) && s[i+1] <= '3' && octal(s[i+1]) && octal(s[i+2]) && octal(s[i+3]) {
			b.WriteByte((s[i+1]-'0')<<6 | (s[i+2]-'0')<<3 | (s[i+3] - '0'))
			i += 3
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func octal(c byte) bool { return c >= '0' && c <= '7' }

func splitOptions(s string) []string {
	var out []string
	for o := range strings.SplitSeq(s, ",") {
		if o != "" {
			out = append(out, unescape(o))
		}
	}
	return out
}

// mergeOptions adds the file system's options to the mount's.
func mergeOptions(mount, fs []string) []string {
	has := make(map[string]bool, len(mount))
	for _, o := range mount {
		has[o] = true
	}
	readOnly := has["ro"]
	for _, o := range fs {
		if !has[o] && !(o == "rw" && readOnly) {
			mount = append(mount, o)
		}
	}
	return mount
}
