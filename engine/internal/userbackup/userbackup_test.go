package userbackup

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"filewise"
)

// files is a tool whose backups are a file.
type files struct{ Tool }

func (files) Drop(context.Context) error { return nil }

func (files) Dump(_ context.Context, to string) error {
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, "rows"), nil, 0o600)
}

// Whoever owns the directory above puts a link in the place of Filewise's: nothing is removed
// or written where that leads.
func TestDirectoryIsSwapped(t *testing.T) {
	above, theirs := t.TempDir(), t.TempDir()
	dir := filepath.Join(above, "filewise-a")
	for _, d := range []string{dir, filepath.Join(theirs, "backup")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	db := Database(filewise.Target{Volumes: []filewise.Volume{{Name: "a", Dir: dir}}}, filewise.Layout{}, files{}, nil)
	if made, err := db.Backup.Backup(t.Context()); err != nil || len(made) != 1 {
		t.Fatal(made, err)
	}
	aside := filepath.Join(above, "aside")
	if err := os.Rename(dir, aside); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(theirs, dir); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Backup.Backup(t.Context()); filewise.CodeOf(err) != filewise.CodeTrials {
		t.Errorf("a backup is made through the link: %v", err)
	}
	if err := db.Dropper.Drop(t.Context()); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(theirs); err != nil || len(left) != 1 {
		t.Errorf("where the link leads there are %v, %v", left, err)
	}
	if left, err := os.ReadDir(aside); err != nil || len(left) != 0 {
		t.Errorf("Filewise's directory has %v, %v", left, err)
	}
}
