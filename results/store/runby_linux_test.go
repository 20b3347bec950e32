package store

import (
	"os"
	"testing"
)

// A store can name any process as a run's: the process that has the run's file open runs it.
func TestRunBy(t *testing.T) {
	s := openNew(t)
	id, err := s.CreateRun(t.Context(), Run{Plan: samplePlan()})
	must(t, err)
	if err := RunBy(s.Path(), id, os.Getpid()); err != nil {
		t.Errorf("its own process: %v", err)
	}
	if err := RunBy(s.Path(), id, os.Getppid()); err == nil {
		t.Error("an innocent process is taken for it")
	}
	must(t, os.Remove(s.ownerFile(id))) // a file system without locks
	if err := RunBy(s.Path(), id, os.Getpid()); err != nil {
		t.Errorf("without the run's file: %v", err)
	}
	if err := RunBy(s.Path(), id, os.Getppid()); err == nil {
		t.Error("an innocent process is taken for it without the run's file")
	}
}
