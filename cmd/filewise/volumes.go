package main

import (
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"filewise"
)

// oneEach refuses volumes that are one place: between them nothing would differ
// but the name.
func oneEach(t filewise.Target) error {
	names := make(map[string]string)
	for _, v := range t.Volumes {
		place := placeOf(v.Dir, t.Mode == filewise.External)
		if other, taken := names[place]; taken {
			return badValue("volume", strconv.Quote(v.Name+"="+v.Dir), "it is the same place as volume "+other+": name another, or leave one of them out")
		}
		names[place] = v.Name
	}
	return nil
}

// windowsPath begins with a drive or a share; case tells nothing there.
var windowsPath = regexp.MustCompile(`^(?:[A-Za-z]:[\\/]|\\\\)`)

// placeOf is a volume's directory in one spelling: of this machine with links
// followed, of a server as its own system reads it.
func placeOf(dir string, external bool) string {
	switch {
	case !external:
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return real
		}
		return filepath.Clean(dir)
	case windowsPath.MatchString(dir):
		return strings.ToLower(path.Clean(strings.ReplaceAll(dir, `\`, "/")))
	case strings.HasPrefix(dir, "/"):
		return path.Clean(dir)
	}
	return dir // the server's own place, or a name of its
}
