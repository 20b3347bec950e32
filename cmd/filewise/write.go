package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"filewise"
)

// write renders to --output: a file, or standard output.
func (a *app) write(output string, render func(io.Writer) error) error {
	if output == "" || output == "-" {
		return render(a.stdout)
	}
	if err := writeFile(output, render); err != nil {
		var named *fs.PathError // names the part file
		if errors.As(err, &named) {
			err = named.Err
		}
		return filewise.Errorf(filewise.CodeUsage, "name a file in a writable directory with --output", "write %s: %w", output, err)
	}
	_, err := fmt.Fprintf(a.stderr, "wrote %s\n", output)
	return err
}

// writeFile writes beside the file and renames, so that the file is the old one
// or the whole new one. What is not a regular file, such as /dev/null or a pipe,
// is written to, never replaced.
func writeFile(path string, render func(io.Writer) error) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(render(f), f.Close())
	}
	part := fmt.Sprintf("%s.%d.part", path, os.Getpid())
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	err = errors.Join(render(f), f.Close())
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return nil
}
