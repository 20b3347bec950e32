package run

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A calibration gives a speed, keeps its file at its size, and ends with the run.
func TestCalibrate(t *testing.T) {
	path := filepath.Join(t.TempDir(), calibrationName)
	for range 2 {
		speed, err := calibrate(t.Context(), path)
		if err != nil || !(speed > 0) {
			t.Fatalf("%v writes/s, %v", speed, err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() != calibrationFile*calibrationBytes {
			t.Errorf("the file is %v, %v", info, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := calibrate(ended, path); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the run: %v", err)
	}
	if _, err := calibrate(t.Context(), filepath.Join(path, "no", "directory")); err == nil {
		t.Error("no directory, and no error")
	}
}
