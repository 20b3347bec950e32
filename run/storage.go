package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"filewise"
	"filewise/host/hostlock"
	"filewise/host/scratch"
	"filewise/lab/probe"
	"filewise/lab/storage"
	"filewise/run/plan"
)

// budgetForStorage is the least ratio of a run's budget to the time of measuring the storage, from which the run
// measures the storage unasked.
const budgetForStorage = 20

// ceilings returns the storage's limits in the form that probes use.
func (env *Environment) ceilings() []probe.Ceiling {
	return filewise.Each(env.limits, storage.Limit.Ceiling)
}

// demand returns the plan's demand on the storage, in the scratch directories.
func (env *Environment) demand() storage.Demand {
	d := storage.Demand{Volumes: env.Target.Volumes, Page: env.Engine.Describe().Page}
	for _, l := range env.Plan.Layouts {
		d.Files = max(d.Files, l.Data.Files, l.Backup.Files)
	}
	return d
}

// knowStorage looks up the known limits of the storage, or measures them if there is enough time. Its error is only the
// context's.
func (env *Environment) knowStorage(ctx context.Context) error {
	if env.Plan.StorageLimit == plan.StorageOff {
		env.noLimit("not asked for (--storage-limit off)")
		return nil
	}
	state, err := scratch.StateDir()
	if err != nil {
		return err
	}
	cache, demand := storage.NewCache(state), env.demand()
	if limits, ok := cache.Find(demand, time.Now()); ok {
		env.setLimits(limits, nil)
		return nil
	}
	if _, why := storage.Program(); why != "" {
		env.noLimit(why)
		return nil
	}
	if b := env.Plan.Budget; b > 0 && b < budgetForStorage*demand.Expected() {
		env.noLimit("not measured yet: filewise doctor --storage does it once, by fio")
		return nil
	}
	return env.measureStorage(ctx, cache, demand)
}

// measureStorage runs fio, and stores its result for later runs.
func (env *Environment) measureStorage(ctx context.Context, cache storage.Cache, demand storage.Demand) error {
	limits, absent, err := storage.Measure(ctx, demand)
	if err != nil {
		return err
	}
	env.setLimits(limits, absent)
	if err := cache.Add(limits); err != nil { // this run still uses the result
		env.facts = append(env.facts, filewise.Fact{Name: "storage limit", Value: "not stored: " + err.Error()})
	}
	return nil
}

// setLimits keeps the limits, and by volume name the reasons for missing ones.
func (env *Environment) setLimits(limits []storage.Limit, absent map[string]string) {
	env.limits = limits
	for _, l := range limits {
		env.storageFact(l.Volume, l.String())
	}
	for volume, why := range absent {
		env.storageFact(volume, "not measured: "+why)
	}
}

func (env *Environment) noLimit(why string) {
	for _, v := range env.Plan.Target.Volumes {
		env.storageFact(v.Name, why)
	}
}

func (env *Environment) storageFact(volume, value string) {
	env.facts = append(env.facts, filewise.Fact{Name: "storage limit of volume " + volume, Value: value})
}

// MeasureStorage measures the storage of a plan's volumes again, in scratch directories, and stores the result.
func (env *Environment) MeasureStorage(ctx context.Context) (_ []filewise.Finding, err error) {
	if env.Target.Mode == filewise.External {
		return nil, filewise.Errorf(filewise.CodeUsage, "leave --target out, and name a --volume of this machine",
			"--storage measures volumes of this machine")
	}
	const label = "the storage's own limit"
	if err := env.lockHost(ctx, hostlock.Holder{What: label}); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, env.Close()) }()
	if err := env.makeScratch(label); err != nil {
		return nil, err
	}
	state, err := scratch.StateDir()
	if err != nil {
		return nil, err
	}
	err = env.measureStorage(ctx, storage.NewCache(state), env.demand())
	var out []filewise.Finding
	for _, fact := range env.facts {
		x := filewise.Finding{Check: fact.Name, Status: filewise.StatusOK, Detail: fact.Value}
		if len(env.limits) == 0 {
			x.Status, x.Remedy = filewise.StatusNote, "install what is missing, or name another --volume"
		}
		out = append(out, x)
	}
	return out, err
}

// A calibration makes synced writes of this size, one after the other over an existing file, for this long. That is
// short compared with a trial, but long enough for some dozens of writes on a disk.
const (
	calibrationBytes = 16 << 10
	calibrationFile  = 64 // length in writes
	calibrationTime  = 200 * time.Millisecond
	calibrationName  = "calibration"
)

// calibrator returns the probe for a plan that is calibrated, on the first scratch directory, or nil for other plans.
func (env *Environment) calibrator() func(context.Context) (float64, error) {
	if !env.Plan.Calibrate || len(env.Target.Volumes) == 0 {
		return nil
	}
	path := filepath.Join(env.Target.Volumes[0].Dir, calibrationName)
	return func(ctx context.Context) (float64, error) { return calibrate(ctx, path) }
}

// calibrate returns the number of synced writes per second. The file is removed with the scratch directory.
func calibrate(ctx context.Context, path string) (speed float64, err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return 0, fmt.Errorf("calibration: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	block := make([]byte, calibrationBytes)
	for i := range block { // not zeros, which some storage does not write
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

// failedCalibration names the step that failed. A full volume keeps its error, and ends the run.
func failedCalibration(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("calibration: %w", err)
}
