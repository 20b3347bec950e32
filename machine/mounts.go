package machine

import (
	"strings"
)

// Mount is one line of /proc/self/mountinfo.
type Mount struct {
	Number  string // "8:1", of the file system
	Point   string
	Type    string
	Source  string   // "/dev/sda1"
	Options []string // of the mount and of the file system
}

// ParseMounts reads the text of /proc/self/mountinfo (man 5 proc_pid_mountinfo).
// Lines that are not as documented are left out.
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

// MountOf is the mount that a path lies on: of those whose mount point is the
// path or above it, the longest, and of equal ones the last mounted. Mounts of
// the device that the path really is on (number, "" if unknown) come first,
// because a mount can be hidden by a later one above it.
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

// mergeOptions appends what the file system adds to the mount's options.
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
