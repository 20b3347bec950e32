package storage

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"filewise/host/machine"
)

// fresh is the time for which a limit is valid. Storage changes with its firmware, its fill level and its neighbours.
const fresh = 90 * 24 * time.Hour

// Cache stores limits in a file of the user.
type Cache struct{ path string }

// NewCache returns a cache that stores limits in a directory, such as the user's state directory.
func NewCache(dir string) Cache { return Cache{filepath.Join(dir, "storage.json")} }

// read returns the stored limits. A damaged file counts as absent, because limits can be measured again.
func (c Cache) read() ([]Limit, error) {
	text, err := os.ReadFile(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the storage's limits: %w", err)
	}
	var all []Limit
	if damaged := json.Unmarshal(text, &all) != nil; damaged {
		all = nil
	}
	return slices.DeleteFunc(all, func(l Limit) bool { return !l.complete() }), nil
}

// Find returns the known limits of all volumes, for the page size and for at least as many files. It returns false if
// one is missing or too old.
func (c Cache) Find(d Demand, now time.Time) ([]Limit, bool) {
	d = d.withDefaults()
	all, err := c.read()
	if err != nil {
		return nil, false
	}
	var out []Limit
	for _, v := range d.Volumes {
		device, err := machine.DeviceOf(v.Dir)
		if err != nil {
			return nil, false
		}
		i := slices.IndexFunc(all, func(l Limit) bool {
			return l.Place == place(device) && l.Page == d.Page && l.Files >= d.Files && now.Sub(l.Measured) < fresh
		})
		if i < 0 {
			return nil, false
		}
		l := all[i]
		l.Volume, l.Device = v.Name, device.Name
		out = append(out, l)
	}
	return out, len(out) > 0
}

// Add stores limits. They replace older limits of the same directories.
func (c Cache) Add(limits []Limit) error {
	all, err := c.read()
	if err != nil {
		return err
	}
	for _, l := range limits {
		all = slices.DeleteFunc(all, func(o Limit) bool { return o.Place == l.Place && o.Page == l.Page && o.Files <= l.Files })
		all = append(all, l)
	}
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return fmt.Errorf("the storage's limits: %w", err)
	}
	return replace(c.path, text)
}

// replace writes a file as a whole or not at all.
func replace(path string, text []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("the storage's limits: %w", err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("the storage's limits: %w", errors.Join(err, os.Remove(f.Name())))
		}
	}()
	if _, err = f.Write(text); err != nil {
		return errors.Join(err, f.Close())
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
