package scratch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"filewise/internal/filesystem"
	"filewise/internal/process"
)

// formatVersion is the version of the format of entries and markers.
const formatVersion = 1

// maxFile limits the bytes that are read from an entry or a marker.
const maxFile = 64 << 10

// entry is the registry's record of a scratch directory.
type entry struct {
	Format int    `json:"format"`
	ID     string `json:"id"`
	Volume string `json:"volume"` // absolute, and free of symbolic links when the directory was made
	// VolumeBytes is Volume if Volume is not UTF-8, since paths are bytes, and JSON is text.
	VolumeBytes []byte             `json:"volume_bytes,omitempty"`
	Place       filesystem.Place   `json:"place,omitzero"` // of the volume's directory
	Label       string             `json:"label,omitempty"`
	Created     time.Time          `json:"created"`
	Owner       process.Identity   `json:"owner"`
	Processes   []process.Identity `json:"processes,omitempty"`
}

// marker is the content of the marker file in a scratch directory.
type marker struct {
	Format int              `json:"format"`
	ID     string           `json:"id"`
	Owner  process.Identity `json:"owner"`
	// Locked is set if the owner holds a lock on the marker's file as long as it lives.
	Locked bool `json:"locked,omitempty"`
}

const (
	dirPrefix     = "filewise-"
	markerName    = ".filewise-mark"
	newMarkerName = ".filewise-mark.new"
	idLength      = 13 // characters of base32: 65 bits
	idAlphabet    = "abcdefghijklmnopqrstuvwxyz234567"
)

func (e entry) name() string { return dirPrefix + e.ID }
func (e entry) path() string { return filepath.Join(e.Volume, e.name()) }

func validID(id string) bool {
	return len(id) == idLength && strings.Trim(id, idAlphabet) == ""
}

// parseEntry parses an entry registered under id.
func parseEntry(b []byte, id string) (entry, error) {
	var e entry
	if err := decode(b, &e); err != nil {
		return entry{}, err
	}
	if e.VolumeBytes != nil {
		e.Volume = string(e.VolumeBytes)
	}
	switch {
	case e.Format != formatVersion:
		return entry{}, fmt.Errorf("format %d; this Filewise reads format %d", e.Format, formatVersion)
	case !validID(e.ID) || e.ID != id:
		return entry{}, fmt.Errorf("id %q is not the %q of its name", e.ID, id)
	case !filepath.IsAbs(e.Volume) || filepath.Clean(e.Volume) != e.Volume || strings.ContainsRune(e.Volume, 0):
		return entry{}, fmt.Errorf("volume %q is not a clean absolute path", e.Volume)
	case e.Owner.PID <= 0:
		return entry{}, fmt.Errorf("owner: PID %d", e.Owner.PID)
	}
	for _, p := range e.Processes {
		if p.PID <= 1 {
			return entry{}, fmt.Errorf("process: PID %d", p.PID)
		}
	}
	return e, nil
}

// parseMarker parses the marker in the directory of e.
func parseMarker(b []byte, e entry) (marker, error) {
	var m marker
	if err := decode(b, &m); err != nil {
		return marker{}, err
	}
	if m.Format != formatVersion || m.ID != e.ID {
		return marker{}, fmt.Errorf("it is the marker of %q", m.ID)
	}
	return m, nil
}

func decode(b []byte, v any) error {
	if len(b) > maxFile {
		return fmt.Errorf("longer than %d bytes", maxFile)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if err := d.Decode(v); err != nil {
		return err
	}
	if d.More() {
		return errors.New("more than one JSON value")
	}
	return nil
}
