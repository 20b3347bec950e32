package dialect

import (
	"fmt"
	"regexp"
	"strings"

	"filewise"
)

// PlaceKind is the way in which a volume names a place on the server.
type PlaceKind int

const (
	PlaceOMF     PlaceKind = iota // db_create_file_dest: the server names the file
	PlaceASM                      // a disk group: the server names the file
	PlaceUnix                     // a directory on the server
	PlaceWindows                  // a directory on the server
)

// Place is a volume's place on the server.
type Place struct {
	Kind PlaceKind
	Dir  string
}

var (
	diskGroup   = regexp.MustCompile(`^\+[A-Za-z][A-Za-z0-9_$#]{0,29}$`)
	windowsRoot = regexp.MustCompile(`^([A-Za-z]:[\\/]|\\\\[^\\/]+[\\/][^\\/]+)`)
)

// PlaceOf reads a volume's directory by the rules of the *server's* operating system, and not of the one that Filewise
// runs on. Errors have CodeUsage.
func PlaceOf(v filewise.Volume) (Place, error) {
	dir := v.Dir
	wrong := func(why string) (Place, error) {
		return Place{}, filewise.Errorf(filewise.CodeUsage, "give a directory of the server (/u02/oradata, D:\\oradata), a disk group "+
			"(+DATA), or none for the server's default place",
			"volume %s: %q %s", v.Name, dir, why)
	}
	switch {
	case dir == "":
		return Place{Kind: PlaceOMF}, nil
	case strings.ContainsFunc(dir, control):
		return wrong("holds a control character")
	case strings.HasPrefix(dir, "+"):
		if !diskGroup.MatchString(dir) {
			return wrong("is not a disk group; within one the server names the files")
		}
		return Place{PlaceASM, strings.ToUpper(dir)}, nil
	case strings.ContainsAny(dir, "?@"):
		return wrong("holds ? or @, which Oracle replaces by its home and its SID")
	case windowsRoot.MatchString(dir):
		return Place{PlaceWindows, strings.ReplaceAll(dir, "/", `\`)}, nil
	case strings.HasPrefix(dir, "/"):
		return Place{PlaceUnix, dir}, nil
	}
	return wrong("is no absolute path")
}

// File returns the path of a file in the place, or "" if the server names it.
func (p Place) File(name string) string {
	switch p.Kind {
	case PlaceUnix:
		return strings.TrimRight(p.Dir, "/") + "/" + name
	case PlaceWindows:
		return strings.TrimRight(p.Dir, `\`) + `\` + name
	}
	return ""
}

// Shown returns the text that a plan shows for a file that the server will name.
func (p Place) Shown(tablespace string, i int) string {
	in := p.Dir
	if p.Kind == PlaceOMF {
		in = "db_create_file_dest"
	}
	return fmt.Sprintf("%s: file %d of %s, named by the server", in, i+1, tablespace)
}

// Holds reports whether a path that the server reports lies in the place. Windows paths ignore case. A file in the
// default place can be anywhere.
func (p Place) Holds(path string) bool {
	switch p.Kind {
	case PlaceASM:
		return strings.HasPrefix(strings.ToUpper(path), p.Dir+"/")
	case PlaceUnix:
		return strings.HasPrefix(path, strings.TrimRight(p.Dir, "/")+"/")
	case PlaceWindows:
		return strings.HasPrefix(strings.ToUpper(path), strings.ToUpper(strings.TrimRight(p.Dir, `\`))+`\`)
	}
	return path != ""
}

// Same reports whether a requested path equals one that the server reports.
func (p Place) Same(asked, reported string) bool {
	if p.Kind == PlaceWindows {
		return strings.EqualFold(asked, reported)
	}
	return asked == reported
}

// HomeOf returns the directory of a file, or its disk group.
func HomeOf(path string) string {
	if strings.HasPrefix(path, "+") {
		group, _, _ := strings.Cut(path, "/")
		return group
	}
	return path[:max(strings.LastIndexAny(path, `/\`), 0)]
}

// Clause returns the text after DATAFILE for a file of so many bytes that grows by next, up to most. If next is 0, it
// grows by the server's default. If path is empty, the server names the file.
func (p Place) Clause(path string, bytes, next, most int64) (string, error) {
	var b strings.Builder
	name := path
	if p.Kind == PlaceASM {
		name = p.Dir
	}
	if name != "" {
		quoted, err := Literal(name)
		if err != nil {
			return "", err
		}
		b.WriteString(quoted + " ")
	}
	const kib = 1 << 10
	fmt.Fprintf(&b, "SIZE %dK AUTOEXTEND ON", bytes/kib)
	if next > 0 {
		fmt.Fprintf(&b, " NEXT %dK", next/kib)
	}
	fmt.Fprintf(&b, " MAXSIZE %dK", most/kib)
	return b.String(), nil
}
