//go:build unix

package filesystem

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
)

// OthersMayRename returns the first directory of a path in which a user other than root and this one may replace an
// entry, and that user. Both are empty if there is none. The path must be absolute and free of links.
func OthersMayRename(path string) (dir, who string, err error) {
	for dir = path; ; dir = filepath.Dir(dir) {
		info, err := os.Lstat(dir)
		if err != nil {
			return "", "", err
		}
		const others = 0o022
		switch {
		case !info.IsDir():
			return "", "", fmt.Errorf("%s is no directory", dir)
		case !trusted(info):
			uid, _, _ := Owner(info)
			return dir, "user " + nameOf(uid), nil
		case info.Mode()&fs.ModeSticky == 0 && info.Mode().Perm()&0o002 != 0:
			return dir, "every user", nil
		case info.Mode()&fs.ModeSticky == 0 && info.Mode().Perm()&others != 0:
			_, gid, _ := Owner(info)
			return dir, "group " + groupOf(gid), nil
		}
		if dir == filepath.Dir(dir) {
			return "", "", nil
		}
	}
}

func nameOf(uid uint32) string {
	id := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return id
}

func groupOf(gid uint32) string {
	id := strconv.FormatUint(uint64(gid), 10)
	if g, err := user.LookupGroupId(id); err == nil {
		return g.Name
	}
	return id
}
