package store

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"time"

	"filewise"
	"filewise/lab/experiment"
)

// A bundle is a file with one run, for use on another machine. It is a tar archive, compressed by gzip, with a manifest
// and the run as ExportJSON writes it. EXPORT.md describes it.
const (
	BundleFormat = "filewise-bundle"
	BundleSchema = 1

	manifestName = "manifest.json"
	runName      = "run.json"
)

// Manifest describes a bundle. It is the bundle's first file.
type Manifest struct {
	Format   string    `json:"format"`
	Schema   int       `json:"schema"`
	Store    int       `json:"store"`   // schema version of the store that the run comes from
	Version  string    `json:"version"` // of the Filewise that wrote it
	Exported time.Time `json:"exported"`
	Host     string    `json:"host,omitempty"` // Host is the measuring host's name, and User the measuring user's
	User     string    `json:"user,omitempty"`
	Size     int64     `json:"size"`   // of the run, in bytes
	SHA256   string    `json:"sha256"` // of the run
}

// ExportBundle writes a run and its trials as a bundle. by must hold Version and Exported, and, if the run was measured
// here, Host and User. A run that no Filewise would import is refused with CodeUsage.
func ExportBundle(w io.Writer, run Run, trials []filewise.Trial, by Manifest) error {
	if o := run.Origin; o != nil {
		by.Host, by.User = o.Host, o.User
	}
	var data bytes.Buffer
	if err := ExportJSON(&data, run, trials); err != nil {
		return err
	}
	if _, err := checkJSONSize(data.Bytes(), ofRun); err != nil || data.Len() > maxRun {
		return filewise.Errorf(filewise.CodeUsage, "export it as JSON or Parquet, or copy the whole store",
			"run %d is too large for a bundle: %d bytes, and import takes at most %d, which may fill %d of memory",
			run.ID, data.Len(), int64(maxRun), ofRun.Memory)
	}
	sum := sha256.Sum256(data.Bytes())
	by.Format, by.Schema, by.Store, by.Exported = BundleFormat, BundleSchema, schemaVersion, by.Exported.UTC()
	by.Size, by.SHA256 = int64(data.Len()), hex.EncodeToString(sum[:])
	manifest, err := json.MarshalIndent(by, "", " ")
	if err != nil {
		return err
	}
	zipped := gzip.NewWriter(w)
	archive := tar.NewWriter(zipped)
	for _, f := range []struct {
		name string
		data []byte
	}{{manifestName, manifest}, {runName, data.Bytes()}} {
		header := &tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.data)), ModTime: by.Exported.Truncate(time.Second),
			Typeflag: tar.TypeReg}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(f.data); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), zipped.Close())
}

// The most bytes that a bundle may hold. A day of the finest slices takes a tenth of this.
const (
	maxManifest = 64 << 10
	maxRun      = 256 << 20
)

// ofRun holds the limits of a run's JSON, in bundles and in columns of a store. They are ten times what some hundred
// thousand counters need.
var ofRun = limits{Depth: 32, Memory: 512 << 20, String: 16 << 20}

// notOurs returns the error for a file that is not a complete bundle.
func notOurs(format string, args ...any) error {
	return filewise.Errorf(filewise.CodeUsage, "export it again on the machine that has it, by filewise export RUN --bundle FILE",
		"the bundle cannot be read: "+format, args...)
}

// ReadBundle reads a bundle. It writes nothing, and keeps no more than a run can have. A bundle that is damaged, cut
// short, from another program or from a newer Filewise is refused with CodeUsage.
func ReadBundle(r io.Reader) (m Manifest, run Run, trials []filewise.Trial, err error) {
	zipped, err := gzip.NewReader(r)
	if err != nil {
		return m, run, nil, notOurs("it is not a bundle: %w", cause(err))
	}
	// A deflate stream grows at most by a factor of 1032, so this limit bounds the archive too.
	archive := tar.NewReader(io.LimitReader(zipped, maxRun+maxManifest+10*512))
	text, err := entry(archive, manifestName, maxManifest)
	if err != nil {
		return m, run, nil, err
	}
	if m, err = parseManifest(text); err != nil {
		return m, run, nil, err
	}
	text, err = entry(archive, runName, m.Size)
	if err != nil {
		return m, run, nil, err
	}
	if _, err := archive.Next(); err != io.EOF {
		return m, run, nil, notOurs("something stands behind the run")
	}
	// gzip's own check sum and length stand at its end.
	if n, err := io.Copy(io.Discard, io.LimitReader(zipped, 1<<20)); err != nil || n == 1<<20 {
		return m, run, nil, notOurs("its end is damaged: %w", cause(err))
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != m.SHA256 {
		return m, run, nil, notOurs("it is damaged: the run does not match its check sum")
	}
	run, trials, err = ParseRun(text, m)
	return m, run, trials, err
}

// cause returns the error, or "it is cut short" for an end of the file.
func cause(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it is cut short")
	}
	return err
}

// entry reads the archive's next file, which must have this name.
func entry(archive *tar.Reader, name string, most int64) ([]byte, error) {
	header, err := archive.Next()
	switch {
	case err != nil:
		return nil, notOurs("%s is missing: %w", name, cause(err))
	case header.Name != name || header.Typeflag != tar.TypeReg:
		return nil, notOurs("another program wrote it: it holds %q, not %s", cut(header.Name), name)
	case header.Size > most:
		return nil, notOurs("%s is too large: %d bytes", name, header.Size)
	}
	text, err := io.ReadAll(newReader(archive, ofRun))
	if err != nil {
		return nil, notOurs("%s: %w", name, cause(err))
	}
	return text, nil
}

func cut(s string) string {
	const most = 60
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

func parseManifest(text []byte) (m Manifest, err error) {
	newer := func(what string, have, know int) error {
		by := "a newer Filewise"
		if m.Version != "" {
			by = "Filewise " + cut(m.Version)
		}
		return filewise.Errorf(filewise.CodeUsage, "import it with "+by,
			"%s wrote the bundle: its %s has version %d, and this Filewise reads versions up to %d", by, what, have, know)
	}
	switch err = json.Unmarshal(text, &m); {
	case err != nil:
		return m, notOurs("its manifest: %w", err)
	case m.Format != BundleFormat:
		return m, notOurs("another program wrote it: its format is %q", cut(m.Format))
	case m.Schema > BundleSchema:
		return m, newer("format", m.Schema, BundleSchema)
	case m.Store > schemaVersion:
		return m, newer("run", m.Store, schemaVersion)
	case m.Schema < 1 || m.Store < 1 || m.Exported.IsZero() || m.Size <= 0 || m.Size > maxRun:
		return m, notOurs("its manifest is none")
	}
	return m, nil
}

// ParseRun reads the output of ExportJSON. It refuses unknown fields: they come from a newer Filewise, and dropping one
// might change the verdict.
func ParseRun(text []byte, m Manifest) (run Run, trials []filewise.Trial, err error) {
	var e exported
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&e); err != nil {
		if strings.Contains(err.Error(), "unknown field") {
			return run, nil, filewise.Errorf(filewise.CodeUsage, "import it with Filewise "+cut(m.Version),
				"Filewise %s wrote the bundle, and this one cannot read all of it: %w", cut(m.Version), err)
		}
		return run, nil, notOurs("its run: %w", err)
	}
	if decoder.More() || e.Format != ExportFormat || e.Schema < 1 || e.Schema > ExportSchema {
		return run, nil, notOurs("its run is none")
	}
	for _, t := range e.Trials {
		trials = append(trials, importTrial(t))
	}
	if err := plausible(e.Run, trials); err != nil {
		return run, nil, notOurs("its run makes no sense: %w", err)
	}
	return e.Run, trials, nil
}

// earliest is the year of a clock that was never set. Machines without a battery for the clock also measure.
const earliest = 1970

// plausible reports anything that cannot come from a run of Filewise, before other code relies on it.
func plausible(run Run, trials []filewise.Trial) error {
	layouts := map[string]bool{}
	for _, l := range run.Plan.Layouts {
		layouts[l.Name] = true
	}
	switch {
	case run.Started.IsZero() || run.Started.Year() < earliest || run.Started.Year() > 9999:
		return errors.New("it has no start")
	case run.Ended != nil && (run.Ended.Year() < earliest || run.Ended.Year() > 9999):
		return errors.New("it has no end")
	case run.State != Running && run.State != Done && run.State != Interrupted && run.State != Failed:
		return fmt.Errorf("its state is %q", cut(string(run.State)))
	case len(layouts) == 0 || len(layouts) != len(run.Plan.Layouts) || !layouts[run.Plan.Baseline]:
		return errors.New("its layouts or the baseline are none")
	}
	if err := cmp.Or(bounded(run.Plan), inBounds(reflect.ValueOf(run), ""), inBounds(reflect.ValueOf(trials), "trials")); err != nil {
		return err
	}
	seen := map[filewise.Cell]bool{}
	for _, t := range trials {
		c := t.Cell
		if !c.Pilot { // each layout and attempt appears once in a block
			c.Position = 0
		}
		switch {
		case t.State != filewise.Done && t.State != filewise.Failed:
			return fmt.Errorf("the state of a trial is %q", cut(string(t.State)))
		case !layouts[c.Layout] || c.Block < 0 || t.Cell.Position < 0 || c.Attempt < 1 || max(c.Block, t.Cell.Position, c.Attempt) > mostOf:
			return fmt.Errorf("a trial of %q is not one of the plan", cut(c.Layout))
		case seen[c]:
			return fmt.Errorf("the %s is there twice", cellName(t.Cell))
		case t.Started.Year() < earliest || t.Started.Year() > 9999 || t.Elapsed < 0:
			return fmt.Errorf("the %s has no time", cellName(t.Cell))
		}
		seen[c] = true
		for _, m := range t.Measures {
			if err := cmp.Or(checkHists(m), checkFigures(m)); err != nil {
				return fmt.Errorf("the %s: %w", cellName(t.Cell), err)
			}
		}
	}
	return nil
}

// checkHists refuses histograms that need more memory than any that Filewise writes.
func checkHists(m filewise.Measure) error {
	err := checkHistogramSize(m.Hist)
	for _, t := range m.Types {
		err = errors.Join(err, checkHistogramSize(t.Hist))
	}
	return err
}

// checkFigures refuses values that no counter can have, since their sums would be infinite.
func checkFigures(m filewise.Measure) error {
	figures := append([]float64{m.Work, m.Bytes}, m.Turns...)
	for _, t := range m.Types {
		figures = append(figures, t.Work)
	}
	for _, x := range figures {
		if x < 0 || x > mostSum {
			return fmt.Errorf("its work is %g", x)
		}
	}
	for _, d := range m.Deltas {
		if math.Abs(d.Value) > mostSum {
			return fmt.Errorf("its %s is %g", cut(d.Name), d.Value)
		}
	}
	return nil
}

// mostOf is the most items of any kind in a plan. Filewise's own plans have fewer.
const mostOf = 10_000

// mostFiles is above the limit of every engine: SQL Server takes 32,767.
const mostFiles = 1 << 16

// bounded refuses counts so large that loops over them would not end.
func bounded(p experiment.Plan) error {
	counts := map[string]int{"max_blocks": p.MaxBlocks, "attempts": p.Attempts, "cells": p.Rounds, "instances": p.Builds,
		"layouts": len(p.Layouts), "phases": len(p.Phases)}
	if p.AsPublished != nil {
		counts["repeats"], counts["drop"] = p.AsPublished.Repeats, p.AsPublished.Drop
	}
	for name, n := range counts {
		if n < 0 || n > mostOf {
			return fmt.Errorf("%s is %d", name, n)
		}
	}
	for _, l := range p.Layouts {
		for _, s := range []filewise.Spread{l.Data, l.Temp, l.Backup} {
			if s.Files < 0 || s.Files > mostFiles {
				return fmt.Errorf("files of %s is %d", cut(l.Name), s.Files)
			}
		}
	}
	return nil
}
