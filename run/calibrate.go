package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// The calibration is synced writes of this size, one after the other over a file
// that is there already, for this long: short beside a trial, long enough for some
// dozens of them on a disk.
const (
	calibrationBytes = 16 << 10
	calibrationFile  = 64 // writes long
	calibrationTime  = 200 * time.Millisecond
	calibrationName  = "calibration"
)

// calibrator is the probe of a plan that is calibrated, on the first of the scratch
// directories; nil for others.
func (env *Environment) calibrator() func(context.Context) (float64, error) {
	if !env.Plan.Calibrate || len(env.Target.Volumes) == 0 {
		return nil
	}
	path := filepath.Join(env.Target.Volumes[0].Dir, calibrationName)
	return func(ctx context.Context) (float64, error) { return calibrate(ctx, path) }
}

// calibrate returns synced writes per second. The file goes with the scratch
// directory.
func calibrate(ctx context.Context, path string) (speed float64, err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return 0, fmt.Errorf("calibration: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	block := make([]byte, calibrationBytes)
	for i := range block { // no zeros, which some storage does not write
		block[i] = byte(i*7 + i>>8)
	}
	if err := allocate(file, block); err != nil {
		return 0, err
	}
	start := time.Now()
	writes := 0
	for ; time.Since(start) < calibrationTime || writes == 0; writes++ {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if err := writeSynced(file, block, writes%calibrationFile); err != nil {
			return 0, err
		}
	}
	return float64(writes) / time.Since(start).Seconds(), nil
}

// allocate writes the whole file once, so that no write of a calibration extends it.
func allocate(file *os.File, block []byte) error {
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("calibration: %w", err)
	}
	if info.Size() >= calibrationFile*calibrationBytes {
		return nil
	}
	for i := range calibrationFile {
		if _, err := file.WriteAt(block, int64(i)*calibrationBytes); err != nil {
			return failedCalibration(err)
		}
	}
	return failedCalibration(file.Sync())
}

func writeSynced(file *os.File, block []byte, i int) error {
	if _, err := file.WriteAt(block, int64(i)*calibrationBytes); err != nil {
		return failedCalibration(err)
	}
	return failedCalibration(file.Sync())
}

// failedCalibration says what failed; a full volume stays one, and ends the run.
func failedCalibration(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("calibration: %w", err)
}
