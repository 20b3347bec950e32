package userbackup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"filewise"
)

// files is a tool whose backups are a file, which a program writes.
type files struct {
	Tool
	before func() // it writes
}

func (files) Drop(context.Context) error { return nil }

func (f *files) Dump(ctx context.Context, to string) error {
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	if f.before != nil {
		f.before()
	}
	return Run(ctx, filewise.Target{Address: &filewise.Address{}}, filepath.Dir(to), nil, []string{"/bin/touch", filepath.Join(to, "rows")})
}

// The owner of the directory above puts a link in the place of Filewise's: nothing is removed
// or written at its target.
func TestDirectoryIsSwapped(t *testing.T) {
	above, theirs := t.TempDir(), t.TempDir()
	dir := filepath.Join(above, "filewise-a")
	for _, d := range []string{dir, filepath.Join(theirs, "backup")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	made := &files{}
	db := Database(filewise.Target{Volumes: []filewise.Volume{{Name: "a", Dir: dir}}}, filewise.Layout{}, made, nil)
	aside := filepath.Join(above, "aside")
	made.before = func() {
		if err := errors.Join(os.Rename(dir, aside), os.Symlink(theirs, dir)); err != nil {
			t.Fatal(err)
		}
	}
	files, err := db.Backup.Backup(t.Context())
	if err != nil || len(files) != 1 || files[0].Path != filepath.Join(dir, "backup", "rows") {
		t.Errorf("a backup while the directory is swapped: %v, %v", files, err)
	}
	if _, err := db.Backup.Backup(t.Context()); filewise.CodeOf(err) != filewise.CodeTrials {
		t.Errorf("a backup is made through the link: %v", err)
	}
	if err := db.Drop(t.Context()); err != nil {
		t.Error(err)
	}
	for place, want := range map[string]string{theirs: "[d backup/]", filepath.Join(theirs, "backup"): "[]", aside: "[- touch.log]"} {
		if left, err := os.ReadDir(place); err != nil || fmt.Sprint(left) != want {
			t.Errorf("in %s there is %v, %v, want %s", place, left, err, want)
		}
	}
}
