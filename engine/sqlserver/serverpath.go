// This file joins and checks paths on a SQL Server's machine. It follows the rules of the server's operating system,
// and not of this machine's: on Linux, Go's filepath would take "D:\data" for one file name.

package sqlserver

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// serverOS is the operating system of a server.
type serverOS string

// Operating systems on which SQL Server runs.
const (
	windows serverOS = "Windows"
	linux   serverOS = "Linux"
)

// maxPath is the longest path of a database file, in UTF-16 units. FILENAME is an nvarchar(260) with its terminator
// (sys.master_files.physical_name).
const maxPath = 259

// serverDir is a checked directory on a server. It does not end with a separator, unless it is a root.
type serverDir struct {
	System serverOS
	path   string
}

var errRelative = errors.New(`it is no absolute path of the server: D:\data, \\server\share\data, or /data`)

// parseDir checks a directory, whose form shows the operating system.
func parseDir(path string) (serverDir, error) {
	if err := checkText(path); err != nil {
		return serverDir{}, fmt.Errorf("%q: %w", path, err)
	}
	var d serverDir
	var err error
	if strings.HasPrefix(path, "/") {
		d, err = parseLinux(path)
	} else {
		d, err = parseWindows(path)
	}
	if err == nil && utf16Units(d.path) > maxPath {
		err = fmt.Errorf("it has more than %d characters", maxPath)
	}
	if err != nil {
		return serverDir{}, fmt.Errorf("%q: %w", path, err)
	}
	return d, nil
}

// splitPath splits absolute paths at commas. A comma that no absolute path follows belongs to a name.
func splitPath(list string) (all []string, err error) {
	for part := range strings.SplitSeq(list, ",") {
		_, err := parseDir(part)
		switch {
		case err == nil:
			all = append(all, part)
		case len(all) == 0:
			return nil, err
		default:
			all[len(all)-1] += "," + part
			if _, err := parseDir(all[len(all)-1]); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

func checkText(path string) error {
	switch {
	case path == "":
		return errRelative
	case strings.ToValidUTF8(path, "") != path:
		return errors.New("it is no valid UTF-8")
	case strings.IndexFunc(path, unicode.IsControl) >= 0:
		return errors.New("it has a control character")
	}
	return nil
}

func parseLinux(path string) (serverDir, error) {
	parts, err := split(path, "/", func(string) error { return nil })
	if err != nil {
		return serverDir{}, err
	}
	return serverDir{linux, "/" + strings.Join(parts, "/")}, nil
}

// parseWindows accepts a drive with a path, or a share. SQL Server accepts UNC paths (from 2012 on). It accepts neither
// device paths nor paths relative to the drive's current directory ("D:data").
func parseWindows(path string) (serverDir, error) {
	path = strings.ReplaceAll(path, "/", `\`)
	switch {
	case strings.HasPrefix(path, `\\?\`), strings.HasPrefix(path, `\\.\`):
		return serverDir{}, errors.New("SQL Server takes no device path")
	case strings.HasPrefix(path, `\\`):
		parts, err := split(path[2:], `\`, checkWindows)
		if err != nil {
			return serverDir{}, err
		}
		if len(parts) < 2 {
			return serverDir{}, errors.New(`a network path names a server and a share: \\server\share`)
		}
		return serverDir{windows, `\\` + strings.Join(parts, `\`)}, nil
	case len(path) >= 3 && letter(path[0]) && path[1] == ':' && path[2] == '\\':
		parts, err := split(path[3:], `\`, checkWindows)
		if err != nil {
			return serverDir{}, err
		}
		return serverDir{windows, path[:3] + strings.Join(parts, `\`)}, nil
	}
	return serverDir{}, errRelative
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// split divides a path at its separators. Doubled separators count once.
func split(path, separator string, check func(string) error) ([]string, error) {
	var parts []string
	for part := range strings.SplitSeq(path, separator) {
		if part == "" {
			continue
		}
		if part == "." || part == ".." {
			return nil, errors.New("it has a part . or ..")
		}
		if err := check(part); err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// reserved lists device names, which are reserved with any extension (Microsoft, “Naming Files, Paths, and
// Namespaces”).
var reserved = map[string]bool{"CON": true, "PRN": true, "AUX": true, "NUL": true}

func checkWindows(part string) error {
	if strings.ContainsAny(part, `<>:"|?*`) {
		return fmt.Errorf(`%q has one of < > : " | ? *`, part)
	}
	if strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") {
		return fmt.Errorf("%q ends with a dot or a space", part)
	}
	stem, _, _ := strings.Cut(strings.ToUpper(part), ".")
	stem = strings.TrimRight(stem, " ")
	numbered := len(stem) == 4 && (stem[:3] == "COM" || stem[:3] == "LPT") && stem[3] >= '1' && stem[3] <= '9'
	if reserved[stem] || numbered {
		return fmt.Errorf("%q is the name of a device", part)
	}
	return nil
}

// String returns the directory in the form that the server accepts.
func (d serverDir) String() string { return d.path }

// Join returns the path of a file in the directory. The name is Filewise's own, so the only error is a path that is too
// long for the server.
func (d serverDir) Join(name string) (string, error) {
	separator := "/"
	if d.System == windows {
		separator = `\`
	}
	path := strings.TrimSuffix(d.path, separator) + separator + name
	if n := utf16Units(path); n > maxPath {
		return "", fmt.Errorf("%q has %d characters, SQL Server takes %d", path, n, maxPath)
	}
	return path, nil
}

// Same reports whether two paths name one file by the system's rules. Windows ignores letter case.
func (d serverDir) Same(a, b string) bool {
	if d.System == windows {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// Within reports whether the directory is a mount point or lies below it.
func (d serverDir) Within(mount string) bool {
	m, err := parseDir(mount)
	if err != nil || m.System != d.System {
		return false
	}
	separator := "/"
	if d.System == windows {
		separator = `\`
	}
	root := strings.TrimSuffix(m.path, separator) + separator
	path := strings.TrimSuffix(d.path, separator) + separator
	return len(path) >= len(root) && d.Same(path[:len(root)], root)
}

func utf16Units(s string) int { return len(utf16.Encode([]rune(s))) }
