package sqlite

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"

	"filewise"
)

// checkpointProbe counts how often the files' WALs were checkpointed whole, by file.
type checkpointProbe struct{ d *database }

// Name is the probe's name.
func (checkpointProbe) Name() string { return filewise.ProbeCheckpoints }

// Read returns the mean over the files.
func (p checkpointProbe) Read(context.Context) ([]filewise.Counter, error) {
	restarts, err := p.d.restarts.read(p.d.files)
	if err != nil {
		return nil, err
	}
	return []filewise.Counter{{Name: filewise.CheckpointCycles, Unit: "cycles", Value: float64(restarts) / float64(len(p.d.files))}}, nil
}

// walRestarts counts how often a WAL was checkpointed whole and begun anew: each
// time, the first salt in its header grows by one (fileformat2.html#walformat).
type walRestarts struct {
	mu    sync.Mutex
	salts map[string]uint32
	total int64
}

func (w *walRestarts) read(files []*file) (int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.salts == nil {
		w.salts = map[string]uint32{}
	}
	for _, f := range files {
		salt, ok, err := walSalt(f.path + "-wal")
		if err != nil {
			return 0, err
		}
		if !ok {
			continue
		}
		if last, known := w.salts[f.path]; known {
			w.total += int64(salt - last)
		}
		w.salts[f.path] = salt
	}
	return w.total, nil
}

// walMagic begins a WAL's header; its last bit tells the order of bytes in sums.
const walMagic = 0x377f0682

// walSalt is the first salt of a WAL; ok is false when it has no header yet: it
// is empty, or only zeros that make its room.
func walSalt(path string) (salt uint32, ok bool, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	var head [20]byte
	if _, err := f.ReadAt(head[:], 0); err == io.EOF {
		return 0, false, nil
	} else if err != nil {
		return 0, false, err
	}
	if binary.BigEndian.Uint32(head[:])&^1 != walMagic {
		return 0, false, nil
	}
	return binary.BigEndian.Uint32(head[16:]), true, nil
}
