package dialect

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"filewise"
)

// Limits of innodb_data_file_path, from the servers' own messages: "There must be < 1000 data files", "the first file …
// must be at least 3M".
const (
	MaxSystemFiles = 999
	MiB            = 1 << 20
	MinFirstFile   = 3 * MiB
	// MaxGrowth is the largest innodb_autoextend_increment.
	MaxGrowth = 1000 * MiB
	// maxSpec is the longest value that is used, in bytes. It fits into one argument of a command (128 KiB on Linux).
	// Option files cut lines at 4096 bytes.
	maxSpec = 120 << 10
)

// DataFile is one file of the system tablespace.
type DataFile struct {
	Path  string
	Bytes int64 // its size, or the initial size if it grows
	Grows bool  // only the last file can grow
}

// FormatDataFiles returns the value of innodb_data_file_path. If the servers could not read it back, the error wraps
// filewise.ErrUnsupported.
func FormatDataFiles(files []DataFile) (string, error) {
	if n := len(files); n < 1 || n > MaxSystemFiles {
		return "", unsupported(fmt.Sprintf("give 1 to %d files, or use --kind partitions", MaxSystemFiles),
			"InnoDB's system tablespace takes 1 to %d files, not %d", MaxSystemFiles, n)
	}
	parts := make([]string, len(files))
	for i, f := range files {
		if strings.ContainsAny(f.Path, ":;\n") {
			return "", unsupported("use a directory without these characters", "InnoDB cannot read the path %q: it holds “:” or “;”", f.Path)
		}
		if f.Bytes%MiB != 0 || f.Bytes < MiB || (f.Grows && i < len(files)-1) {
			return "", unsupported("", "InnoDB's file %d cannot have %d bytes (growing: %v)", i+1, f.Bytes, f.Grows)
		}
		parts[i] = f.Path + ":" + strconv.FormatInt(f.Bytes/MiB, 10) + "M"
		if f.Grows {
			parts[i] += ":autoextend"
		}
	}
	spec := strings.Join(parts, ";")
	if len(spec) > maxSpec {
		return "", unsupported("use fewer files or a directory with a shorter path",
			"the paths of %d files have %d bytes together, more than the %d that a server's command line takes", len(files), len(spec), maxSpec)
	}
	return spec, nil
}

// ParseDataFiles reads innodb_data_file_path in the form that a server shows. Relative paths are taken as relative to
// home.
func ParseDataFiles(spec, home string) ([]DataFile, error) {
	var files []DataFile
	for part := range strings.SplitSeq(spec, ";") {
		fields := strings.Split(part, ":")
		if len(fields) < 2 {
			return nil, fmt.Errorf("innodb_data_file_path: %q has no size", part)
		}
		bytes, err := parseSize(fields[1])
		if err != nil {
			return nil, fmt.Errorf("innodb_data_file_path: %q: %w", part, err)
		}
		path := fields[0]
		if !filepath.IsAbs(path) {
			path = filepath.Join(home, path)
		}
		files = append(files, DataFile{Path: path, Bytes: bytes, Grows: len(fields) > 2 && fields[2] == "autoextend"})
	}
	return files, nil
}

func parseSize(s string) (int64, error) {
	unit := int64(1)
	if s != "" {
		switch s[len(s)-1] {
		case 'K', 'k':
			unit, s = 1<<10, s[:len(s)-1]
		case 'M', 'm':
			unit, s = 1<<20, s[:len(s)-1]
		case 'G', 'g':
			unit, s = 1<<30, s[:len(s)-1]
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > (1<<62)/unit {
		return 0, fmt.Errorf("%q is not a size", s)
	}
	return n * unit, nil
}

// unsupported returns an error about what InnoDB cannot do.
var unsupported = filewise.Unsupported
