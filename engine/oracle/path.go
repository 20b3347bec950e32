package oracle

import (
	"fmt"
	"regexp"
	"strings"

	"filewise"
)

// placeKind describes how a volume names a place on the server.
type placeKind int

const (
	placeOMF     placeKind = iota // db_create_file_dest: the server names the file
	placeASM                      // a disk group: the server names the file
	placeUnix                     // a directory of the server's
	placeWindows                  // a directory of the server's
)

// place is a volume as the server sees it.
type place struct {
	kind placeKind
	dir  string
}

var (
	diskGroup   = regexp.MustCompile(`^\+[A-Za-z][A-Za-z0-9_$#]{0,29}$`)
	windowsRoot = regexp.MustCompile(`^([A-Za-z]:[\\/]|\\\\[^\\/]+[\\/][^\\/]+)`)
)

// placeOf understands a volume's directory by the rules of the *server's*
// operating system, whatever Filewise runs on. Errors have CodeUsage.
func placeOf(v filewise.Volume) (place, error) {
	dir := v.Dir
	wrong := func(why string) (place, error) {
		return place{}, filewise.Errorf(filewise.CodeUsage, "give a directory of the server (/u02/oradata, D:\\oradata), a disk group "+
			"(+DATA), or none for the server's default place",
			"volume %s: %q %s", v.Name, dir, why)
	}
	switch {
	case dir == "":
		return place{kind: placeOMF}, nil
	case strings.ContainsFunc(dir, control):
		return wrong("holds a control character")
	case strings.HasPrefix(dir, "+"):
		if !diskGroup.MatchString(dir) {
			return wrong("is not a disk group; within one the server names the files")
		}
		return place{placeASM, strings.ToUpper(dir)}, nil
	case strings.ContainsAny(dir, "?@"):
		return wrong("holds ? or @, which Oracle replaces by its home and its SID")
	case windowsRoot.MatchString(dir):
		return place{placeWindows, strings.ReplaceAll(dir, "/", `\`)}, nil
	case strings.HasPrefix(dir, "/"):
		return place{placeUnix, dir}, nil
	}
	return wrong("is no absolute path")
}

// file returns the path of a file in the place. Empty means the server names it.
func (p place) file(name string) string {
	switch p.kind {
	case placeUnix:
		return strings.TrimRight(p.dir, "/") + "/" + name
	case placeWindows:
		return strings.TrimRight(p.dir, `\`) + `\` + name
	}
	return ""
}

// shown returns what a plan shows of a file that the server will name.
func (p place) shown(tablespace string, i int) string {
	in := p.dir
	if p.kind == placeOMF {
		in = "db_create_file_dest"
	}
	return fmt.Sprintf("%s: file %d of %s, named by the server", in, i+1, tablespace)
}

// holds reports whether a file's path by the server's account lies in the place.
// Windows paths ignore case; a file in the default place can be anywhere.
func (p place) holds(path string) bool {
	switch p.kind {
	case placeASM:
		return strings.HasPrefix(strings.ToUpper(path), p.dir+"/")
	case placeUnix:
		return strings.HasPrefix(path, strings.TrimRight(p.dir, "/")+"/")
	case placeWindows:
		return strings.HasPrefix(strings.ToUpper(path), strings.ToUpper(strings.TrimRight(p.dir, `\`))+`\`)
	}
	return path != ""
}

// same compares a path that was requested with one that the server reports.
func (p place) same(asked, told string) bool {
	if p.kind == placeWindows {
		return strings.EqualFold(asked, told)
	}
	return asked == told
}

// homeOf returns the directory of a file, or its disk group.
func homeOf(path string) string {
	if strings.HasPrefix(path, "+") {
		group, _, _ := strings.Cut(path, "/")
		return group
	}
	return path[:max(strings.LastIndexAny(path, `/\`), 0)]
}
